/** What the inspector tells of a selected op, module call, module or tensor: plain lines, no layout. */

import { compactType } from '../base/format';
import { argumentsOf } from './arguments';
import { endOfPath, moduleName, moduleOfOp, moduleType, opFullName, opName, pathOf, typeWithConfig } from './calls';
import {
  areAlternatives,
  casesOfCall,
  casesOfModules,
  casesOfOp,
  casesOfTensor,
  inPlaces,
  isSeen,
  isThere,
  ranCall,
  ranOp,
  told,
  type CaseSet,
} from './case_sets';
import { shapesByCase, shapesOf, varies } from './case_shapes';
import { findingsAt, type Subject } from './findings';
import { requirementOf, type GotWanted, type NumberPair } from './got_wanted';
import { MODULE_LAZY, row, TENSOR_KINDS, TENSOR_REQUIRES_GRAD, type Finding, type Mark, type Record } from './record';
import { callersOf, placeOf, sourceLines, type Caller, type SourceLine } from './source';
import { stateOfCall, stateOfOp, type State } from './states';
import { bytesOf, deviceOf, dimsOf, dtypeOf, isAssumed, numelOf, typeOf, type Dim } from './tensors';

export type Selected = Subject | { readonly kind: 'tensor'; readonly id: number };

/** One tensor of a section. */
export interface TensorLine {
  readonly label: string;
  readonly tensor: number;
  readonly dtype: string;
  readonly dims: readonly Dim[];
  readonly device: string;
  readonly bytes: number | null;
  readonly varies: boolean; // among the cases: the bytes are the most
  readonly cases: CaseSet; // those that have it, where not every case does; else []
  readonly assumed: boolean;
  readonly from: string; // what made it, "" for what was there before
  readonly name: string; // of a parameter, buffer or input, else ""
}

/** Something else that can be selected from here. */
export interface Link {
  readonly subject: Selected;
  readonly text: string;
  readonly hint: string;
}

export interface Child {
  readonly name: string;
  readonly outputs: readonly string[];
}

export interface Details {
  readonly title: string;
  readonly type: string;
  readonly path: string;
  readonly call: number; // which call of its module, 0 where that says nothing
  readonly fullName: string;
  readonly state: State;
  readonly cases: CaseSet; // those that ran it, where not every case did; else []
  readonly module: number; // whose code it is, -1 for an op
  readonly lazy: boolean;
  readonly findings: readonly Finding[];
  readonly place: { readonly file: string; readonly line: number } | null;
  readonly gotWanted: GotWanted | null;
  readonly numbers: readonly NumberPair[]; // where no one dim says it
  readonly inputs: readonly TensorLine[];
  readonly outputs: readonly TensorLine[];
  readonly own: readonly TensorLine[]; // a module's own parameters and buffers
  readonly arguments: readonly { readonly name: string; readonly literal: string }[];
  readonly config: string;
  readonly children: readonly Child[];
  readonly figures: {
    readonly params: number | null;
    readonly trainable: number | null;
    readonly paramBytes: number | null;
    readonly bufferBytes: number | null;
    readonly localParamBytes: number | null; // on this rank; null where nothing is sharded
  } | null;
  readonly sharedWith: readonly string[];
  readonly ops: readonly Link[];
  readonly source: readonly SourceLine[];
  readonly sourceFile: string;
  readonly callers: readonly Caller[];
}

const BLANK = {
  fullName: '',
  module: -1,
  cases: [],
  call: 0,
  lazy: false,
  findings: [],
  gotWanted: null,
  numbers: [],
  inputs: [],
  outputs: [],
  own: [],
  arguments: [],
  config: '',
  children: [],
  figures: null,
  sharedWith: [],
  ops: [],
} satisfies Partial<Details>;

/** One tensor as a line of a section, as the module `seenFrom` sees it, in the cases of `among`. */
export function tensorLine(
  record: Record,
  tensor: number,
  label: string,
  marks: readonly Mark[] = [],
  seenFrom = -1,
  among: CaseSet | null = null,
): TensorLine {
  return {
    label,
    tensor,
    dtype: dtypeOf(record, tensor),
    dims: dimsOf(record, tensor, marks, among),
    device: deviceOf(record, tensor),
    bytes: bytesOf(record, tensor, among),
    varies: shapesOf(record, tensor, among).length > 1,
    cases: record.picked === undefined ? told(record, casesOfTensor(record, tensor)) : [],
    assumed: isAssumed(record, tensor),
    from: fromOf(record, tensor, seenFrom),
    name: record.strings[record.tensors.name[tensor] ?? 0] ?? '',
  };
}

/** Tensors by their places, numbered where there are several. */
function placeLines(
  record: Record,
  tensors: Int32Array,
  marks: readonly Mark[],
  seenFrom: number,
  among: CaseSet,
): readonly TensorLine[] {
  const places = inPlaces(record, tensors);
  return places.flatMap((place, i) =>
    place.map((tensor) => tensorLine(record, tensor, places.length > 1 ? `${i}` : '', marks, seenFrom, among)),
  );
}

/** An argument's name; of what stands in another's place in another case, that one's. */
function inputName(record: Record, op: number, names: ReadonlyMap<number, string>, input: number): string {
  const own = names.get(input);
  if (own !== undefined) return own;
  const inputs = row(record.ops.inputs, op);
  const tensor = inputs[input] ?? -1;
  const before = [...inputs.keys()].filter((other) => other < input);
  const isBeside = (other: number): boolean => areAlternatives(record, inputs[other] ?? -1, tensor);
  const mine = before.filter((other) => !names.has(other) && !isBeside(other)).length;
  const others = before.flatMap((other) => (isBeside(other) ? (names.get(other) ?? []) : []));
  return others[mine] ?? `${input}`;
}

/** All that was recorded of an op. */
export function opDetails(record: Record, op: number): Details {
  const { names, others } = argumentsOf(record, op);
  const findings = findingsAt(record, { kind: 'op', id: op });
  const marks = findings.flatMap((finding) => finding.marks);
  const call = record.ops.call[op] ?? -1;
  const module = moduleOfOp(record, op);
  const outputs = row(record.ops.outputs, op);
  const ran = ranOp(record, op);
  return {
    ...BLANK,
    ...whereabouts(record, record.ops.source[op] ?? -1, findings),
    title: opName(record, op),
    type: '',
    path: module < 0 ? '' : moduleName(record, module),
    call: record.calls.number[call] ?? 0,
    fullName: opFullName(record, op),
    state: stateOfOp(record, op),
    cases: told(record, casesOfOp(record, op)),
    findings,
    ...requirementOf(record, findings, { kind: 'op', id: op }),
    inputs: Array.from(row(record.ops.inputs, op), (tensor, i) =>
      tensorLine(record, tensor, inputName(record, op, names, i), marks, module, casesOfOp(record, op)),
    ).filter(({ tensor }) => !ran || isThere(record, tensor)),
    outputs: placeLines(record, outputs, marks, -1, casesOfOp(record, op)),
    arguments: others,
    children: childrenOf(record, op),
  };
}

/** All that was recorded of a module's call. */
export function callDetails(record: Record, call: number): Details {
  const module = record.calls.module[call] ?? 0;
  const [first, end] = [record.calls.firstOp[call] ?? 0, record.calls.endOp[call] ?? 0];
  const findings = findingsAt(record, { kind: 'call', id: call });
  const marks = findings.flatMap((finding) => finding.marks);
  const failed = findings.find((finding) => finding.opIndex >= 0)?.opIndex ?? first;
  const ran = ranCall(record, call);
  const inputs = row(record.calls.inputs, call).filter((tensor) => !ran || isThere(record, tensor));
  const outputs = row(record.calls.outputs, call).filter((tensor) => !ran || isThere(record, tensor));
  const own = Array.from({ length: end - first }, (_, i) => first + i).filter((op) => record.ops.call[op] === call);
  const ops = own.filter((op) => !ran || ranOp(record, op));
  return {
    ...BLANK,
    ...whereabouts(record, end > first ? (record.ops.source[failed] ?? -1) : -1, findings),
    ...moduleFacts(record, module),
    module,
    call: record.calls.number[call] ?? 0,
    state: stateOfCall(record, call),
    cases: told(record, casesOfCall(record, call)),
    findings,
    ...requirementOf(record, findings, { kind: 'call', id: call }),
    inputs: placeLines(record, inputs, marks, module, casesOfCall(record, call)),
    outputs: placeLines(record, outputs, marks, module, casesOfCall(record, call)),
    own: ownTensors(record, module, marks),
    ops: ops.map((op) => opLink(record, op)),
  };
}

/** All that was recorded of a module that was never called, or only holds others. */
export function moduleDetails(record: Record, module: number): Details {
  const findings = findingsAt(record, { kind: 'module', id: module });
  const called = record.calls.module.some((of) => of === module || isInside(record, of, module));
  const cases = called ? (casesOfModules(record)[module] ?? []) : [];
  return {
    ...BLANK,
    ...whereabouts(record, -1, findings),
    ...moduleFacts(record, module),
    module,
    state: !called ? 'never called' : isSeen(record, cases) ? 'ok' : 'not run',
    cases: called ? told(record, cases) : [],
    findings,
    own: ownTensors(record, module, []),
  };
}

export interface TensorDetails {
  readonly title: string;
  readonly type: string;
  readonly kind: string;
  readonly dtype: string;
  readonly dims: readonly Dim[];
  readonly device: string;
  readonly elements: number;
  readonly bytes: number | null;
  readonly requiresGrad: boolean;
  readonly assumed: boolean;
  readonly cases: CaseSet; // those that have it, where not every case does; else []
  readonly shapes: readonly { readonly of: number; readonly shape: readonly number[] }[]; // by case, where it varies
  readonly varies: boolean;
  readonly producer: Link | null;
  readonly users: readonly Link[];
  readonly sameMemory: readonly Link[];
}

/** All that was recorded of a tensor. */
export function tensorDetails(record: Record, tensor: number): TensorDetails {
  const { tensors } = record;
  const producer = tensors.producer[tensor] ?? -1;
  const name = record.strings[tensors.name[tensor] ?? 0] ?? '';
  const users: Link[] = [];
  record.ops.name.forEach((_, op) => {
    if (row(record.ops.inputs, op).includes(tensor) && ranOp(record, op)) users.push(opLink(record, op));
  });
  const sameMemory: Link[] = [];
  tensors.storage.forEach((storage, id) => {
    if (id !== tensor && storage === tensors.storage[tensor] && isThere(record, id))
      sameMemory.push({ subject: { kind: 'tensor', id }, text: typeOf(record, id), hint: makerOf(record, id) });
  });
  return {
    title: name || makerOf(record, tensor),
    type: typeOf(record, tensor),
    kind: TENSOR_KINDS[tensors.kind[tensor] ?? 0] ?? 'activation',
    dtype: dtypeOf(record, tensor),
    dims: dimsOf(
      record,
      tensor,
      record.findings.flatMap((finding) => finding.marks),
    ),
    device: record.strings[tensors.device[tensor] ?? 0] ?? '',
    elements: numelOf(record, tensor),
    bytes: bytesOf(record, tensor),
    requiresGrad: ((tensors.flags[tensor] ?? 0) & TENSOR_REQUIRES_GRAD) !== 0,
    assumed: isAssumed(record, tensor),
    cases: told(record, casesOfTensor(record, tensor)),
    shapes: varies(record, tensor) ? shapesByCase(record, tensor) : [],
    varies: varies(record, tensor),
    producer: producer < 0 ? null : opLink(record, producer),
    users,
    sameMemory,
  };
}

/** Who a tensor comes from, in a word: the op, or its own name. */
export function makerOf(record: Record, tensor: number): string {
  const producer = record.tensors.producer[tensor] ?? -1;
  if (producer >= 0) return opName(record, producer);
  return record.strings[record.tensors.name[tensor] ?? 0] ?? '';
}

function opLink(record: Record, op: number): Link {
  const module = moduleOfOp(record, op);
  const output = row(record.ops.outputs, op)[0];
  const type = output === undefined ? '' : typeOf(record, output, casesOfOp(record, op));
  return {
    subject: { kind: 'op', id: op },
    text: opName(record, op),
    hint: type || (module < 0 ? '' : moduleName(record, module)),
  };
}

function whereabouts(
  record: Record,
  source: number,
  findings: readonly Finding[],
): Pick<Details, 'place' | 'source' | 'sourceFile' | 'callers'> {
  const finding = findings.find(({ file }) => file !== '');
  const place = finding ? { file: finding.file, line: finding.line } : placeOf(record, source);
  const origin = findings.find((each) => (each.origin?.opIndex ?? -1) >= 0)?.origin?.opIndex ?? -1;
  return {
    place,
    source: sourceLines(record, source, origin < 0 ? -1 : (record.ops.source[origin] ?? -1)),
    sourceFile: placeOf(record, source)?.file ?? '',
    callers: callersOf(record, source),
  };
}

function moduleFacts(
  record: Record,
  module: number,
): Pick<Details, 'title' | 'type' | 'path' | 'fullName' | 'config' | 'figures' | 'sharedWith' | 'lazy'> {
  const known = (column: Float64Array): number | null => ((column[module] ?? -1) < 0 ? null : (column[module] ?? null));
  const { params, trainableParams, paramBytes, bufferBytes, localParamBytes } = record.modules;
  const path = pathOf(record, module);
  return {
    title: path === '' ? moduleName(record, module) : endOfPath(path),
    type: path === '' ? '' : moduleType(record, module),
    path,
    fullName: typeWithConfig(record, module),
    config: record.strings[record.modules.config[module] ?? 0] ?? '',
    figures: {
      params: known(params),
      trainable: known(trainableParams),
      paramBytes: known(paramBytes),
      bufferBytes: known(bufferBytes),
      localParamBytes: known(localParamBytes),
    },
    sharedWith: Array.from(row(record.modules.sharedWith, module), (word) => record.strings[word] ?? ''),
    lazy: ((record.modules.flags[module] ?? 0) & MODULE_LAZY) !== 0,
  };
}

function isInside(record: Record, module: number, around: number): boolean {
  for (let at = module; at >= 0; at = record.modules.parent[at] ?? -1) if (at === around) return true;
  return false;
}

/** What made a tensor: the op where it ran in the same module, else the module it ran in. */
function fromOf(record: Record, tensor: number, seenFrom: number): string {
  const producer = record.tensors.producer[tensor] ?? -1;
  if (producer < 0) return '';
  const module = moduleOfOp(record, producer);
  const path = module < 0 || module === seenFrom ? '' : pathOf(record, module);
  return endOfPath(path) || opName(record, producer);
}

/** A parameter's name is its module's path and its own name. */
function ownTensors(record: Record, module: number, marks: readonly Mark[]): readonly TensorLine[] {
  const path = pathOf(record, module);
  const own: TensorLine[] = [];
  record.tensors.kind.forEach((kind, tensor) => {
    if (kind !== TENSOR_KINDS.indexOf('parameter') && kind !== TENSOR_KINDS.indexOf('buffer')) return;
    const name = record.strings[record.tensors.name[tensor] ?? 0] ?? '';
    const dot = name.lastIndexOf('.');
    if (name !== '' && name.slice(0, Math.max(0, dot)) === path) own.push(tensorLine(record, tensor, name.slice(dot + 1), marks));
  });
  return own;
}

function childrenOf(record: Record, op: number): readonly Child[] {
  const words = row(record.childLists, record.ops.children[op] ?? 0);
  const children: Child[] = [];
  for (let at = 0; at < words.length;) {
    const count = words[at + 1] ?? 0;
    const outputs = Array.from({ length: count }, (_, k) => {
      const shape = record.shapes[words[at + 2 + 2 * k] ?? 0] ?? [];
      return compactType(record.strings[words[at + 3 + 2 * k] ?? 0] ?? '', shape);
    });
    children.push({ name: record.strings[words[at] ?? 0] ?? '', outputs });
    at += 2 + 2 * count;
  }
  return children;
}
