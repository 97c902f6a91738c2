/** What is alive at an op, by module: rows that add up to the line, equal blocks as one, blocks that add up too. */

import { describe, expect, test } from 'vitest';
import { PARTS } from '../../src/model/memory';
import { aliveAt, aliveByModule, memoryRows, sortMemoryRows } from '../../src/model/memory_alive';
import { aliveBlocks, type Block } from '../../src/model/memory_blocks';
import { linesOf } from '../../src/model/memory_lines';
import { memoryTree } from '../../src/model/memory_tree';
import type { Memory, Record } from '../../src/model/record';
import { goldenRecord } from '../golden/records';
import { randomRecord, smallRecord, visionRecord } from '../memory_models';

function withMemory(record: Record): { record: Record; memory: Memory; tree: ReturnType<typeof memoryTree> } {
  if (!record.memory) throw new Error('there is no memory');
  return { record, memory: record.memory, tree: memoryTree(record, record.memory) };
}

const RECORDS: readonly (readonly [string, () => Promise<Record>])[] = [
  ['a small net', () => Promise.resolve(smallRecord())],
  ['a vision transformer', () => Promise.resolve(visionRecord(4))],
  ['a random one', () => Promise.resolve(randomRecord(3, 50, 300))],
  ['what Python wrote of a training step', () => goldenRecord('healthy')],
  ['what Python wrote of shared modules', () => goldenRecord('twice')],
];

describe.each(RECORDS)('%s', (_name, made) => {
  test('has rows that add up to the line, and to the rows inside them', async () => {
    const { memory, tree } = withMemory(await made());
    const { total, parts } = linesOf(memory);
    for (let op = 0; op < total.length; op += 7) {
      const rows = memoryRows(memory, tree, op);
      expect(rows[0]?.bytes).toBe(total[op]);
      PARTS.forEach((_, i) => expect(rows[0]?.parts[i]).toBe(parts[i]?.[op]));
      const ends = rows.filter(({ inside }) => inside === 0);
      expect(ends.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(total[op]);
      for (const row of rows) {
        expect(row.parts.reduce((sum, bytes) => sum + bytes, 0)).toBe(row.bytes);
        const inside = rows.filter(({ under }) => under === row.key);
        expect(inside).toHaveLength(row.inside);
        if (inside.length) expect(inside.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(row.bytes);
      }
      expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length);
    }
  });

  test('has blocks that add up, each to what is inside it', async () => {
    const { record, memory, tree } = withMemory(await made());
    const { total, parts, peak } = linesOf(memory);
    const sum = (blocks: readonly Block[]): number => blocks.reduce((all, { bytes }) => all + bytes, 0);
    const check = (block: Block): void => {
      if (block.inside.length) expect(sum(block.inside)).toBeCloseTo(block.bytes, 3);
      block.inside.forEach(check);
    };
    for (const op of [0, peak.op, total.length - 1]) {
      const blocks = aliveBlocks(record, memory, tree, op);
      expect(sum(blocks)).toBeCloseTo(total[op] ?? 0, 3);
      for (const block of blocks) expect(block.bytes).toBeCloseTo(parts[block.part]?.[op] ?? 0, 3);
      blocks.forEach(check);
      const keys: string[] = [];
      const collect = (block: Block): void => {
        keys.push(block.key);
        block.inside.forEach(collect);
      };
      blocks.forEach(collect);
      expect(new Set(keys).size).toBe(keys.length);
    }
  });

  test('has a module for every storage that one made', async () => {
    const { record, memory } = withMemory(await made());
    const bytes = aliveByModule(record, memory, 0);
    const outside = aliveAt(memory, 0);
    expect(bytes[0]).toBeLessThanOrEqual(outside.reduce((sum, row) => sum + (memory.allocations.bytes[row] ?? 0), 0));
  });
});

test('equal blocks are one row, told once, with the parts of a block inside', () => {
  const { memory, tree } = withMemory(visionRecord(12));
  const rows = memoryRows(memory, tree, linesOf(memory).peak.op);
  const blocks = rows.find(({ node }) => node.name === 'blocks');
  expect(blocks?.node).toMatchObject({ times: 12, count: 12 });
  const inside = rows.filter(({ under }) => under === blocks?.key).map(({ node }) => node.name);
  expect(inside).toEqual(expect.arrayContaining(['norm1', 'attn', 'norm2', 'mlp']));
  expect(rows.filter(({ depth }) => depth === 1).map(({ node }) => node.name)).toEqual([
    'patch_embed',
    'blocks',
    'norm',
    'head',
    'images',
  ]);
});

test('rows sort among their siblings, and null is the order of execution', () => {
  const { memory, tree } = withMemory(smallRecord());
  const rows = memoryRows(memory, tree, 4);
  const names = (sort: Parameters<typeof sortMemoryRows>[1]): string[] => sortMemoryRows(rows, sort).map(({ node }) => node.name);
  expect(names(null)).toEqual(['all', 'fc1', 'act', 'fc2', 'x']);
  expect(names({ by: 'bytes', descending: true })).toEqual(['all', 'fc1', 'fc2', 'act', 'x']);
  expect(names({ by: 'parameters', descending: false })).toEqual(['all', 'act', 'x', 'fc2', 'fc1']);
  expect(names({ by: 'name', descending: false })).toEqual(['all', 'act', 'fc1', 'fc2', 'x']);
});

test('of an equal block what is alive stands inside it, with why', () => {
  const { record, memory, tree } = withMemory(visionRecord(12));
  const [activations] = aliveBlocks(record, memory, tree, linesOf(memory).peak.op);
  const times = activations?.inside[0];
  expect(times).toMatchObject({ kind: 'times', name: 'blocks', times: 12 });
  expect(times?.inside[0]).toMatchObject({ name: 'mlp.fc1', storages: 12, reason: 'kept as input of act (gelu)' });
});
