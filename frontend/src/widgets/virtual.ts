/** Which rows of a long list are in sight, so that a hundred thousand rows cost no more than fifty. */

import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from '@tanstack/virtual-core';
import { useEffect, useMemo, useReducer, useRef } from 'preact/hooks';
import type { RefObject } from 'preact';

export interface Sight {
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly rows: readonly { readonly index: number; readonly start: number }[];
  readonly height: number; // px of the whole list
  show(index: number): void;
}

const FIRST_RECT = { width: 800, height: 600 }; // before the element was measured

/** The rows in sight of a list of `count` rows, each `rowHeight` px high, below `top` px of something that stays. */
export function useSight(count: number, rowHeight: number, top = 0): Sight {
  const scroller = useRef<HTMLDivElement>(null);
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const virtual = useMemo(
    () =>
      new Virtualizer<HTMLDivElement, HTMLElement>({
        count,
        estimateSize: () => rowHeight,
        getScrollElement: () => scroller.current,
        observeElementOffset,
        observeElementRect: (instance, changed) =>
          observeElementRect(instance, (rect) => changed(rect.height > 0 ? rect : FIRST_RECT)),
        scrollToFn: elementScroll,
        initialRect: FIRST_RECT,
        overscan: 8,
        onChange: redraw,
      }),
    [],
  );
  virtual.setOptions({
    ...virtual.options,
    count,
    estimateSize: () => rowHeight,
    scrollPaddingStart: top,
    scrollPaddingEnd: rowHeight,
  });
  useEffect(() => virtual._didMount(), [virtual]);
  useEffect(() => virtual._willUpdate());
  useEffect(() => virtual.measure(), [virtual, rowHeight]);
  return {
    scroller,
    rows: virtual.getVirtualItems(),
    height: virtual.getTotalSize(),
    show: (index) => virtual.scrollToIndex(index, { align: 'auto' }),
  };
}
