/** The Record as the browser keeps it: columns and findings, plain data. Words and numbers as in proto/shapes/v1. */

export type Ints = Int32Array | Float64Array;

/** Row i is `values.subarray(offsets[i], offsets[i + 1])`. */
export interface Ragged {
  readonly offsets: Int32Array;
  readonly values: Int32Array;
}

export interface ModuleColumns {
  readonly path: Int32Array; // strings
  readonly type: Int32Array; // strings
  readonly config: Int32Array; // strings
  readonly parent: Int32Array; // modules, -1 for the root
  readonly params: Float64Array; // of the whole subtree; -1 unknown
  readonly trainableParams: Float64Array;
  readonly paramBytes: Float64Array;
  readonly bufferBytes: Float64Array;
  readonly localParams: Float64Array; // those that lie on this rank; -1 where nothing of the model is sharded
  readonly localParamBytes: Float64Array;
  readonly sharedWith: Ragged; // strings
  readonly flags: Int32Array;
}

export interface CallColumns {
  readonly module: Int32Array;
  readonly number: Int32Array; // from 1, per module
  readonly parent: Int32Array; // calls, -1 for a root
  readonly firstOp: Int32Array;
  readonly endOp: Int32Array;
  readonly inputs: Ragged; // tensors
  readonly outputs: Ragged; // tensors
  readonly outcome: Int32Array; // OUTCOMES
  readonly savedBytes: Float64Array; // that autograd keeps for its ops and those of the calls inside; -1 unknown
  readonly backwardFlops: Float64Array; // of the way back through it and the calls inside; -1 unknown
}

export interface TensorColumns {
  readonly shape: Int32Array; // shapes
  readonly dtype: Int32Array; // strings
  readonly device: Int32Array; // strings
  readonly storage: Int32Array;
  readonly producer: Int32Array; // ops, -1 for what was there before
  readonly kind: Int32Array; // TENSOR_KINDS
  readonly name: Int32Array; // strings
  readonly flags: Int32Array;
}

export interface OpColumns {
  readonly name: Int32Array; // strings
  readonly call: Int32Array; // calls, -1 outside any
  readonly source: Int32Array; // sources, -1 unknown
  readonly inputs: Ragged; // tensors
  readonly outputs: Ragged; // tensors
  readonly arguments: Int32Array; // argument lists
  readonly children: Int32Array; // child lists
  readonly flags: Int32Array;
  readonly flops: Float64Array; // one multiply-add is two; -1 unknown
}

export interface SourceColumns {
  readonly file: Int32Array; // strings
  readonly line: Int32Array;
  readonly endLine: Int32Array;
  readonly column: Int32Array;
  readonly endColumn: Int32Array;
  readonly code: Int32Array; // strings
  readonly function: Int32Array; // strings
  readonly text: Int32Array; // strings
  readonly textLine: Int32Array;
  readonly caller: Int32Array; // sources, -1 at the bottom
}

/** Contents of tensors that decided what ran. */
export interface ValueColumns {
  readonly tensor: Int32Array; // tensors
  readonly op: Int32Array; // ops whose result depends on them, -1 where Python read them
  readonly source: Int32Array; // sources, -1 unknown
  readonly origin: Int32Array; // VALUE_ORIGINS
  readonly literal: Int32Array; // strings, of a single number
}

/** Code of a forward that never ran: the head that leads to it, and the last line that it reaches. */
export interface Branch {
  readonly file: string;
  readonly line: number;
  readonly endLine: number;
  readonly code: string;
  readonly function: string;
  readonly modules: Int32Array; // modules that ran the function around it
}

/** One named input, and what it ran of a graph that unites several. */
export interface Case {
  readonly name: string;
  readonly completed: boolean;
  readonly error: string;
  readonly execution: string; // "fake" | "real"
  readonly ops: Int32Array; // what it ran, ascending
  readonly calls: Int32Array;
  readonly values: Int32Array; // of the contents that decided what ran
  readonly shapes: ReadonlyMap<number, number>; // tensors of another shape in this case: tensors → shapes
  readonly inputs: readonly Endpoint[];
  readonly outputs: readonly Endpoint[];
}

export interface Endpoint {
  readonly name: string;
  readonly tensor: number; // -1 where it is no tensor
  readonly literal: string;
}

/** null where nobody knows. */
export interface Totals {
  readonly params: number | null;
  readonly trainableParams: number | null;
  readonly paramBytes: number | null;
  readonly bufferBytes: number | null;
  readonly inputBytes: number | null;
  readonly outputBytes: number | null;
  readonly savedBytes: number | null; // what autograd keeps for a backward, parameters left out
  readonly gradientBytes: number | null;
  readonly optimizerBytes: number | null;
  readonly peakForwardBytes: number | null;
  readonly peakFirstBytes: number | null; // of the iteration that makes the optimizer's state
  readonly peakBytes: number | null; // of a steady one; without training steps all three are the forward's
  readonly packedParams: number | null; // elements of quantised weights, which are no parameters
  readonly packedBytes: number | null;
  readonly flops: number | null; // of the forward
  readonly flopsComplete: boolean | null; // false: some op has no formula, so that it is at least that many
  readonly backwardFlops: number | null; // of the backward
  readonly localParams: number | null; // that lie on this rank; null where nothing is sharded
  readonly localParamBytes: number | null;
}

export const TERMS = ['parameters', 'buffers', 'inputs', 'activations', 'gradients', 'optimizer', 'temporaries'] as const;
export const PHASES = ['forward', 'loss', 'backward', 'step'] as const;
export type Term = (typeof TERMS)[number];
export type Phase = (typeof PHASES)[number];

/** Aten ops of one iteration, in order. */
export interface MemoryOpColumns {
  readonly name: Int32Array; // strings
  readonly call: Int32Array; // calls, -1 outside any; backward and step: of the call gone back through, of the module whose parameter is stepped
}

/** Storages, in the order in which they come up. */
export interface AllocationColumns {
  readonly bytes: Float64Array;
  readonly term: Int32Array; // TERMS
  readonly born: Int32Array; // memory ops, -1 for what was there before the iteration
  readonly life: Int32Array; // after how many ops, counted from the one that made it or from the first, it is gone
  readonly owner: Int32Array; // modules, of what belongs to a parameter or buffer, else -1
  readonly name: Int32Array; // strings, of a parameter, buffer or input, of a gradient's parameter, of optimizer state
  readonly keptBy: Int32Array; // the memory op that autograd keeps it for, -1 for none
  readonly shape: Int32Array; // shapes
  readonly dtype: Int32Array; // strings
  readonly scale: Int32Array; // WhatIf.scales
}

export interface PhaseEnd {
  readonly phase: Phase;
  readonly end: number; // the memory op that it ends before
}

/** What is alive over one iteration: the steady one of a training step, else the forward. Bytes of tensors alone. */
export interface Memory {
  readonly ops: MemoryOpColumns;
  readonly phases: readonly PhaseEnd[];
  readonly allocations: AllocationColumns;
  readonly savedInputBytes: number; // of what autograd keeps, those that are the model's inputs
  readonly savedBufferBytes: number; // and those that are its buffers
  readonly unknown: ReadonlyMap<string, string>; // the name of a total, and why nobody knows it
  readonly estimated: ReadonlyMap<string, string>; // the name of a total, and what it lacks
}

/** A size of the inputs that may be another one: the answers hold for least, least + step and so on. */
export interface Size {
  readonly name: string; // "batch" | "sequence" | "side"
  readonly logged: number;
  readonly least: number;
  readonly step: number;
  readonly axes: readonly string[]; // "x[0]": the axes of the inputs that have it
}

/** Bytes over logged bytes: the product, over all sizes, of a polynomial of that size; its coefficients are those of 1, x, x² … */
export type Scale = readonly (readonly number[])[];

/** Another way to train the same model, and what is alive then at the logged sizes. */
export interface Variant {
  readonly kind: string; // "dtype" | "optimizer" | "checkpointing"
  readonly name: string;
  readonly memory: Memory;
}

/** How memory changes with the sizes of the inputs and with other ways to train; the sizes apply to each of those ways. */
export interface WhatIf {
  readonly sizes: readonly Size[];
  readonly scales: readonly Scale[]; // scales[0] is 1 whatever the sizes
  readonly variants: readonly Variant[];
  readonly unknown: ReadonlyMap<string, string>; // a size or variant that can't be told, and why
}

export interface Place {
  readonly module: string;
  readonly call: number;
  readonly op: string;
  readonly file: string;
  readonly line: number;
  readonly code: string;
  readonly opIndex: number; // ops, -1 unknown
}

export interface Origin {
  readonly module: string;
  readonly op: string;
  readonly file: string;
  readonly line: number;
  readonly code: string;
  readonly opIndex: number; // ops, -1 where an input or parameter brought the number along
  readonly tensor: number; // tensors, -1 unknown
  readonly shape: readonly number[];
}

export interface Mark {
  readonly tensor: number;
  readonly dim: number;
}

export interface Fix {
  readonly text: string;
  readonly verified: boolean;
  readonly cost: string;
}

export type Severity = 'error' | 'warning' | 'note';

export interface Finding {
  readonly kind: string;
  readonly severity: Severity;
  readonly message: string;
  readonly module: string;
  readonly moduleType: string;
  readonly call: number;
  readonly op: string;
  readonly file: string;
  readonly line: number;
  readonly code: string;
  readonly got: ReadonlyMap<string, number>;
  readonly want: ReadonlyMap<string, number>;
  readonly types: string;
  readonly origin: Origin | null;
  readonly why: string;
  readonly torchMessage: string;
  readonly places: readonly Place[];
  readonly marks: readonly Mark[];
  readonly readings: readonly string[];
  readonly fixes: readonly Fix[];
  readonly causedBy: number; // findings, -1 for a cause of its own
  readonly opIndex: number; // ops, -1 unknown
  readonly cases: readonly string[]; // names of the cases that have it; none for a single run
}

export interface Record {
  readonly name: string;
  readonly completed: boolean;
  readonly error: string;
  readonly execution: string; // "fake" | "real"
  readonly unchecked: readonly string[];
  readonly versions: ReadonlyMap<string, string>;
  readonly strings: readonly string[];
  readonly shapes: readonly (readonly number[])[];
  readonly argumentLists: Ragged; // name, literal, name, literal … (strings)
  readonly childLists: Ragged; // name (strings), number of outputs, then shape, dtype of each …
  readonly modules: ModuleColumns;
  readonly calls: CallColumns;
  readonly tensors: TensorColumns;
  readonly ops: OpColumns;
  readonly sources: SourceColumns;
  readonly values: ValueColumns;
  readonly inputs: readonly Endpoint[];
  readonly outputs: readonly Endpoint[];
  readonly totals: Totals;
  readonly memory: Memory | null; // null: nobody asked, or the run didn't complete
  readonly whatIf: WhatIf | null; // null: nobody asked
  readonly findings: readonly Finding[];
  readonly branches: readonly Branch[] | null; // that never ran; null: nobody asked
  readonly cases: readonly Case[]; // of a union of several inputs; none for a single run
  readonly picked?: number; // cases: the one that these tables tell alone, as case_view.ts makes them; absent: all of them
}

export const TENSOR_KINDS = ['activation', 'parameter', 'buffer', 'input', 'constant'] as const;
export const OUTCOMES = ['ok', 'failed', 'assumed'] as const;
export const VALUE_ORIGINS = ['read', 'assumed', 'random'] as const;
export const TENSOR_REQUIRES_GRAD = 1;
export const TENSOR_ASSUMED = 2;
export const OP_FAILED = 1;
export const OP_ASSUMED = 2;
export const MODULE_LAZY = 1;

/** Row `i` of a ragged column. */
export function row(column: Ragged, i: number): Int32Array {
  return column.values.subarray(column.offsets[i] ?? 0, column.offsets[i + 1] ?? 0);
}
