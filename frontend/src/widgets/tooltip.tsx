/** Tooltips of everything that has `data-tip`: one box, after 300 ms, on hover and on keyboard focus. Esc hides it. */

import { useEffect, useState } from 'preact/hooks';
import type { VNode } from 'preact';

const DELAY_MS = 300;
const GAP_PX = 6;

interface Tip {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly above: boolean;
}

export function Tooltip(): VNode | null {
  const [tip, setTip] = useState<Tip | null>(null);
  useEffect(() => listenForTips(setTip), []);
  if (!tip) return null;
  return (
    <div class={tip.above ? 'tooltip above' : 'tooltip'} role="tooltip" style={{ left: `${tip.x}px`, top: `${tip.y}px` }}>
      {tip.text}
    </div>
  );
}

function listenForTips(show: (tip: Tip | null) => void): () => void {
  let timer = 0;
  const hide = (): void => {
    window.clearTimeout(timer);
    show(null);
  };
  const aim = (event: Event): void => {
    const at = event.target instanceof Element ? event.target.closest('[data-tip]') : null;
    hide();
    if (!at) return;
    timer = window.setTimeout(() => {
      const box = at.getBoundingClientRect();
      const above = box.bottom > window.innerHeight - 60;
      const x = Math.max(8, Math.min(window.innerWidth - 328, box.left));
      if (at.isConnected)
        show({ text: at.getAttribute('data-tip') ?? '', x, y: above ? box.top - GAP_PX : box.bottom + GAP_PX, above });
    }, DELAY_MS);
  };
  const events: readonly (readonly [string, (event: Event) => void])[] = [
    ['mouseover', aim],
    ['focusin', aim],
    ['mouseout', hide],
    ['focusout', hide],
    ['pointerdown', hide],
    ['keydown', hide],
    ['wheel', hide],
  ];
  for (const [name, heard] of events) document.addEventListener(name, heard, { passive: true });
  return () => {
    hide();
    for (const [name, heard] of events) document.removeEventListener(name, heard);
  };
}
