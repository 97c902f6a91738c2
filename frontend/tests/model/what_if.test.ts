/** Memory at other sizes: what a naive sum gives, and the largest that fits is the largest that fits. */

import { describe, expect, test } from 'vitest';
import { crestsOf } from '../../src/model/crests';
import { GIB, isNear, limitFor, sensibleLimit } from '../../src/model/device';
import { linesOf, peakOf, totalLine } from '../../src/model/memory_lines';
import type { Memory, Record, Size, WhatIf } from '../../src/model/record';
import { allowedSize, bytesWith, factorsOf, largestThatFits, loggedSizes, peakWith, sliderEnd } from '../../src/model/what_if';
import { randomRecord, SMALL_WHAT_IF, smallBuilder, visionRecord } from '../memory_models';

function asked({ memory, whatIf }: Record): { memory: Memory; whatIf: WhatIf } {
  if (!memory || !whatIf) throw new Error('nobody asked');
  return { memory, whatIf };
}

test('a scale is the product of a polynomial of each size', () => {
  const { whatIf } = asked(randomRecord(1, 10, 10));
  expect(Array.from(factorsOf(whatIf, [4, 16]))).toEqual([1, 1, 1]);
  expect(Array.from(factorsOf(whatIf, [8, 32]))).toEqual([1, 2, 2 * (0.5 + 0.5 * 4)]);
});

test.each([1, 2, 3, 4, 5, 6])('the peak is that of the whole line: %i', (seed) => {
  const { memory, whatIf } = asked(randomRecord(seed, 80, 250));
  for (const sizes of [
    [4, 16],
    [1, 8],
    [37, 16],
    [9, 240],
  ]) {
    const factors = factorsOf(whatIf, sizes);
    const whole = peakOf(totalLine(memory, bytesWith(memory, factors)));
    expect(peakWith(memory, factors).bytes).toBe(Math.round(whole.bytes));
  }
  expect(peakWith(memory, factorsOf(whatIf, loggedSizes(whatIf))).bytes).toBe(linesOf(memory).peak.bytes);
});

test('crests are fewer than ops, and among them is every peak', () => {
  const { memory } = asked(visionRecord(6));
  const { ops, rows } = crestsOf(memory);
  expect(ops.length).toBeLessThan(memory.ops.name.length / 4);
  expect(rows.length).toBeLessThanOrEqual(memory.allocations.bytes.length);
});

describe('the largest that fits', () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8])('is what trying one after the other gives: %i', (seed) => {
    const { memory, whatIf } = asked(randomRecord(seed, 40, 60));
    const logged = loggedSizes(whatIf);
    const peak = peakWith(memory, factorsOf(whatIf, logged)).bytes;
    for (const limit of [0.3, 0.9, 1, 1.7, 6].map((part) => part * peak))
      whatIf.sizes.forEach((size, index) => {
        let best: number | null = null;
        for (let value = size.least; value < size.least + 200 * size.step; value += size.step) {
          const sizes = logged.map((each, i) => (i === index ? value : each));
          if (peakWith(memory, factorsOf(whatIf, sizes)).bytes > limit) break;
          best = value;
        }
        expect(largestThatFits(whatIf, memory, logged, index, limit)).toBe(best);
      });
  });

  test('is every one where nothing grows, and none where not even the least fits', () => {
    const { memory, whatIf } = asked(smallBuilder({}, { ...SMALL_WHAT_IF, scales: [[[1]], [[1]]] }).build());
    expect(largestThatFits(whatIf, memory, [4], 0, 1000)).toBe(Infinity);
    expect(largestThatFits(whatIf, memory, [4], 0, 100)).toBeNull();
  });
});

describe('a slider', () => {
  const size: Size = { name: 'sequence', logged: 128, least: 8, step: 8, axes: [] };

  test('keeps to what the answers hold for', () => {
    expect([0, 11, 13, 128, NaN].map((wanted) => allowedSize(size, wanted))).toEqual([8, 8, 16, 128, 8]);
  });

  test('ends where what fits is seen, and the logged size is not lost', () => {
    expect(sliderEnd(size, null)).toBe(160);
    expect(sliderEnd(size, 400)).toBe(456);
    expect(sliderEnd(size, Infinity)).toBe(2048);
  });
});

test('the device is the smallest that holds the peak, until somebody chooses', () => {
  expect([1, 24 * GIB, 25 * GIB, 900 * GIB].map(limitFor)).toEqual([24, 24, 40, 80]);
  expect([24, 0, -1, NaN, null].map(sensibleLimit)).toEqual([24, null, null, null, null]);
  expect([isNear(1, 100), isNear(50, 100)]).toEqual([false, true]);
});
