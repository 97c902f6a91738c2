/** Sizes that a user has set, kept in this browser. */

import { useState } from 'preact/hooks';

const PREFIX = 'shapes.size.';

function stored(name: string): number | null {
  try {
    const text = window.localStorage.getItem(PREFIX + name);
    return text === null || !Number.isFinite(Number(text)) ? null : Number(text);
  } catch {
    return null; // storage may be forbidden
  }
}

function store(name: string, size: number | null): void {
  try {
    if (size === null) window.localStorage.removeItem(PREFIX + name);
    else window.localStorage.setItem(PREFIX + name, String(Math.round(size)));
  } catch {
    // Then the size lasts as long as the page.
  }
}

/** A size in px under its name; null until the user sets one, and again after setting null. */
export function useRemembered(name: string): readonly [number | null, (size: number | null) => void] {
  const [size, setSize] = useState(() => stored(name));
  return [
    size,
    (next) => {
      store(name, next);
      setSize(next);
    },
  ];
}
