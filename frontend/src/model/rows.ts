/** The table of layers: one row a module call and one a module never called, in execution order. */

import {
  callsByModule,
  childCalls,
  childModules,
  firstCalls,
  moduleName,
  modulesAround,
  pathOf,
  typeInShort,
  typeWithConfig,
} from './calls';
import { casesOfCall, casesOfTensor, inPlaces, isThere, ranCall, told, type CaseSet } from './case_sets';
import { shapesOf } from './case_shapes';
import { flopsOfCall, savedBytesOf } from './costs';
import { countsByCall, countsByModule, NO_PROBLEMS, type Counts, type Subject } from './findings';
import { row, type Mark, type Record } from './record';
import { stateOfCall, type State } from './states';
import { bytesOfAll, dimsOf, isAssumed, type Dim } from './tensors';

/** What stands in a cell of shapes: the first tensor, and how many more there are. */
export interface ShapeCell {
  readonly tensor: number; // -1 where there is none
  readonly dims: readonly Dim[];
  readonly more: number;
  readonly assumed: boolean;
}

export interface LayerRow {
  readonly key: string;
  readonly under: string | null;
  readonly depth: number;
  readonly subject: Subject;
  readonly name: string;
  readonly type: string; // `Linear 84→10`
  readonly fullType: string; // `Linear(in_features=84, out_features=10, bias=True)`
  readonly call: number; // calls, -1 for a module never called
  readonly number: number; // which call of its module, 0 for never called
  readonly ofSeveral: boolean;
  readonly state: State;
  readonly cases: CaseSet; // those that made the call, where not every case did; else []
  readonly counts: Counts;
  readonly input: ShapeCell;
  readonly output: ShapeCell;
  readonly params: number | null; // null unknown; 0 and `countedIn` where an earlier call counts them
  readonly trainable: number | null;
  readonly countedIn: number; // number of the call that counts the parameters, 0 for this one
  readonly outputBytes: number | null; // null unknown, or nothing came out; the most, where it varies among the cases
  readonly bytesVary: boolean;
  readonly flops: number | null; // of the forward, what is inside included; null unknown
  readonly flopsComplete: boolean; // false: some op has no formula, so that it is at least that many
  readonly savedBytes: number | null; // that autograd keeps; null unknown
  readonly inside: number;
}

const EMPTY: ShapeCell = { tensor: -1, dims: [], more: 0, assumed: false };

/** Every row, parents before what ran inside them. */
export function layerRows(record: Record): readonly LayerRow[] {
  const inside = childCalls(record);
  const calls = callsByModule(record);
  const [ofCalls, ofModules] = [countsByCall(record), countsByModule(record)];
  const clashes = record.findings.filter(({ severity }) => severity === 'error');
  // A clash shows where its number arrives, not where it leaves: a clashing tensor is another call's output.
  const marksIn = (call: number): readonly Mark[] =>
    clashes
      .filter(({ opIndex }) => opIndex >= (record.calls.firstOp[call] ?? 0) && opIndex < (record.calls.endOp[call] ?? 0))
      .flatMap(({ marks }) => marks);
  const idle = neverCalled(record);
  const rows: LayerRow[] = [];

  const visit = (call: number, under: string | null, depth: number, below: string): void => {
    const module = record.calls.module[call] ?? 0;
    const children = inside[call] ?? [];
    const number = record.calls.number[call] ?? 1;
    const silent = number === 1 ? (idle.get(module) ?? []) : [];
    const key = `call-${call}`;
    rows.push({
      ...figures(record, module, number),
      key,
      under,
      depth,
      subject: { kind: 'call', id: call },
      name: moduleName(record, module, below),
      type: typeInShort(record, module),
      fullType: typeWithConfig(record, module),
      call,
      number,
      ofSeveral: (calls[module]?.length ?? 0) > 1,
      state: stateOfCall(record, call),
      cases: told(record, casesOfCall(record, call)),
      counts: ofCalls[call] ?? NO_PROBLEMS,
      input: cell(record, call, 'inputs', marksIn(call)),
      output: cell(record, call, 'outputs', []),
      ...outputBytes(record, call),
      ...costsOf(record, call),
      inside: children.length + silent.length,
    });
    for (const child of children) visit(child, key, depth + 1, pathOf(record, module));
    for (const child of silent)
      rows.push(silentRow(record, child, key, depth + 1, pathOf(record, module), ofModules[child] ?? NO_PROBLEMS));
  };
  record.calls.parent.forEach((parent, call) => {
    if (parent < 0) visit(call, null, 0, '');
  });
  return rows;
}

function figures(record: Record, module: number, number: number): Pick<LayerRow, 'params' | 'trainable' | 'countedIn'> {
  if (number > 1) return { params: 0, trainable: 0, countedIn: 1 };
  const known = (value: number | undefined): number | null => (value === undefined || value < 0 ? null : value);
  return { params: known(record.modules.params[module]), trainable: known(record.modules.trainableParams[module]), countedIn: 0 };
}

function cell(record: Record, call: number, which: 'inputs' | 'outputs', marks: readonly Mark[]): ShapeCell {
  // A clash is what the row is about, wherever it stands among the inputs.
  const places = inPlaces(record, seenOf(record, call, which));
  const shown = places.find((place) => place.some((id) => marks.some((mark) => mark.tensor === id))) ?? places[0];
  const place = shown?.toSorted((a, b) => isMarked(marks, b) - isMarked(marks, a)) ?? [];
  const [tensor] = place;
  if (tensor === undefined) return EMPTY;
  const dims = dimsOf(record, place, marks, casesOfCall(record, call));
  return { tensor, dims, more: places.length - 1, assumed: isAssumed(record, tensor) };
}

function isMarked(marks: readonly Mark[], tensor: number): number {
  return Number(marks.some((mark) => mark.tensor === tensor));
}

/** What a call took or gave, in what is looked at. */
function seenOf(record: Record, call: number, which: 'inputs' | 'outputs'): Int32Array {
  const tensors = row(record.calls[which], call);
  return ranCall(record, call) ? tensors.filter((tensor) => isThere(record, tensor)) : new Int32Array();
}

function outputBytes(record: Record, call: number): Pick<LayerRow, 'outputBytes' | 'bytesVary'> {
  const among = casesOfCall(record, call);
  const places = inPlaces(record, seenOf(record, call, 'outputs'));
  if (places.length === 0) return { outputBytes: null, bytesVary: false };
  const bytesVary = places.some((place) => place.length > 1 || place.some((id) => shapesOf(record, id, among).length > 1));
  if (!bytesVary) return { outputBytes: bytesOfAll(record, places.flat(), among), bytesVary };
  const each = among.map((one) =>
    bytesOfAll(
      record,
      places.flat().filter((id) => casesOfTensor(record, id).includes(one)),
      [one],
    ),
  );
  return { outputBytes: each.includes(null) ? null : Math.max(...each.map(Number)), bytesVary };
}

function costsOf(record: Record, call: number): Pick<LayerRow, 'flops' | 'flopsComplete' | 'savedBytes'> {
  const cost = flopsOfCall(record, call);
  return { flops: cost?.amount ?? null, flopsComplete: cost?.complete ?? true, savedBytes: savedBytesOf(record, call) };
}

function silentRow(record: Record, module: number, under: string, depth: number, below: string, counts: Counts): LayerRow {
  return {
    ...figures(record, module, 1),
    key: `module-${module}`,
    under,
    depth,
    subject: { kind: 'module', id: module },
    name: moduleName(record, module, below),
    type: typeInShort(record, module),
    fullType: typeWithConfig(record, module),
    call: -1,
    number: 0,
    ofSeveral: false,
    state: 'never called',
    cases: [],
    counts,
    input: EMPTY,
    output: EMPTY,
    outputBytes: null,
    bytesVary: false,
    flops: null,
    flopsComplete: true,
    savedBytes: null,
    inside: 0,
  };
}

/** Topmost modules of which nothing was called, by the nearest module around them that was. */
function neverCalled(record: Record): ReadonlyMap<number, readonly number[]> {
  const first = firstCalls(record);
  const calls = callsByModule(record);
  const idle = new Map<number, number[]>();
  childModules(record).forEach((children, parent) => {
    if (first[parent] === Infinity) return;
    const host = [...modulesAround(record, parent), parent].findLast((module) => (calls[module]?.length ?? 0) > 0) ?? -1;
    const silent = children.filter((child) => first[child] === Infinity);
    if (silent.length) idle.set(host, [...(idle.get(host) ?? []), ...silent]);
  });
  return idle;
}

export type SortKey = 'name' | 'params' | 'trainable' | 'outputBytes' | 'flops' | 'savedBytes';
export interface Sort {
  readonly by: SortKey;
  readonly descending: boolean;
}

/** The rows sorted among their siblings, so that a group keeps what is inside it; null is execution order. Unknown comes last. */
export function sortRows(rows: readonly LayerRow[], sort: Sort | null): readonly LayerRow[] {
  if (!sort) return rows;
  const under = new Map<string | null, LayerRow[]>();
  for (const row of rows) under.set(row.under, [...(under.get(row.under) ?? []), row]);
  const sign = sort.descending ? -1 : 1;
  const compare = (a: LayerRow, b: LayerRow): number => {
    const [x, y] = [a[sort.by], b[sort.by]];
    if (x === null || y === null) return Number(x === null) - Number(y === null);
    if (typeof x === 'string' || typeof y === 'string') return sign * String(x).localeCompare(String(y), 'en', { numeric: true });
    return sign * (x - y);
  };
  const inOrder = (key: string | null): LayerRow[] =>
    (under.get(key) ?? []).toSorted(compare).flatMap((row) => [row, ...inOrder(row.key)]);
  return inOrder(null);
}

type Figure = 'params' | 'outputBytes' | 'flops' | 'savedBytes';

/** The largest figure of each column below the total row: where its bars end. */
export function largest(rows: readonly LayerRow[]): Readonly<globalThis.Record<Figure, number>> {
  const below = rows.filter((row) => row.depth > 0);
  const of = (figure: Figure): number => below.reduce((most, row) => Math.max(most, row[figure] ?? 0), 0);
  return { params: of('params'), outputBytes: of('outputBytes'), flops: of('flops'), savedBytes: of('savedBytes') };
}
