/** The ops at which an iteration may have its peak, whatever its storages weigh: those before something is freed again. */

import { opCount } from './memory';
import { spansOf } from './memory_lines';
import type { Memory } from './record';

/** Storages over crests instead of ops: many of both fall away, so that a peak can be asked for dozens of times a second. */
export interface Crests {
  readonly ops: Int32Array; // of each crest
  readonly rows: Int32Array; // the storages that are alive at one
  readonly first: Int32Array; // crests, of each of the rows
  readonly end: Int32Array;
}

const CRESTS = new WeakMap<Memory, Crests>();

/** The crests of an iteration, worked out once. */
export function crestsOf(memory: Memory): Crests {
  const known = CRESTS.get(memory) ?? findCrests(memory);
  CRESTS.set(memory, known);
  return known;
}

function findCrests(memory: Memory): Crests {
  const count = opCount(memory);
  const { first, end } = spansOf(memory);
  const [born, freed] = [new Uint8Array(count + 1), new Uint8Array(count + 1)];
  for (let row = 0; row < first.length; row++) {
    if (first[row] === end[row]) continue;
    born[first[row] ?? 0] = 1;
    freed[end[row] ?? 0] = 1;
  }
  const before = new Int32Array(count + 2); // crests before an op
  const ops: number[] = [];
  let grew = false;
  for (let op = 0; op < count; op++) {
    before[op] = ops.length;
    grew ||= born[op] === 1;
    // Between two frees it only grows: the last op before one is the highest of them.
    if (!grew || (freed[op + 1] === 0 && op + 1 < count)) continue;
    ops.push(op);
    grew = false;
  }
  before[count] = ops.length;
  const rows = new Int32Array(first.length);
  let kept = 0;
  for (let row = 0; row < first.length; row++)
    if ((before[first[row] ?? 0] ?? 0) < (before[end[row] ?? 0] ?? 0)) rows[kept++] = row;
  const seen = rows.subarray(0, kept);
  return {
    ops: Int32Array.from(ops),
    rows: seen,
    first: seen.map((row) => before[first[row] ?? 0] ?? 0),
    end: seen.map((row) => before[end[row] ?? 0] ?? 0),
  };
}
