/** The three points of an arrow's head. */

import type { HeadShape } from './shapes';

const LENGTH = 6;
const HALF = 3.25;

/** Tip, then the two corners behind it: x and y in turn. */
export function headPoints({ x, y, dx, dy }: HeadShape): readonly number[] {
  const bx = x - dx * LENGTH;
  const by = y - dy * LENGTH;
  return [x, y, bx - dy * HALF, by + dx * HALF, bx + dy * HALF, by - dx * HALF];
}
