/** What a failing op got against what it wanted: dim by dim where one dim of one tensor says it, else number by number. */

import { casesWith } from './case_sets';
import { subjectOf, type Subject } from './findings';
import type { Finding, Record } from './record';
import { dimsOf, type Dim } from './tensors';

/** The clashing shape beside the one that was wanted, dim by dim. */
export interface GotWanted {
  readonly gotWord: string;
  readonly wantWord: string;
  readonly got: readonly Dim[];
  readonly wanted: readonly (number | null)[]; // null: any
}

/** One number under the word that the field uses for it; null where that side has none. */
export interface NumberPair {
  readonly word: string;
  readonly got: number | null;
  readonly wanted: number | null;
}

/** The requirement that is broken at a subject, of the first error that stands there first of all. */
export function requirementOf(
  record: Record,
  findings: readonly Finding[],
  subject: Subject,
): { readonly gotWanted: GotWanted | null; readonly numbers: readonly NumberPair[] } {
  const finding = findings.find((each) => each.severity === 'error' && standsAt(record, each, subject));
  if (!finding) return { gotWanted: null, numbers: [] };
  const gotWanted = gotWantedOf(record, finding);
  return { gotWanted, numbers: gotWanted ? [] : numbersOf(finding) };
}

/** Its other places have tensors of their own, whose sizes may be others. */
function standsAt(record: Record, finding: Finding, subject: Subject): boolean {
  if (subject.kind === 'op' && finding.opIndex === subject.id) return true;
  const own = subjectOf(record, finding);
  return own?.kind === subject.kind && own.id === subject.id;
}

/** Only where one number stands against one other, and the first mark says at which dim. */
function gotWantedOf(record: Record, finding: Finding): GotWanted | null {
  const mark = finding.marks[0];
  if (!mark || finding.got.size !== 1 || finding.want.size !== 1) return null;
  const [gotWord, gotNumber] = [...finding.got][0] ?? ['', 0];
  const [wantWord, wantNumber] = [...finding.want][0] ?? ['', 0];
  const got = dimsOf(record, mark.tensor, [mark], casesWith(record, finding));
  if (got[mark.dim]?.size !== gotNumber) return null;
  return { gotWord, wantWord, got, wanted: got.map((_, dim) => (dim === mark.dim ? wantNumber : null)) };
}

function numbersOf({ got, want }: Finding): readonly NumberPair[] {
  return [...new Set([...got.keys(), ...want.keys()])].map((word) => ({
    word,
    got: got.get(word) ?? null,
    wanted: want.get(word) ?? null,
  }));
}
