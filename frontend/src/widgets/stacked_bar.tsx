/** A bar made of parts in their hues, and a number with such a bar. */

import type { VNode } from 'preact';

export interface BarPart {
  readonly hue: number; // c0 to c6
  readonly share: number; // of the room
}

export function StackedBar({ parts }: { readonly parts: readonly BarPart[] }): VNode {
  return (
    <span class="stacked-bar" aria-hidden="true">
      {parts.map(({ hue, share }, i) =>
        share > 0 ? (
          <span
            key={i}
            style={{ width: `${(share * 100).toFixed(3)}%`, background: `var(--c${hue}-fill)`, borderTopColor: `var(--c${hue})` }}
          />
        ) : null,
      )}
    </span>
  );
}

/** A number, right-aligned, then its bar. */
export function NumberWithParts({ text, parts }: { readonly text: string; readonly parts: readonly BarPart[] }): VNode {
  return (
    <>
      <span>{text}</span>
      <span class="bar-room">
        <StackedBar parts={parts} />
      </span>
    </>
  );
}
