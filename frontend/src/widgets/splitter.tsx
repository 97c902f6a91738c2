/** The line between two panels: dragged, or moved with the arrow keys; a double click gives the usual size back. */

import type { VNode } from 'preact';

interface Props {
  readonly label: string;
  readonly across: 'x' | 'y'; // the axis along which it moves
  readonly grows: 1 | -1; // whether moving right or down makes the panel larger
  readonly size: number; // px
  readonly least: number;
  readonly most: number;
  readonly resize: (size: number | null) => void;
}

const STEP_PX = 16;

export function Splitter({ label, across, grows, size, least, most, resize }: Props): VNode {
  const clamp = (to: number): number => Math.max(least, Math.min(most, to));
  const drag = (down: PointerEvent): void => {
    const line = down.currentTarget as HTMLElement;
    const start = across === 'x' ? down.clientX : down.clientY;
    line.setPointerCapture(down.pointerId);
    const move = (event: PointerEvent): void =>
      resize(clamp(size + grows * ((across === 'x' ? event.clientX : event.clientY) - start)));
    line.addEventListener('pointermove', move);
    line.addEventListener('lostpointercapture', () => line.removeEventListener('pointermove', move), { once: true });
  };
  const press = (event: KeyboardEvent): void => {
    const [less, more] = across === 'x' ? ['ArrowLeft', 'ArrowRight'] : ['ArrowUp', 'ArrowDown'];
    if (event.key !== less && event.key !== more) return;
    event.preventDefault();
    resize(clamp(size + grows * (event.key === more ? STEP_PX : -STEP_PX)));
  };
  return (
    <div
      class={`splitter splitter-${across}`}
      role="separator"
      tabIndex={0}
      aria-label={label}
      aria-orientation={across === 'x' ? 'vertical' : 'horizontal'}
      aria-valuenow={Math.round(size)}
      aria-valuemin={least}
      aria-valuemax={Math.round(most)}
      onPointerDown={drag}
      onKeyDown={press}
      onDblClick={() => resize(null)}
    />
  );
}
