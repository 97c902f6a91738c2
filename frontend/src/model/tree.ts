/** The outline: modules as a tree in execution order, their calls where there are several, and the problems inside. */

import { callsByModule, childModules, firstCalls, moduleType, pathOf } from './calls';
import { casesOfCall, casesOfModules, isSeen, ranCall, told, type CaseSet } from './case_sets';
import { countsByCall, countsByModule, NO_PROBLEMS, type Counts, type Subject } from './findings';
import type { Record } from './record';
import { stateOfCall, type State } from './states';

/** A row of the outline. `key` is stable, `under` the key of the row above it. */
export interface OutlineRow {
  readonly key: string;
  readonly under: string | null;
  readonly depth: number; // 0 for the root
  readonly subject: Subject;
  readonly module: number;
  readonly call: number; // the call told by the row, -1 for a module that is only a container or was never called
  readonly name: string;
  readonly type: string;
  readonly state: State;
  readonly cases: CaseSet; // those that ran it, where not every case did; else []
  readonly calls: number; // of this module itself
  readonly params: number; // of the whole subtree, -1 unknown
  readonly counts: Counts;
  readonly inside: number; // rows directly below
}

/** Every row of the outline, parents before children, in the order in which things first ran; the never called last. */
export function outlineRows(record: Record): readonly OutlineRow[] {
  const calls = callsByModule(record);
  const children = childModules(record);
  const first = firstCalls(record);
  const [counts, ofCalls] = [countsByModule(record), countsByCall(record)];
  const cases = casesOfModules(record);
  const rows: OutlineRow[] = [];

  const stateOf = (module: number): State => {
    if (first[module] === Infinity) return 'never called';
    if (!isSeen(record, cases[module] ?? [])) return 'not run';
    if (counts[module]?.errors) return 'failed'; // itself, or something inside
    const outcomes = (calls[module] ?? []).filter((call) => ranCall(record, call)).map((call) => stateOfCall(record, call));
    return (
      outcomes.find((outcome) => outcome === 'failed') ??
      (outcomes.every((outcome) => outcome === 'assumed') && outcomes.length ? 'assumed' : 'ok')
    );
  };

  const visit = (module: number, under: string | null, depth: number): void => {
    const mine = calls[module] ?? [];
    const below = (children[module] ?? []).toSorted((a, b) => (first[a] ?? 0) - (first[b] ?? 0) || a - b);
    const key = `module-${module}`;
    const path = pathOf(record, module);
    const one = mine.length > 0 ? (mine[0] ?? -1) : -1;
    const several = mine.length > 1 ? mine : [];
    rows.push({
      key,
      under,
      depth,
      subject: one >= 0 ? { kind: 'call', id: one } : { kind: 'module', id: module },
      module,
      call: one,
      name: path === '' ? moduleType(record, module) || record.name : path.slice(path.lastIndexOf('.') + 1),
      type: path === '' ? '' : moduleType(record, module),
      state: stateOf(module),
      cases: first[module] === Infinity ? [] : told(record, cases[module] ?? []),
      calls: mine.filter((each) => ranCall(record, each)).length,
      params: record.modules.params[module] ?? -1,
      counts: counts[module] ?? NO_PROBLEMS,
      inside: several.length + below.length,
    });
    for (const call of several) rows.push(callRow(record, call, key, depth + 1, ofCalls[call] ?? NO_PROBLEMS));
    for (const child of below) visit(child, key, depth + 1);
  };
  record.modules.parent.forEach((parent, module) => {
    if (parent < 0) visit(module, null, 0);
  });
  return rows;
}

function callRow(record: Record, call: number, under: string, depth: number, counts: Counts): OutlineRow {
  return {
    key: `call-${call}`,
    under,
    depth,
    subject: { kind: 'call', id: call },
    module: record.calls.module[call] ?? 0,
    call,
    name: '',
    type: '',
    state: stateOfCall(record, call),
    cases: told(record, casesOfCall(record, call)),
    calls: 1,
    params: -1,
    counts,
    inside: 0,
  };
}

/** The rows that are seen when those of the given keys are open. */
export function shownRows<R extends { readonly key: string; readonly under: string | null }>(
  rows: readonly R[],
  open: ReadonlySet<string>,
): readonly R[] {
  const shown = new Set<string>();
  return rows.filter((row) => {
    if (row.under !== null && !(shown.has(row.under) && open.has(row.under))) return false;
    shown.add(row.key);
    return true;
  });
}

/** Keys of the rows around a row, so that it can be brought into sight. */
export function keysAround(
  rows: readonly { readonly key: string; readonly under: string | null }[],
  key: string,
): readonly string[] {
  const under = new Map(rows.map((row) => [row.key, row.under]));
  const around: string[] = [];
  for (let at = under.get(key) ?? null; at !== null; at = under.get(at) ?? null) around.push(at);
  return around;
}

/** The outline's row for what is selected; null for a tensor or an op outside any module. */
export function rowOf(
  rows: readonly OutlineRow[],
  record: Record,
  selected: { readonly kind: string; readonly id: number } | null,
): OutlineRow | null {
  if (!selected) return null;
  const call = selected.kind === 'op' ? (record.ops.call[selected.id] ?? -1) : selected.kind === 'call' ? selected.id : -1;
  const module = selected.kind === 'module' ? selected.id : (record.calls.module[call] ?? -1);
  return rows.find((row) => row.key === `call-${call}`) ?? rows.find((row) => row.key === `module-${module}`) ?? null;
}
