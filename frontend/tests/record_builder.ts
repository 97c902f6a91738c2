/** Builds small Records for tests as a model would run: modules are called, ops take tensors and give tensors. */

import { OP_ASSUMED, OP_FAILED, TENSOR_ASSUMED, TENSOR_KINDS, VALUE_ORIGINS } from '../src/model/record';
import type { Branch, Case, Endpoint, Finding, Memory, Ragged, Record, Severity, Totals } from '../src/model/record';
import { Interned, ints } from './interned';
import { builtMemory, type MemoryRows, type WhatIfRows } from './memory_rows';

type Kind = (typeof TENSOR_KINDS)[number];

interface ModuleRow {
  readonly path: string;
  readonly type: string;
  readonly config: string;
  readonly parent: number;
}
interface CallRow {
  readonly module: number;
  readonly number: number;
  readonly parent: number;
  readonly firstOp: number;
  endOp: number;
  inputs: readonly number[];
  outputs: readonly number[];
  outcome: number;
}
interface TensorRow {
  readonly shape: readonly number[];
  readonly dtype: string;
  readonly producer: number;
  readonly kind: Kind;
  readonly name: string;
  readonly flags: number;
  readonly storage: number;
}
interface OpRow {
  readonly name: string;
  readonly call: number;
  readonly inputs: readonly number[];
  readonly outputs: readonly number[];
  readonly arguments: readonly (readonly [string, string])[];
  readonly flags: number;
  readonly line: number;
}

export interface OpOptions {
  readonly dtype?: string;
  readonly args?: readonly (readonly [string, string])[];
  readonly failed?: boolean;
  readonly line?: number;
  readonly viewOf?: number; // a tensor whose storage the outputs share
}

interface CaseRow {
  readonly name: string;
  completed: boolean;
  readonly ops: number[];
  readonly calls: number[];
  readonly values: number[];
  readonly shapes: Map<number, readonly number[]>;
  readonly inputs: Endpoint[];
  readonly outputs: Endpoint[];
}
interface ValueRow {
  readonly tensor: number;
  readonly op: number; // -1 where Python read them
  readonly source: number; // of the op in whose statement it was read
  readonly origin: (typeof VALUE_ORIGINS)[number];
  readonly literal: string;
}

const NO_TOTALS: Totals = {
  params: null,
  trainableParams: null,
  paramBytes: null,
  bufferBytes: null,
  inputBytes: null,
  outputBytes: null,
  savedBytes: null,
  gradientBytes: null,
  optimizerBytes: null,
  peakForwardBytes: null,
  peakFirstBytes: null,
  peakBytes: null,
  packedParams: null,
  packedBytes: null,
  flops: null,
  flopsComplete: null,
  backwardFlops: null,
  localParams: null,
  localParamBytes: null,
};

const NO_FINDING: Finding = {
  kind: 'linear_in_features',
  severity: 'error',
  message: '',
  module: '',
  moduleType: '',
  call: 1,
  op: '',
  file: '',
  line: 0,
  code: '',
  got: new Map(),
  want: new Map(),
  types: '',
  origin: null,
  why: '',
  torchMessage: '',
  places: [],
  marks: [],
  readings: [],
  fixes: [],
  causedBy: -1,
  opIndex: -1,
  cases: [],
};

function ragged(rows: readonly (readonly number[])[]): Ragged {
  const offsets = new Int32Array(rows.length + 1);
  rows.forEach((values, i) => (offsets[i + 1] = (offsets[i] ?? 0) + values.length));
  return { offsets, values: Int32Array.from(rows.flat()) };
}

/** `new RecordBuilder('Net')` has the root module and its call open; `build()` closes it. */
export class RecordBuilder {
  private readonly modules: ModuleRow[] = [];
  private readonly moduleByPath = new Map<string, number>();
  private readonly calls: CallRow[] = [];
  private readonly tensors: TensorRow[] = [];
  private readonly ops: OpRow[] = [];
  private readonly inputs: Endpoint[] = [];
  private readonly outputs: Endpoint[] = [];
  private readonly findings: Finding[] = [];
  private readonly stack: number[] = [];
  private readonly valueByName = new Map<string, number>();
  private readonly callsOf = new Map<number, number>();
  private assuming = false;
  private readonly cases: readonly CaseRow[];
  private running: readonly CaseRow[] = [];
  private readonly values: ValueRow[] = [];
  private branches: Branch[] | null = null;
  private memoryRows: MemoryRows | null = null;
  private whatIfRows: WhatIfRows | null = null;
  private totals: Totals = NO_TOTALS;

  constructor(
    private readonly name: string,
    private readonly file = 'net.py',
    cases: readonly string[] = [],
  ) {
    this.cases = cases.map((named) => ({
      name: named,
      completed: true,
      ops: [],
      calls: [],
      values: [],
      shapes: new Map(),
      inputs: [],
      outputs: [],
    }));
    this.running = this.cases;
    this.module('', name);
    this.stack.push(this.openCall(0));
  }

  /** Registers a module; its parents must have been registered before. */
  module(path: string, type: string, config = ''): void {
    const parent = path === '' ? -1 : (this.moduleByPath.get(path.slice(0, Math.max(0, path.lastIndexOf('.')))) ?? 0);
    this.moduleByPath.set(path, this.modules.push({ path, type, config, parent }) - 1);
  }

  input(name: string, shape: readonly number[], dtype = 'float32'): number {
    const tensor = this.tensor(shape, dtype, -1, 'input', name);
    this.inputs.push({ name, tensor, literal: '' });
    for (const one of this.running) one.inputs.push({ name, tensor, literal: '' });
    return tensor;
  }

  /** A parameter, buffer or constant by its dotted name; the same one for the same name. */
  value(name: string, shape: readonly number[], kind: Kind = 'parameter'): number {
    const tensor = this.valueByName.get(name) ?? this.tensor(shape, 'float32', -1, kind, name);
    this.valueByName.set(name, tensor);
    return tensor;
  }

  /** An op with one output of that shape; gives the output. */
  op(name: string, inputs: readonly number[], shape: readonly number[], options: OpOptions = {}): number {
    return this.opOf(name, inputs, [shape], options)[0] ?? -1;
  }

  /** An op with several outputs. After a failed one everything is assumed. */
  opOf(name: string, inputs: readonly number[], shapes: readonly (readonly number[])[], options: OpOptions = {}): number[] {
    const index = this.ops.length;
    for (const one of this.running) one.ops.push(index);
    const flags = (options.failed ? OP_FAILED : 0) | (this.assuming ? OP_ASSUMED : 0);
    if (options.failed) this.assuming = true;
    const dtype = options.dtype ?? this.tensors[inputs[0] ?? -1]?.dtype ?? 'float32';
    const outputs = shapes.map((shape) => this.tensor(shape, dtype, index, 'activation', '', options.viewOf));
    const call = this.stack.at(-1) ?? -1;
    this.ops.push({ name, call, inputs, outputs, arguments: options.args ?? [], flags, line: options.line ?? index + 1 });
    return outputs;
  }

  /** Calls a registered module; what runs inside is what `body` does. */
  call(path: string, inputs: readonly number[], body: (...inputs: number[]) => number): number {
    const failedBefore = this.assuming;
    const call = this.openCall(this.moduleByPath.get(path) ?? 0);
    this.stack.push(call);
    const output = body(...inputs);
    this.stack.pop();
    const outcome = failedBefore ? 2 : this.assuming ? 1 : 0;
    Object.assign(this.calls[call] ?? {}, { endOp: this.ops.length, inputs, outputs: [output], outcome });
    return output;
  }

  output(tensor: number, name = 'output'): void {
    this.outputs.push({ name, tensor, literal: '' });
    for (const one of this.running) one.outputs.push({ name, tensor, literal: '' });
  }

  /** What `body` does, these cases alone do. */
  only<T>(names: readonly string[], body: () => T): T {
    const before = this.running;
    this.running = this.cases.filter(({ name }) => names.includes(name));
    const result = body();
    this.running = before;
    return result;
  }

  /** A tensor's shape in a case where it isn't that of its row. */
  shapeIn(name: string, tensor: number, shape: readonly number[]): void {
    this.caseOf(name).shapes.set(tensor, shape);
  }

  fails(name: string): void {
    this.caseOf(name).completed = false;
  }

  /** Contents of a tensor that decided what ran, read in the statement of the last op. */
  reads(tensor: number, origin: ValueRow['origin'], literal = '', op = -1): void {
    for (const one of this.running) one.values.push(this.values.length);
    this.values.push({ tensor, op, source: this.ops.length - 1, origin, literal });
  }

  /** Branches that never ran; asked for, even without one. */
  neverRan(...branches: readonly Partial<Branch>[]): void {
    const usual = { file: this.file, line: 0, endLine: 0, code: '', function: 'forward', modules: Int32Array.of(0) };
    this.branches = [...(this.branches ?? []), ...branches.map((branch) => ({ ...usual, ...branch }))];
  }

  /** What is alive over an iteration, and how that changes. */
  memory(rows: MemoryRows, whatIf: WhatIfRows | null = null, totals: Partial<Totals> = {}): void {
    this.memoryRows = rows;
    this.whatIfRows = whatIf;
    this.totals = { ...NO_TOTALS, ...totals };
  }

  /** The latest call of a module. */
  callOf(path: string): number {
    const module = this.moduleByPath.get(path) ?? -1;
    return this.calls.findLastIndex((call) => call.module === module);
  }

  private caseOf(name: string): CaseRow {
    const one = this.cases.find((each) => each.name === name);
    if (!one) throw new Error(`there is no case ${name}`);
    return one;
  }

  get opCount(): number {
    return this.ops.length;
  }

  finding(fields: Partial<Finding> & { readonly severity: Severity }): void {
    this.findings.push({ ...NO_FINDING, file: this.file, ...fields });
  }

  private openCall(module: number): number {
    const number = (this.callsOf.get(module) ?? 0) + 1;
    this.callsOf.set(module, number);
    const firstOp = this.ops.length;
    for (const one of this.running) one.calls.push(this.calls.length);
    return (
      this.calls.push({
        module,
        number,
        parent: this.stack.at(-1) ?? -1,
        firstOp,
        endOp: firstOp,
        inputs: [],
        outputs: [],
        outcome: 0,
      }) - 1
    );
  }

  private tensor(shape: readonly number[], dtype: string, producer: number, kind: Kind, name: string, viewOf = -1): number {
    const storage = this.tensors[viewOf]?.storage ?? this.tensors.length;
    const flags = this.assuming && producer >= 0 ? TENSOR_ASSUMED : 0;
    return this.tensors.push({ shape, dtype, producer, kind, name, flags, storage }) - 1;
  }

  build(): Record {
    Object.assign(this.calls[0] ?? {}, { endOp: this.ops.length });
    const text = new Interned(['']);
    const shapes = new Interned<readonly number[]>();
    const memory = (rows: MemoryRows): Memory => builtMemory(rows, text, shapes, this.moduleByPath);
    return {
      name: this.name,
      completed: !this.assuming,
      error: '',
      execution: 'fake',
      unchecked: [],
      versions: new Map(),
      inputs: this.inputs,
      outputs: this.outputs,
      totals: this.totals,
      memory: this.memoryRows && memory(this.memoryRows),
      whatIf: this.whatIfRows && {
        ...this.whatIfRows,
        variants: (this.whatIfRows.variants ?? []).map(([kind, name, rows]) => ({ kind, name, memory: memory(rows) })),
        unknown: new Map(Object.entries(this.whatIfRows.unknown ?? {})),
      },
      findings: this.findings,
      childLists: ragged([[]]),
      modules: moduleColumns(this.modules, text),
      calls: callColumns(this.calls),
      tensors: tensorColumns(this.tensors, text, shapes),
      ...opColumns(this.ops, text),
      sources: sourceColumns(this.ops, this.file, text),
      values: {
        tensor: ints(this.values, (row) => row.tensor),
        op: ints(this.values, (row) => row.op),
        source: ints(this.values, (row) => row.source),
        origin: ints(this.values, (row) => VALUE_ORIGINS.indexOf(row.origin)),
        literal: ints(this.values, (row) => text.of(row.literal)),
      },
      branches: this.branches,
      cases: this.cases.map((one) => builtCase(one, shapes)),
      shapes: shapes.values,
      strings: text.values,
    };
  }
}

function builtCase(one: CaseRow, shapes: Interned<readonly number[]>): Case {
  return {
    ...one,
    error: one.completed ? '' : 'RuntimeError: boom',
    execution: 'fake',
    ops: Int32Array.from(one.ops),
    calls: Int32Array.from(one.calls),
    values: Int32Array.from(one.values),
    shapes: new Map([...one.shapes].map(([tensor, shape]) => [tensor, shapes.of(shape)])),
  };
}

function moduleColumns(modules: readonly ModuleRow[], text: Interned<string>): Record['modules'] {
  const figures = (): Float64Array => new Float64Array(modules.length);
  return {
    path: ints(modules, (row) => text.of(row.path)),
    type: ints(modules, (row) => text.of(row.type)),
    config: ints(modules, (row) => text.of(row.config)),
    parent: ints(modules, (row) => row.parent),
    params: figures(),
    trainableParams: figures(),
    paramBytes: figures(),
    bufferBytes: figures(),
    localParams: new Float64Array(modules.length).fill(-1),
    localParamBytes: new Float64Array(modules.length).fill(-1),
    sharedWith: ragged(modules.map(() => [])),
    flags: new Int32Array(modules.length),
  };
}

function callColumns(calls: readonly CallRow[]): Record['calls'] {
  return {
    module: ints(calls, (row) => row.module),
    number: ints(calls, (row) => row.number),
    parent: ints(calls, (row) => row.parent),
    firstOp: ints(calls, (row) => row.firstOp),
    endOp: ints(calls, (row) => row.endOp),
    inputs: ragged(calls.map((row) => row.inputs)),
    outputs: ragged(calls.map((row) => row.outputs)),
    outcome: ints(calls, (row) => row.outcome),
    savedBytes: new Float64Array(calls.length).fill(-1),
    backwardFlops: new Float64Array(calls.length).fill(-1),
  };
}

function tensorColumns(
  tensors: readonly TensorRow[],
  text: Interned<string>,
  shapes: Interned<readonly number[]>,
): Record['tensors'] {
  return {
    shape: ints(tensors, (row) => shapes.of(row.shape)),
    dtype: ints(tensors, (row) => text.of(row.dtype)),
    device: ints(tensors, () => text.of('cpu')),
    storage: ints(tensors, (row) => row.storage),
    producer: ints(tensors, (row) => row.producer),
    kind: ints(tensors, (row) => TENSOR_KINDS.indexOf(row.kind)),
    name: ints(tensors, (row) => text.of(row.name)),
    flags: ints(tensors, (row) => row.flags),
  };
}

function opColumns(ops: readonly OpRow[], text: Interned<string>): Pick<Record, 'ops' | 'argumentLists'> {
  const argumentRows: number[][] = [[]];
  const argumentsOf = ints(ops, (op) =>
    op.arguments.length ? argumentRows.push(op.arguments.flatMap(([name, literal]) => [text.of(name), text.of(literal)])) - 1 : 0,
  );
  return {
    argumentLists: ragged(argumentRows),
    ops: {
      name: ints(ops, (row) => text.of(row.name)),
      call: ints(ops, (row) => row.call),
      source: Int32Array.from(ops.keys()),
      inputs: ragged(ops.map((row) => row.inputs)),
      outputs: ragged(ops.map((row) => row.outputs)),
      arguments: argumentsOf,
      children: new Int32Array(ops.length),
      flags: ints(ops, (row) => row.flags),
      flops: new Float64Array(ops.length).fill(-1),
    },
  };
}

function sourceColumns(ops: readonly OpRow[], file: string, text: Interned<string>): Record['sources'] {
  const zeros = (): Int32Array => new Int32Array(ops.length);
  return {
    file: ints(ops, () => text.of(file)),
    line: ints(ops, (row) => row.line),
    endLine: ints(ops, (row) => row.line),
    column: zeros(),
    endColumn: zeros(),
    code: ints(ops, (row) => text.of(`${row.name}(…)`)),
    function: ints(ops, () => text.of('forward')),
    text: zeros(),
    textLine: zeros(),
    caller: zeros().fill(-1),
  };
}
