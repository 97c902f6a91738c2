/** Branches of forwards that no run took, by the module whose code they stand in. */

import { pathOf } from './calls';
import type { Branch, Record } from './record';

/** Those of a module; of the root all. null where nobody asked. */
export function branchesAt(record: Record, module: number): readonly Branch[] | null {
  if (record.branches === null || pathOf(record, module) === '') return record.branches;
  return record.branches.filter(({ modules }) => modules.includes(module));
}

/** `net.py:31–34`; one number where it is one line. */
export function linesText({ file, line, endLine }: Branch): string {
  return endLine > line ? `${file}:${line}–${endLine}` : `${file}:${line}`;
}
