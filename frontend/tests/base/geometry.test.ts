/** Boxes and paths. */

import { expect, test } from 'vitest';
import { grown, overlaps, roundedPath, unionOf } from '../../src/base/geometry';

const box = (x: number, y: number, w: number, h: number): { x: number; y: number; w: number; h: number } => ({ x, y, w, h });

test('boxes that share a border do not overlap', () => {
  expect(overlaps(box(0, 0, 10, 10), box(10, 0, 10, 10))).toBe(false);
  expect(overlaps(box(0, 0, 10, 10), box(9, 9, 10, 10))).toBe(true);
});

test('the union of boxes holds them all, of none is nothing', () => {
  expect(unionOf([box(0, 0, 1, 1), box(5, -2, 2, 1)])).toEqual(box(0, -2, 7, 3));
  expect(unionOf([])).toBeNull();
  expect(grown(box(1, 1, 2, 2), 1)).toEqual(box(0, 0, 4, 4));
});

test('corners are rounded by the radius, or by half of a leg that is shorter', () => {
  expect(roundedPath([0, 0, 0, 20, 20, 20], 6)).toEqual([
    { kind: 'move', x: 0, y: 0 },
    { kind: 'line', x: 0, y: 14 },
    { kind: 'turn', cx: 0, cy: 20, x: 6, y: 20 },
    { kind: 'line', x: 20, y: 20 },
  ]);
  expect(roundedPath([0, 0, 0, 4, 20, 4], 6)[1]).toEqual({ kind: 'line', x: 0, y: 2 });
});
