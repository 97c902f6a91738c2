/** The marks and icons: inline drawings of a 16 px box. The word beside an icon carries the name, so all are hidden from readers. */

import type { VNode } from 'preact';

const FILLED = {
  error: ['M8 1a7 7 0 1 1 0 14A7 7 0 0 1 8 1z', 'M5.5 5.5l5 5M10.5 5.5l-5 5'],
  warn: ['M8 1.5L15 14H1z', 'M8 6v4M8 11.4v1.2'],
  origin: ['M8 1l7 7-7 7-7-7z', 'M8 6a2 2 0 1 1 0 4a2 2 0 0 1 0-4z'],
} as const;

const DRAWN = {
  ok: 'M3 8.5l3.2 3.2L13 5',
  ghost: 'M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2z',
  open: 'M4 6.5l4 4 4-4',
  closed: 'M6.5 4l4 4-4 4',
  back: 'M9.5 4l-4 4 4 4',
  sort: 'M8 3v10M4.5 9.5L8 13l3.5-3.5',
  copy: 'M7 5.5h5a1.5 1.5 0 0 1 1.5 1.5v5a1.5 1.5 0 0 1-1.5 1.5H7A1.5 1.5 0 0 1 5.5 12V7A1.5 1.5 0 0 1 7 5.5zM10.5 3.5v-1h-8v8h1',
  link: 'M6.8 9.2a2.6 2.6 0 0 0 3.7 0l2.2-2.2a2.6 2.6 0 0 0-3.7-3.7l-.8.8M9.2 6.8a2.6 2.6 0 0 0-3.7 0L3.3 9a2.6 2.6 0 0 0 3.7 3.7l.8-.8',
  help: 'M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2zM6.2 6.4a1.8 1.8 0 1 1 2.6 1.6c-.6.3-.8.6-.8 1.2M8 11.2v.1',
  close: 'M4 4l8 8M12 4l-8 8',
  read: 'M1.5 8C4.5 3.8 11.5 3.8 14.5 8C11.5 12.2 4.5 12.2 1.5 8zM8 6.2a1.8 1.8 0 1 1 0 3.6a1.8 1.8 0 0 1 0-3.6z',
  assumed: 'M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2zM6.2 6.4a1.8 1.8 0 1 1 2.6 1.6c-.6.3-.8.6-.8 1.2M8 11.2v.1',
  random: 'M4.5 2.5h7a2 2 0 0 1 2 2v7a2 2 0 0 1-2 2h-7a2 2 0 0 1-2-2v-7a2 2 0 0 1 2-2zM5.5 5.5v.1M8 8v.1M10.5 10.5v.1',
  list: 'M2.5 4h11M5 8h8.5M5 12h8.5',
} as const;

const HEAVY: ReadonlySet<string> = new Set(['ok']);

export type IconName = keyof typeof FILLED | keyof typeof DRAWN;

/** An icon in the text's colour, the marks in their own; `size` in px. */
export function Icon({ name, size = 12 }: { readonly name: IconName; readonly size?: number }): VNode {
  return (
    <svg class={`icon icon-${name}`} width={size} height={size} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      {name in FILLED ? (
        <>
          <path d={FILLED[name as keyof typeof FILLED][0]} class="filled" />
          <path d={FILLED[name as keyof typeof FILLED][1]} class={name === 'origin' ? 'cut' : 'sign'} />
        </>
      ) : (
        <path
          d={DRAWN[name as keyof typeof DRAWN]}
          class="drawn"
          stroke-width={HEAVY.has(name) ? 2 : 1.5}
          stroke-dasharray={name === 'ghost' ? '2.2' : undefined}
        />
      )}
    </svg>
  );
}
