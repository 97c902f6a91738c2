/** The treemap: areas as bytes are, nothing outside, nothing upon another. */

import { expect, test } from 'vitest';
import { overlaps } from '../../src/base/geometry';
import { GAP_PX, treemapCells, type Cell } from '../../src/layout/treemap';
import { aliveBlocks, type Block } from '../../src/model/memory_blocks';
import { PARTS } from '../../src/model/memory';
import { linesOf } from '../../src/model/memory_lines';
import { memoryTree } from '../../src/model/memory_tree';
import { visionRecord } from '../memory_models';

function blocks(): readonly Block[] {
  const record = visionRecord();
  if (!record.memory) throw new Error('there is no memory');
  return aliveBlocks(record, record.memory, memoryTree(record, record.memory), linesOf(record.memory).peak.op);
}

const plain = (cells: readonly Cell[]): readonly Cell[] => cells.filter(({ head }) => !head);
const area = ({ box }: Cell): number => (box.w + GAP_PX) * (box.h + GAP_PX);

test('areas are as bytes are, within one ×N', () => {
  const cells = plain(treemapCells(blocks(), 4000, 3000)).filter(
    ({ around, block }) => around.length === 1 && PARTS[block.part] === 'activations',
  );
  expect(cells.length).toBeGreaterThan(5);
  const perByte = cells.map((cell) => area(cell) / cell.block.bytes);
  expect(Math.max(...perByte) / Math.min(...perByte)).toBeLessThan(1.03);
});

test('the parts are slices: the largest on top over the whole width, the others below it', () => {
  const cells = treemapCells(blocks(), 600, 300);
  const low = cells.filter(({ block }) => block.kind === 'part');
  expect(low.map(({ block }) => block.name)).toEqual(['optimizer', 'parameters', 'temporaries', 'inputs', 'gradients']);
  expect(new Set(low.map(({ box }) => box.y)).size).toBe(1);
});

test.each([
  [560, 300],
  [240, 180],
  [60, 40],
])('in %i × %i px nothing is outside and nothing upon another', (width, height) => {
  const cells = plain(treemapCells(blocks(), width, height));
  for (const [i, { box }] of cells.entries()) {
    expect(box.x).toBeGreaterThanOrEqual(0);
    expect(box.x + box.w).toBeLessThanOrEqual(width + 0.01);
    expect(box.y + box.h).toBeLessThanOrEqual(height + 0.01);
    for (const other of cells.slice(i + 1))
      expect(box.w > 0.01 && other.box.w > 0.01 && overlaps({ ...box, w: box.w - 0.01, h: box.h - 0.01 }, other.box)).toBe(false);
  }
});

test('no room and no blocks are no cells', () => {
  expect(treemapCells(blocks(), 0, 0)).toEqual([]);
  expect(treemapCells([], 100, 100)).toEqual([]);
});
