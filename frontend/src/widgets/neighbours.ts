/** Which of some boxes the arrow keys lead to: the nearest in that direction. */

import type { Box } from '../base/geometry';

const DIRECTIONS: Readonly<Record<string, readonly [x: number, y: number]>> = {
  ArrowRight: [1, 0],
  ArrowLeft: [-1, 0],
  ArrowDown: [0, 1],
  ArrowUp: [0, -1],
};

/** The index of the box that a key leads to from the one at `at`; -1 where it leads nowhere. */
export function nextAt(key: string, boxes: readonly Box[], at: number): number {
  if (key === 'Home') return boxes.length ? 0 : -1;
  if (key === 'End') return boxes.length - 1;
  const [direction, from] = [DIRECTIONS[key], boxes[at]];
  if (!direction || !from) return -1;
  const [dx, dy] = direction;
  let best = -1;
  let least = Infinity;
  boxes.forEach((box, i) => {
    const [x, y] = [box.x + box.w / 2 - from.x - from.w / 2, box.y + box.h / 2 - from.y - from.h / 2];
    const along = dx * x + dy * y;
    const isBeyond = dx
      ? dx > 0
        ? box.x >= from.x + from.w - 1
        : box.x + box.w <= from.x + 1
      : dy > 0
        ? box.y >= from.y + from.h - 1
        : box.y + box.h <= from.y + 1;
    if (i === at || !isBeyond) return;
    const across = Math.abs(dx ? y : x);
    const distance = along + 2 * across;
    if (distance < least) [best, least] = [i, distance];
  });
  return best;
}
