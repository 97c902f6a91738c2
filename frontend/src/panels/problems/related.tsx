/** What belongs to a problem and is folded under it: its other places, and what only follows from it. */

import type { VNode } from 'preact';
import { pathEnd } from '../../base/format';
import { TEXTS } from '../../base/texts';
import { subjectAt, subjectOf, type Subject } from '../../model/findings';
import { placeText } from '../../model/four_lines';
import type { Finding, Place, Record } from '../../model/record';
import { select } from '../../state/actions';
import * as app from '../../state/app_state';

const MANY = 100; // lines of one list; the rest is told as a number
const PLACE_LENGTH = 36;

/** The places after the first one, which the line WHERE tells. */
export function OtherPlaces({ record, finding }: { readonly record: Record; readonly finding: Finding }): VNode | null {
  const others = finding.places.slice(1);
  if (others.length === 0) return null;
  const line = (place: Place): string => {
    const elsewhere = place.file !== finding.file || place.line !== finding.line;
    const name = place.module || place.op.slice(place.op.lastIndexOf('.') + 1);
    const call = place.call > 1 ? TEXTS.callNumber(place.call) : '';
    const where = elsewhere ? pathEnd(placeText(place.file, place.line), PLACE_LENGTH) : '';
    return [name, call, where].filter(Boolean).join(', ');
  };
  return (
    <details class="folded">
      <summary>{TEXTS.otherPlaces(others.length)}</summary>
      <Lines lines={others.map((place) => ({ text: line(place), subject: subjectAt(record, place) }))} />
    </details>
  );
}

/** What fails only because this did. */
export function Followers({
  record,
  followers,
}: {
  readonly record: Record;
  readonly followers: readonly Finding[];
}): VNode | null {
  if (followers.length === 0) return null;
  return (
    <details class="folded">
      <summary>{TEXTS.follows(followers.length)}</summary>
      <Lines lines={followers.map((finding) => ({ text: finding.message, subject: subjectOf(record, finding) }))} />
    </details>
  );
}

function Lines({ lines }: { readonly lines: readonly { readonly text: string; readonly subject: Subject | null }[] }): VNode {
  const selected = app.selection.value;
  const isHere = (subject: Subject): boolean => subject.kind === selected?.kind && subject.id === selected.id;
  return (
    <ul class="lines">
      {lines.slice(0, MANY).map(({ text, subject }, i) => (
        <li key={i}>
          {subject ? (
            <button type="button" class="link" aria-current={isHere(subject)} onClick={() => select(subject, true)}>
              {text}
            </button>
          ) : (
            text
          )}
        </li>
      ))}
      {lines.length > MANY && <li class="muted">{TEXTS.moreLines(lines.length - MANY)}</li>}
    </ul>
  );
}
