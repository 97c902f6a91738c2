/** Which rows of a tree are open: of a newly shown record the first level, then what is opened by hand, and what leads to the selection. */

import { useSignal, useSignalEffect, type ReadonlySignal, type Signal } from '@preact/signals';
import { keysAround } from '../model/tree';
import { logged } from './app_state';

interface Row {
  readonly key: string;
  readonly under: string | null; // key of the row above it in the tree
  readonly depth: number;
}

/** The keys of the open rows, at first of those that `opens`; `selected` is the key of the selected one. */
export function useOpenRows<R extends Row>(
  rows: ReadonlySignal<readonly R[]>,
  selected: ReadonlySignal<string | null>,
  opens: (row: R) => boolean = ({ depth }) => depth === 0,
): Signal<ReadonlySet<string>> {
  const open = useSignal<ReadonlySet<string>>(new Set());
  useSignalEffect(() => {
    if (!logged.value) return;
    const first = rows.peek().filter(opens);
    open.value = new Set(first.map(({ key }) => key));
  });
  useSignalEffect(() => {
    const around = selected.value === null ? [] : keysAround(rows.value, selected.value);
    if (around.some((key) => !open.peek().has(key))) open.value = new Set([...open.peek(), ...around]);
  });
  return open;
}
