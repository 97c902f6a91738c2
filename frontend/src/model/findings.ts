/** Which findings are problems, in which order, and what on the screen each belongs to. */

import { compactDtype } from '../base/format';
import { callNumbered, groupsAround, isOneNode, moduleAt } from './calls';
import type { Finding, Place, Record } from './record';
import { dtypeOf } from './tensors';

/** A thing of the record that can be selected. */
export type Subject =
  | { readonly kind: 'op'; readonly id: number }
  | { readonly kind: 'call'; readonly id: number }
  | { readonly kind: 'module'; readonly id: number };

/** What of a place says where it is. */
type Where = Pick<Place, 'module' | 'call' | 'opIndex'>;

/** A finding that stands for itself, with those that only follow from it. */
export interface Problem {
  readonly finding: Finding;
  readonly severity: 'error' | 'warning';
  readonly followers: readonly Finding[];
}

/** Errors before warnings, each kind as recorded; notes and what follows from another are no problems of their own. */
export function problemsOf(record: Record): readonly Problem[] {
  const ofSeverity = (severity: 'error' | 'warning'): readonly Problem[] =>
    record.findings.flatMap((finding, i) =>
      finding.severity === severity && finding.causedBy < 0 ? [{ finding, severity, followers: followersOf(record, i) }] : [],
    );
  return [...ofSeverity('error'), ...ofSeverity('warning')];
}

function followersOf(record: Record, cause: number): readonly Finding[] {
  return record.findings.filter((finding) => {
    let at = finding.causedBy;
    while (at >= 0 && at !== cause) at = record.findings[at]?.causedBy ?? -1;
    return at === cause;
  });
}

/** Whether a fault lies outside of all that was recorded: where a batch is put together, in a loss, in code around the model. */
export function isOutside(finding: Finding): boolean {
  return finding.opIndex < 0 && finding.module === '' && finding.moduleType === '';
}

/** What a finding stands at: the module call that is drawn as one node, else the op, else the module; null for the whole model. */
export function subjectOf(record: Record, finding: Finding): Subject | null {
  return isOutside(finding) ? null : subjectAt(record, finding);
}

/** What one of a finding's places stands at. */
export function subjectAt(record: Record, { module, call, opIndex }: Where): Subject | null {
  const path = opIndex >= 0 ? -1 : moduleAt(record, module);
  const inside = opIndex >= 0 ? (record.ops.call[opIndex] ?? -1) : callNumbered(record, path, Math.max(1, call));
  if (inside >= 0 && isOneNode(record, inside)) return { kind: 'call', id: inside };
  if (opIndex >= 0) return { kind: 'op', id: opIndex };
  if (inside >= 0) return { kind: 'call', id: inside };
  return path > 0 ? { kind: 'module', id: path } : null;
}

/** The calls whose groups have to be open for a finding and its origin to be seen. */
export function callsToOpen(record: Record, finding: Finding): readonly number[] {
  const ops = [finding.opIndex, finding.origin?.opIndex ?? -1].filter((op) => op >= 0);
  return ops.flatMap((id) => groupsAround(record, { kind: 'op', id }));
}

/** Findings of a subject itself, at any of their places, followers included, errors first. */
export function findingsAt(record: Record, subject: Subject): readonly Finding[] {
  const isHere = (place: Where): boolean => {
    if (subject.kind === 'op' && place.opIndex === subject.id) return true;
    const at = subjectAt(record, place);
    return at?.kind === subject.kind && at.id === subject.id;
  };
  const at = record.findings.filter((finding) => !isOutside(finding) && [finding, ...finding.places].some(isHere));
  const rank = { error: 0, warning: 1, note: 2 };
  return at.toSorted((a, b) => rank[a.severity] - rank[b.severity]);
}

/** Numbers of problems in one place; those that only follow from another are counted apart. */
export interface Counts {
  readonly errors: number;
  readonly warnings: number;
  readonly followers: number;
}

export const NO_PROBLEMS: Counts = { errors: 0, warnings: 0, followers: 0 };

/** Problems of each module and all below it: one that stands at several places there counts once. */
export function countsByModule(record: Record): readonly Counts[] {
  const byPath = new Map(Array.from(record.modules.path, (path, module) => [record.strings[path] ?? '', module]));
  return countsAlong(record, record.modules.parent, ({ module }) => byPath.get(module) ?? -1);
}

/** Problems of each call and all that ran in it. */
export function countsByCall(record: Record): readonly Counts[] {
  return countsAlong(record, record.calls.parent, ({ module, call, opIndex }) => {
    if (opIndex >= 0) return record.ops.call[opIndex] ?? -1;
    let at = moduleAt(record, module);
    const own = callNumbered(record, at, Math.max(1, call));
    if (own >= 0) return own;
    // Of a module that never ran: the call around it.
    let around = -1;
    while (around < 0 && at >= 0) around = callNumbered(record, (at = record.modules.parent[at] ?? -1), 1);
    return around;
  });
}

function countsAlong(record: Record, parents: Int32Array, rowOf: (place: Where) => number): readonly Counts[] {
  const counts = Array.from(parents, () => NO_PROBLEMS);
  for (const finding of record.findings) {
    if (finding.severity === 'note' || isOutside(finding)) continue;
    const word = finding.causedBy >= 0 ? 'followers' : finding.severity === 'error' ? 'errors' : 'warnings';
    const rows = new Set<number>();
    for (const place of [finding, ...finding.places])
      for (let at = rowOf(place); at >= 0 && !rows.has(at); at = parents[at] ?? -1) rows.add(at);
    for (const row of rows) {
      const here = counts[row] ?? NO_PROBLEMS;
      counts[row] = { ...here, [word]: here[word] + 1 };
    }
  }
  return counts;
}

/** A sentence in pieces: the clashing numbers are told apart. */
export interface Piece {
  readonly text: string;
  readonly tone: 'plain' | 'clash';
}

// A type `f32[4,864]`; a number that only counts something: `dim 1`; a number.
const TOKENS = /([a-z]+\d*\[[\d,]*\])|(\b(?:dims?|axis|item|index|argument|input|call|layer) \d+)|(?<![\w.])(\d+)(?![\w.]*\w)/g;

/** Splits a text at the finding's clashing numbers: in a tensor's type at the dims that clash, elsewhere at their values. */
export function clashPieces(record: Record, finding: Finding, text: string): readonly Piece[] {
  const numbers = new Set([...finding.got.values(), ...finding.want.values()].map(String));
  const types = markedTypes(record, finding);
  const pieces: Piece[] = [];
  const add = (piece: string, tone: Piece['tone']): void => {
    const last = pieces.at(-1);
    if (last?.tone === tone) pieces[pieces.length - 1] = { text: last.text + piece, tone };
    else if (piece !== '') pieces.push({ text: piece, tone });
  };
  let end = 0;
  for (const token of text.matchAll(TOKENS)) {
    const [whole, type, , number] = token;
    add(text.slice(end, token.index), 'plain');
    end = token.index + whole.length;
    if (type !== undefined) for (const { text: part, tone } of typePieces(type, types.get(type) ?? new Set())) add(part, tone);
    else add(whole, number !== undefined && numbers.has(number) ? 'clash' : 'plain');
  }
  add(text.slice(end), 'plain');
  return pieces;
}

/** The types of the tensors that clash, as they are written, with the dims that do; a weight's also turned over, as a linear layer takes it. */
function markedTypes(record: Record, { marks }: Finding): ReadonlyMap<string, ReadonlySet<number>> {
  const types = new Map<string, Set<number>>();
  for (const { tensor, dim } of marks) {
    const dims = record.shapes[record.tensors.shape[tensor] ?? 0] ?? [];
    const dtype = compactDtype(dtypeOf(record, tensor));
    const written = [[dims, dim] as const, ...(dims.length === 2 ? [[dims.toReversed(), 1 - dim] as const] : [])];
    for (const [sizes, at] of written) {
      const type = `${dtype}[${sizes.join(',')}]`;
      types.set(type, (types.get(type) ?? new Set()).add(at));
    }
  }
  return types;
}

function typePieces(type: string, clashing: ReadonlySet<number>): readonly Piece[] {
  const start = type.indexOf('[') + 1;
  const dims = type.slice(start, -1).split(',');
  return [
    { text: type.slice(0, start), tone: 'plain' },
    ...dims.flatMap((dim, i): Piece[] => [
      ...(i ? [{ text: ',', tone: 'plain' } as const] : []),
      { text: dim, tone: clashing.has(i) ? 'clash' : 'plain' },
    ]),
    { text: ']', tone: 'plain' },
  ];
}
