/** Which cases ran what: of a union of several inputs each op, call and tensor belongs to some of them. */

import type { Case, Endpoint, Finding, Record } from './record';

/** Indices of cases, ascending. */
export type CaseSet = readonly number[];

interface CaseSets {
  readonly subsets: readonly CaseSet[];
  readonly ofOp: Int32Array; // subsets
  readonly ofCall: Int32Array;
  readonly ofInput: ReadonlyMap<number, CaseSet>; // by tensor
  readonly ofOutput: ReadonlyMap<number, CaseSet>;
  readonly changes: Int32Array; // how many of the ops up to i other cases ran than the op before
}

const KNOWN = new WeakMap<readonly Case[], CaseSets>();

function caseSets(record: Record): CaseSets {
  const { cases } = record;
  const known = KNOWN.get(cases);
  if (known) return known;
  const table = new Subsets();
  const ofOp = table.membership(
    record.ops.name.length,
    cases.map(({ ops }) => ops),
  );
  const changes = new Int32Array(ofOp.length);
  for (let op = 1; op < ofOp.length; op++) changes[op] = (changes[op - 1] ?? 0) + (ofOp[op] === ofOp[op - 1] ? 0 : 1);
  const made: CaseSets = {
    subsets: table.subsets,
    ofOp,
    ofCall: table.membership(
      record.calls.module.length,
      cases.map(({ calls }) => calls),
    ),
    ofInput: byTensor(cases.map(({ inputs }) => inputs)),
    ofOutput: byTensor(cases.map(({ outputs }) => outputs)),
    changes,
  };
  KNOWN.set(cases, made);
  return made;
}

/** Each set of cases once, under a number; 0 is the empty one. */
class Subsets {
  readonly subsets: CaseSet[] = [[]];
  private readonly next = new Map<string, number>();

  membership(rows: number, ran: readonly Int32Array[]): Int32Array {
    const of = new Int32Array(rows);
    ran.forEach((theirs, one) => theirs.forEach((row) => (of[row] = this.with(of[row] ?? 0, one))));
    return of;
  }

  private with(subset: number, one: number): number {
    const key = `${subset} ${one}`;
    const known = this.next.get(key) ?? this.subsets.push([...(this.subsets[subset] ?? []), one]) - 1;
    this.next.set(key, known);
    return known;
  }
}

function byTensor(ends: readonly (readonly Endpoint[])[]): ReadonlyMap<number, CaseSet> {
  const sets = new Map<number, CaseSet>();
  ends.forEach((theirs, one) => {
    for (const tensor of new Set(theirs.map((end) => end.tensor))) sets.set(tensor, [...(sets.get(tensor) ?? []), one]);
  });
  return sets;
}

const everyOne = (record: Record): CaseSet => [...record.cases.keys()];

/** The cases that ran an op. */
export function casesOfOp(record: Record, op: number): CaseSet {
  const { subsets, ofOp } = caseSets(record);
  return subsets[ofOp[op] ?? 0] ?? [];
}

/** The cases that made a module's call. */
export function casesOfCall(record: Record, call: number): CaseSet {
  const { subsets, ofCall } = caseSets(record);
  return subsets[ofCall[call] ?? 0] ?? [];
}

/** The cases that have a tensor; what is no op's result and no input, all have. */
export function casesOfTensor(record: Record, tensor: number): CaseSet {
  const producer = record.tensors.producer[tensor] ?? -1;
  return producer >= 0 ? casesOfOp(record, producer) : (caseSets(record).ofInput.get(tensor) ?? everyOne(record));
}

/** The cases that give a tensor back. */
export function casesOfOutput(record: Record, tensor: number): CaseSet {
  return caseSets(record).ofOutput.get(tensor) ?? everyOne(record);
}

/** Whether the same cases ran all ops from one to another, which is left out. */
export function ranAlike(record: Record, first: number, end: number): boolean {
  const { changes } = caseSets(record);
  return changes[first] === changes[end - 1];
}

/** The cases that called anything of each module's subtree. */
export function casesOfModules(record: Record): readonly CaseSet[] {
  const { parent } = record.modules;
  const sets = Array.from(parent, () => new Set<number>());
  record.calls.module.forEach((module, call) => casesOfCall(record, call).forEach((one) => sets[module]?.add(one)));
  // Parents stand before children: one pass backwards reaches the root.
  for (let module = sets.length - 1; module >= 0; module--) sets[module]?.forEach((one) => sets[parent[module] ?? -1]?.add(one));
  return sets.map((set) => [...set].sort((a, b) => a - b));
}

/** Whether no case has both of two tensors: one stands in some cases for what the other is in others. */
export function areAlternatives(record: Record, a: number, b: number): boolean {
  if (record.cases.length === 0) return false;
  const others = casesOfTensor(record, b);
  return !casesOfTensor(record, a).some((one) => others.includes(one));
}

/** Tensors in their places: what stands in one place in one case or the other is together. */
export function inPlaces(record: Record, tensors: Iterable<number>): readonly (readonly number[])[] {
  const places: number[][] = [];
  if (record.cases.length === 0) return Array.from(tensors, (tensor) => [tensor]);
  for (const tensor of tensors) {
    const place = places.find((mine) => mine.every((other) => areAlternatives(record, tensor, other)));
    if (place) place.push(tensor);
    else places.push([tensor]);
  }
  return places;
}

/** The cases that have a finding; null where it tells of all. */
export function casesWith({ cases }: Record, finding: Finding): CaseSet | null {
  if (finding.cases.length === 0) return null;
  return [...cases.keys()].filter((one) => finding.cases.includes(cases[one]?.name ?? ''));
}

/** A set as it is told: [] where it is that of all cases, which goes without saying. */
export function told(record: Record, cases: CaseSet): CaseSet {
  return cases.length === record.cases.length ? [] : cases;
}

/** Whether what a set of cases ran is part of what is looked at: of the case that is picked, else of all. */
export function isSeen({ picked }: Record, cases: CaseSet): boolean {
  return picked === undefined || cases.includes(picked);
}

/** Whether an op ran, in the case that is picked. */
export function ranOp(record: Record, op: number): boolean {
  return record.picked === undefined || casesOfOp(record, op).includes(record.picked);
}

/** Whether a module's call was made, in the case that is picked. */
export function ranCall(record: Record, call: number): boolean {
  return record.picked === undefined || casesOfCall(record, call).includes(record.picked);
}

/** Whether a tensor is there, in the case that is picked. */
export function isThere(record: Record, tensor: number): boolean {
  return record.picked === undefined || casesOfTensor(record, tensor).includes(record.picked);
}

/** The name of the case that is picked, "" where all are told. */
export function pickedName({ cases, picked }: Record): string {
  return picked === undefined ? '' : (cases[picked]?.name ?? '');
}

/** How many ops ran, in what is looked at. */
export function opsSeen({ ops, cases, picked }: Record): number {
  return picked === undefined ? ops.name.length : (cases[picked]?.ops.length ?? 0);
}

/** How many ops each case ran that no other did. */
export function opsAlone(record: Record): readonly number[] {
  const counts = record.cases.map(() => 0);
  for (let op = 0; op < record.ops.name.length; op++) {
    const [only, ...others] = casesOfOp(record, op);
    if (only !== undefined && others.length === 0) counts[only] = (counts[only] ?? 0) + 1;
  }
  return counts;
}
