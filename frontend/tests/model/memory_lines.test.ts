/** The line over the ops: what a naive sum gives, its peak, and as few points as one likes without losing it. */

import { describe, expect, test } from 'vitest';
import { opWords, PARTS, partOf, reasonOf, stretchesOf } from '../../src/model/memory';
import { alongside, drawn, linesOf, maximaOver, stretchesAbove, totalLine, valuesAt } from '../../src/model/memory_lines';
import { byteAxis, roomiest } from '../../src/model/scale';
import type { Memory, Record } from '../../src/model/record';
import { randomRecord, SMALL_PEAK, smallRecord, visionRecord } from '../memory_models';

function memoryOf({ memory }: Record): Memory {
  if (!memory) throw new Error('there is no memory');
  return memory;
}

/** Bytes of a part that are alive at an op, straight from what the columns mean. */
function naive(memory: Memory, op: number, part: number): number {
  const { bytes, born, life } = memory.allocations;
  let sum = 0;
  bytes.forEach((size, row) => {
    const first = Math.max(born[row] ?? 0, 0);
    if (first <= op && op < first + (life[row] ?? 0) && (part < 0 || partOf(memory, row) === part)) sum += size;
  });
  return sum;
}

test('a step that one can add up by hand has its peak where it must', () => {
  const { peak, parts, total } = linesOf(memoryOf(smallRecord()));
  expect(peak).toEqual(SMALL_PEAK);
  expect(PARTS.map((part, i) => [part, parts[i]?.[peak.op]])).toEqual([
    ['parameters', 150],
    ['optimizer', 300],
    ['gradients', 0],
    ['inputs', 40],
    ['activations', 140],
    ['temporaries', 20],
  ]);
  expect(Array.from(total)).toEqual([570, 630, 630, 630, 650, 570, 590, 590]);
});

test.each([1, 2, 3, 4, 5])('lines are what a naive sum gives: %i', (seed) => {
  const memory = memoryOf(randomRecord(seed, 60, 200));
  const { total, parts, peak } = linesOf(memory);
  for (let op = 0; op < 60; op++) {
    expect(total[op]).toBe(naive(memory, op, -1));
    parts.forEach((part, i) => expect(part[op]).toBe(naive(memory, op, i)));
  }
  expect(peak.bytes).toBe(Math.max(...total));
  expect(totalLine(memory)).toEqual(total);
});

test.each([
  [1000, 90],
  [1000, 1],
  [40, 90],
])('%i ops in %i points keep the peak, and each point is its highest', (ops, most) => {
  const { total, peak } = linesOf(memoryOf(randomRecord(7, ops, 400)));
  const points = drawn(total, most);
  const values = valuesAt(total, points);
  expect(points.highest).toHaveLength(Math.min(ops, most));
  expect(Math.max(...values)).toBe(peak.bytes);
  points.highest.forEach((op, i) => {
    const stretch = total.slice(points.starts[i], points.starts[i + 1]);
    expect(total[op]).toBe(Math.max(...stretch));
  });
  expect(Array.from(maximaOver(total, points, (op) => op))).toEqual(Array.from(values));
});

test('no op at all is no peak', () => {
  const { peak, total } = linesOf(memoryOf(smallRecord({ ops: [], phases: [], storages: [] })));
  expect(peak).toEqual({ op: -1, bytes: 0 });
  expect(drawn(total, 100).highest).toHaveLength(0);
});

test('another way to train stands beside the logged one, phase beside phase', () => {
  const [logged, other] = [memoryOf(smallRecord()), memoryOf(smallRecord())];
  const longer: Memory = {
    ...other,
    ops: { name: new Int32Array(12), call: new Int32Array(12) },
    phases: other.phases.map(({ phase, end }) => ({ phase, end: phase === 'backward' || phase === 'step' ? end + 4 : end })),
  };
  const along = alongside(logged, longer);
  expect([0, 3, 4, 7, 8].map(along)).toEqual([0, 3, 4, 11, 12]);
  expect(along(5.5)).toBe(7.5);
});

test('stretches above nothing are found, apart from each other', () => {
  expect(stretchesAbove(Float64Array.of(0, 1, 2, 0, 0, 3))).toEqual([
    { first: 1, end: 3 },
    { first: 5, end: 6 },
  ]);
});

describe('in words', () => {
  test('an op says its way, its module, its name and its number', () => {
    const record = smallRecord();
    expect(opWords(record, memoryOf(record), 4)).toBe('backward of fc2, aten.mm, op 4');
    expect(opWords(record, memoryOf(record), 0)).toBe('fc1, aten.addmm, op 0');
    expect(opWords(record, memoryOf(record), 3)).toBe('loss, aten.sum, op 3');
    expect(opWords(record, memoryOf(record), 7)).toBe('optimizer step, aten._foreach_add_, op 7');
  });

  test('a storage says why it is alive', () => {
    const record = smallRecord();
    expect(Array.from({ length: 8 }, (_, row) => reasonOf(record, memoryOf(record), row))).toEqual([
      'parameter',
      'parameter',
      'optimizer state',
      'input of the model',
      'kept as input of act (relu)',
      'made by relu, kept for its backward',
      'made by mm for a moment',
      'gradient of weight',
    ]);
  });

  test('phases without ops are left out, several of a kind are kept', () => {
    const record = smallRecord({
      phases: [
        ['forward', 3],
        ['loss', 3],
        ['backward', 5],
        ['forward', 6],
        ['backward', 8],
      ],
    });
    expect(stretchesOf(memoryOf(record)).map(({ phase, first, end }) => [phase, first, end])).toEqual([
      ['forward', 0, 3],
      ['backward', 3, 5],
      ['forward', 5, 6],
      ['backward', 6, 8],
    ]);
  });

  test('a vision transformer is at its peak where the backward begins', () => {
    const record = visionRecord();
    const { peak } = linesOf(memoryOf(record));
    expect(opWords(record, memoryOf(record), peak.op)).toMatch(/^backward of /);
  });
});

describe('an axis', () => {
  test.each([
    [29.58, ['0', '8', '16', '24', '32']],
    [650, ['0', '200', '400', '600', '800']],
    [0.42, ['0.0', '0.1', '0.2', '0.3', '0.4', '0.5']],
    [1, ['0.0', '0.2', '0.4', '0.6', '0.8', '1.0']],
  ])('to %d has round steps', (most, texts) => {
    const axis = byteAxis(most, { name: '', bytes: 1 });
    expect(axis.ticks.map(({ text }) => text)).toEqual(texts);
    expect(axis.most).toBeGreaterThanOrEqual(most);
  });

  test('a name stands where there is most room, or nowhere', () => {
    const tops = Float64Array.of(1, 1, 1, 9, 9, 9, 9, 1, 1);
    expect(roomiest(tops, new Float64Array(9), 1, 2)).toMatchObject({ at: 4, low: 0, high: 9 });
    expect(roomiest(tops, new Float64Array(9), 1, 10)).toBeNull();
    expect(roomiest(tops, new Float64Array(9), 1, 2, 4)).toBeNull();
  });
});
