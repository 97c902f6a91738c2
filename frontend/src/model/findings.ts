/** Which findings are problems, in which order, and what on the screen each belongs to. */

import { callNumbered, groupsAround, isOneNode, moduleAt } from './calls';
import type { Finding, Record } from './record';

/** A thing of the record that can be selected. */
export type Subject =
  | { readonly kind: 'op'; readonly id: number }
  | { readonly kind: 'call'; readonly id: number }
  | { readonly kind: 'module'; readonly id: number };

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

/** What a finding stands at: the module call that is drawn as one node, else the op, else the module; null for the whole model. */
export function subjectOf(record: Record, finding: Finding): Subject | null {
  const module = moduleAt(record, finding.module);
  const call =
    finding.opIndex >= 0 ? (record.ops.call[finding.opIndex] ?? -1) : callNumbered(record, module, Math.max(1, finding.call));
  if (call >= 0 && isOneNode(record, call)) return { kind: 'call', id: call };
  if (finding.opIndex >= 0) return { kind: 'op', id: finding.opIndex };
  if (call >= 0) return { kind: 'call', id: call };
  return module > 0 ? { kind: 'module', id: module } : null;
}

/** The calls whose groups have to be open for a finding and its origin to be seen. */
export function callsToOpen(record: Record, finding: Finding): readonly number[] {
  const ops = [finding.opIndex, finding.origin?.opIndex ?? -1].filter((op) => op >= 0);
  return ops.flatMap((id) => groupsAround(record, { kind: 'op', id }));
}

/** Findings of a subject itself, followers included, errors first. */
export function findingsAt(record: Record, subject: Subject): readonly Finding[] {
  const at = record.findings.filter((finding) => {
    const mine = subjectOf(record, finding);
    if (mine?.kind === subject.kind && mine.id === subject.id) return true;
    return subject.kind === 'op' && finding.opIndex === subject.id;
  });
  const rank = { error: 0, warning: 1, note: 2 };
  return at.toSorted((a, b) => rank[a.severity] - rank[b.severity]);
}

/** Numbers of problems in one place. */
export interface Counts {
  readonly errors: number;
  readonly warnings: number;
}

/** Problems of each module and all below it. */
export function countsByModule(record: Record): readonly Counts[] {
  const counts = Array.from(record.modules.path, () => ({ errors: 0, warnings: 0 }));
  for (const { severity, module } of record.findings) {
    const word = severity === 'error' ? 'errors' : severity === 'warning' ? 'warnings' : null;
    if (!word) continue;
    for (let at = moduleAt(record, module); at >= 0; at = record.modules.parent[at] ?? -1) {
      const here = counts[at];
      if (here) here[word]++;
    }
  }
  return counts;
}

/** A sentence in pieces: the clashing numbers and the name of the origin's op are told apart. */
export interface Piece {
  readonly text: string;
  readonly tone: 'plain' | 'clash' | 'origin';
}

/** Splits a text at the finding's clashing numbers. */
export function clashPieces(finding: Finding, text: string): readonly Piece[] {
  const numbers = [...new Set([...finding.got.values(), ...finding.want.values()])].map(String);
  if (numbers.length === 0) return [{ text, tone: 'plain' }];
  const parts = text.split(new RegExp(`(?<![\\w.])(${numbers.join('|')})(?![\\w.]*\\w)`));
  return parts
    .map((part, i) => ({ text: part, tone: i % 2 ? ('clash' as const) : ('plain' as const) }))
    .filter((piece) => piece.text !== '');
}
