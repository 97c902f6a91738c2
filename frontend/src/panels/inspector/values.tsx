/** Contents of tensors that decided what ran: the statement, where it stands, what was read, and how far to trust it. */

import type { VNode } from 'preact';
import { TEXTS } from '../../base/texts';
import { placeText } from '../../model/four_lines';
import type { ReadValue } from '../../model/values_read';
import { select } from '../../state/actions';
import { CopyButton } from '../../widgets/copy_button';
import { Icon } from '../../widgets/icon';
import { Code, Section } from '../../widgets/section';

const MANY = 50;
const ORIGINS = ['assumed', 'random', 'read'] as const;

/** A section for each kind of contents, those to be careful with first. */
export function Values({ values }: { readonly values: readonly ReadValue[] }): VNode {
  return (
    <>
      {ORIGINS.map((origin) => {
        const mine = values.filter((value) => value.origin === origin);
        if (mine.length === 0) return null;
        return (
          <Section key={origin} head={TEXTS.valueHeads[origin]}>
            {TEXTS.valueNotes[origin] && <p class="muted">{TEXTS.valueNotes[origin]}</p>}
            <ul class="lines values">
              {mine.slice(0, MANY).map((value, i) => (
                <Value key={i} value={value} />
              ))}
              {mine.length > MANY && <li class="muted">{TEXTS.moreLines(mine.length - MANY)}</li>}
            </ul>
          </Section>
        );
      })}
    </>
  );
}

function Value({ value }: { readonly value: ReadValue }): VNode {
  const place = value.place && placeText(value.place.file, value.place.line);
  return (
    <li>
      <span>
        <Icon name={value.origin} size={14} /> <Code text={value.code} />
      </span>
      <span class="place-line">
        {place && (
          <span class="place muted">
            {place}
            <CopyButton text={place} what={place} />
          </span>
        )}
        <button type="button" class="link" onClick={() => select(sourceOf(value), true)}>
          {value.tensorName}
        </button>{' '}
        {value.literal && <b>{TEXTS.valueLiteral[value.origin](value.literal)}</b>}
        {value.op >= 0 && (
          <>
            {TEXTS.valueDecides}{' '}
            <button type="button" class="link" onClick={() => select({ kind: 'op', id: value.op }, true)}>
              {value.opName}
            </button>
          </>
        )}
      </span>
    </li>
  );
}

/** What was read: the op that made it, else the tensor itself. */
function sourceOf(value: ReadValue): { readonly kind: 'op' | 'tensor'; readonly id: number } {
  return value.producer >= 0 ? { kind: 'op', id: value.producer } : { kind: 'tensor', id: value.tensor };
}
