/** The keys of a list of rows that open and close, as the tree pattern of ARIA has them. */

export interface TreeRow {
  readonly key: string;
  readonly under: string | null;
  readonly depth: number;
  readonly inside: number; // rows directly below
}

interface Acts {
  move(row: TreeRow): void;
  toggle(row: TreeRow): void;
}

/** Does what a key asks of the shown rows; false where it asks nothing. `at` is -1 before anything was chosen. */
export function pressRow(key: string, rows: readonly TreeRow[], at: number, open: ReadonlySet<string>, acts: Acts): boolean {
  const row = rows[at];
  const moveTo = (index: number): boolean => {
    const to = rows[Math.max(0, Math.min(rows.length - 1, index))];
    if (to) acts.move(to);
    return true;
  };
  const isOpen = row !== undefined && row.inside > 0 && open.has(row.key);
  switch (key) {
    case 'ArrowDown':
      return moveTo(at + 1);
    case 'ArrowUp':
      return moveTo(at - 1);
    case 'Home':
      return moveTo(0);
    case 'End':
      return moveTo(rows.length - 1);
    case 'ArrowRight':
      if (isOpen) return moveTo(at + 1);
      if (row && row.inside > 0) acts.toggle(row);
      return true;
    case 'ArrowLeft':
      if (isOpen) acts.toggle(row);
      else if (row?.under != null) moveTo(rows.findIndex((each) => each.key === row.under));
      return true;
    case 'Enter':
      if (row && row.inside > 0) acts.toggle(row);
      return true;
    default:
      return false;
  }
}

/** The set with the key added or taken out. */
export function toggled(open: ReadonlySet<string>, key: string): ReadonlySet<string> {
  const next = new Set(open);
  if (!next.delete(key)) next.add(key);
  return next;
}
