/** A union of several inputs as one of them ran it: its shapes, its ends, its problems; what it didn't run stays, as not run. */

import {
  OP_FAILED,
  TENSOR_ASSUMED,
  type Case,
  type Endpoint,
  type Finding,
  type Record,
  type Totals,
  type ValueColumns,
} from './record';
import { bytesOfAll } from './tensors';

const VIEWS = new WeakMap<Record, Map<number, Record>>();

/** The record in the case of that index; itself for -1, or where there is no such case. The same answer to the same question. */
export function caseView(record: Record, picked: number): Record {
  const one = record.cases[picked];
  if (!one) return record;
  const views = VIEWS.get(record) ?? new Map<number, Record>();
  VIEWS.set(record, views);
  const known = views.get(picked) ?? viewOf(record, picked, one);
  views.set(picked, known);
  return known;
}

function viewOf(record: Record, picked: number, one: Case): Record {
  const findings = findingsOf(record, one);
  const seen: Record = {
    ...record,
    picked,
    completed: one.completed,
    error: one.error,
    execution: one.execution,
    findings,
    tensors: {
      ...record.tensors,
      shape: record.tensors.shape.map((shape, tensor) => one.shapes.get(tensor) ?? shape),
      flags: one.completed ? record.tensors.flags.map((flags) => flags & ~TENSOR_ASSUMED) : record.tensors.flags,
    },
    ops: { ...record.ops, flags: opFlags(record, one, findings) },
    calls: { ...record.calls, outcome: one.completed ? new Int32Array(record.calls.outcome.length) : record.calls.outcome },
    values: valuesOf(record, one),
  };
  return { ...seen, totals: totalsOf(seen, one) };
}

/** A case that completed has no failure, and nothing that it stands on is assumed. */
function opFlags(record: Record, one: Case, findings: readonly Finding[]): Int32Array {
  const flags = new Int32Array(record.ops.flags.length);
  if (one.completed) return flags;
  for (const op of one.ops) flags[op] = record.ops.flags[op] ?? 0;
  const mine = new Set(findings.map(({ opIndex }) => opIndex));
  for (const { opIndex } of record.findings)
    if (opIndex >= 0 && !mine.has(opIndex)) flags[opIndex] = (flags[opIndex] ?? 0) & ~OP_FAILED;
  return flags;
}

/** Those that the case has, each still following from the one that it follows from. */
function findingsOf(record: Record, one: Case): readonly Finding[] {
  const kept = record.findings.filter(({ cases }) => cases.length === 0 || cases.includes(one.name));
  return kept.map((finding) => {
    const cause = record.findings[finding.causedBy];
    return cause ? { ...finding, causedBy: kept.indexOf(cause) } : finding;
  });
}

function valuesOf({ values }: Record, one: Case): ValueColumns {
  const taken = (column: Int32Array): Int32Array => one.values.map((row) => column[row] ?? 0);
  return {
    tensor: taken(values.tensor),
    op: taken(values.op),
    source: taken(values.source),
    origin: taken(values.origin),
    literal: taken(values.literal),
  };
}

function totalsOf(seen: Record, one: Case): Totals {
  const bytes = (ends: readonly Endpoint[]): number | null =>
    bytesOfAll(
      seen,
      ends.flatMap(({ tensor }) => (tensor < 0 ? [] : [tensor])),
    );
  // What a failed run would have returned is a guess, whatever was assumed to go on.
  return { ...seen.totals, inputBytes: bytes(one.inputs), outputBytes: one.completed ? bytes(one.outputs) : null };
}

/** The inputs or outputs of what is looked at: of the case that is picked, else of all cases, each tensor once. */
export function endsOf(record: Record, which: 'inputs' | 'outputs'): readonly Endpoint[] {
  const { cases, picked } = record;
  const one = picked === undefined ? undefined : cases[picked];
  return one ? one[which] : allEnds(record, which);
}

/** The inputs or outputs of all cases together. */
export function allEnds(record: Record, which: 'inputs' | 'outputs'): readonly Endpoint[] {
  const ends = new Map<string, Endpoint>();
  for (const end of [...record[which], ...record.cases.flatMap((one) => one[which])]) {
    const key = end.tensor >= 0 ? String(end.tensor) : `${end.name}\n${end.literal}`;
    if (!ends.has(key)) ends.set(key, end);
  }
  return [...ends.values()];
}

/** The totals of what is looked at; of all cases together the most that goes into one of them, or comes out. */
export function totalsSeen(record: Record): Totals {
  if (record.picked !== undefined || record.cases.length === 0) return record.totals;
  const each = record.cases.map((_, index) => caseView(record, index).totals);
  const most = (of: 'inputBytes' | 'outputBytes'): number | null => {
    const known = each.flatMap((totals) => totals[of] ?? []);
    return known.length === each.length ? Math.max(...known) : null;
  };
  return { ...record.totals, inputBytes: most('inputBytes'), outputBytes: most('outputBytes') };
}
