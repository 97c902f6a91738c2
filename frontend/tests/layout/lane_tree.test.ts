/** The tree of lanes answers as a plain array would. */

import { expect, test } from 'vitest';
import { LaneTree } from '../../src/layout/lane_tree';
import { numbersFrom } from '../random_models';

test.each([1, 2, 7, 64, 100])('with %i rows', (count) => {
  const random = numbersFrom(count);
  const rows = Float64Array.from({ length: count }, () => Math.floor(random() * 50));
  const tree = new LaneTree(rows.slice());
  for (let i = 0; i < 200; i++) {
    const first = Math.floor(random() * count);
    const last = first + Math.floor(random() * (count - first));
    expect(tree.mostOf(first, last)).toBe(Math.max(...rows.subarray(first, last + 1)));
    const value = Math.floor(random() * 100);
    tree.raise(first, last, value);
    for (let row = first; row <= last; row++) rows[row] = Math.max(rows[row] ?? 0, value);
  }
});
