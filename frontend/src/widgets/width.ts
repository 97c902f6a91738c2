/** How wide an element is, as it changes. */

import { useEffect, useState } from 'preact/hooks';
import type { RefObject } from 'preact';

/** px of an element's width; `first` until it was measured, and while it is hidden. */
export function useWidth(element: RefObject<HTMLElement | null>, first: number): number {
  const [width, setWidth] = useState(first);
  useEffect(() => {
    const measured = element.current;
    if (!measured) return;
    const observer = new ResizeObserver(([entry]) => {
      // TensorBoard keeps the tab at height 0 while another one is shown.
      if (entry && entry.contentRect.width > 0) setWidth(entry.contentRect.width);
    });
    observer.observe(measured);
    return () => observer.disconnect();
  }, [element]);
  return width;
}
