/** The table of layers: one row a call, sums that agree, sorting that keeps groups together. */

import { beforeAll, expect, test } from 'vitest';
import type { Record } from '../../src/model/record';
import { largest, layerRows, sortRows } from '../../src/model/rows';
import { goldenRecord } from '../golden/records';

let problem: Record;
let twice: Record;
beforeAll(async () => {
  [problem, twice] = await Promise.all([goldenRecord('problem'), goldenRecord('twice')]);
});

const shape = (dims: readonly { size: number }[]): string => dims.map(({ size }) => size).join('×');

test('each layer tells what goes in and what comes out', () => {
  const rows = layerRows(problem).map(({ name, input, output }) => [name, shape(input.dims), shape(output.dims), output.assumed]);
  expect(rows).toEqual([
    ['Net', '4×1×28×28', '4×10', true],
    ['conv1', '4×1×28×28', '4×6×24×24', false],
    ['pool', '4×6×24×24', '4×6×12×12', false],
    ['drop', '4×864', '4×864', false],
    ['fc1', '4×864', '4×120', true],
    ['fc2', '4×120', '4×84', true],
    ['fc3', '4×84', '4×10', true],
    ['aux', '', '', false],
  ]);
});

test('a clash is red where its number arrives, not where it leaves', () => {
  const clashing = layerRows(problem).flatMap(({ name, input, output }) => [
    ...(input.dims.some(({ clash }) => clash) ? [`into ${name}`] : []),
    ...(output.dims.some(({ clash }) => clash) ? [`out of ${name}`] : []),
  ]);
  expect(clashing).toEqual(['into fc1']);
});

test('parameters add up to the total, a second call adding nothing', () => {
  for (const record of [problem, twice]) {
    const rows = layerRows(record);
    const leaves = rows.filter(({ inside }) => inside === 0);
    expect(leaves.reduce((sum, { params }) => sum + (params ?? 0), 0)).toBe(record.totals.params);
  }
  expect(
    layerRows(twice)
      .filter(({ name }) => name === 'shared')
      .map(({ number, countedIn }) => [number, countedIn]),
  ).toEqual([
    [1, 0],
    [2, 1],
  ]);
});

test('a layer that was never called says so and has no bytes', () => {
  const aux = layerRows(problem).at(-1);
  expect(aux).toMatchObject({ name: 'aux', state: 'never called', params: 850, outputBytes: null, subject: { kind: 'module' } });
});

test('rows sort among their siblings, and back to execution order', () => {
  const rows = layerRows(problem);
  const sorted = sortRows(rows, { by: 'params', descending: true }).map(({ name }) => name);
  expect(sorted.slice(0, 4)).toEqual(['Net', 'fc1', 'fc2', 'fc3']);
  expect(sortRows(rows, null)).toBe(rows);
  const nested = sortRows(layerRows(twice), { by: 'name', descending: true });
  for (const [i, row] of nested.entries())
    if (row.under !== null) expect(nested.slice(0, i).some(({ key }) => key === row.under)).toBe(true);
});

test('what is unknown comes last, whichever way the sort goes', () => {
  const rows = layerRows(problem);
  for (const descending of [true, false]) expect(sortRows(rows, { by: 'outputBytes', descending }).at(-1)?.name).toBe('aux');
});

test('bars end at the largest layer, not at the total', () => {
  expect(largest(layerRows(problem))).toMatchObject({ params: 141240, outputBytes: 55296 });
});
