/** Numbers that a user has set, kept in this browser. */

import { useState } from 'preact/hooks';

const PREFIX = 'shapes.size.';

/** What is kept under a name, null for nothing. */
export function recall(name: string): number | null {
  try {
    const text = window.localStorage.getItem(PREFIX + name);
    return text === null || !Number.isFinite(Number(text)) ? null : Number(text);
  } catch {
    return null; // storage may be forbidden
  }
}

/** Keeps a number under a name; null forgets it. */
export function keep(name: string, size: number | null): void {
  try {
    if (size === null) window.localStorage.removeItem(PREFIX + name);
    else window.localStorage.setItem(PREFIX + name, String(size));
  } catch {
    // Then the size lasts as long as the page.
  }
}

/** A size in px under its name; null until the user sets one, and again after setting null. */
export function useRemembered(name: string): readonly [number | null, (size: number | null) => void] {
  const [size, setSize] = useState(() => recall(name));
  return [
    size,
    (next) => {
      keep(name, next === null ? null : Math.round(next));
      setSize(next);
    },
  ];
}
