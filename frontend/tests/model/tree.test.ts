/** The outline: execution order, problems that bubble up, calls of modules that ran more than once. */

import { beforeAll, describe, expect, test } from 'vitest';
import type { Record } from '../../src/model/record';
import { keysAround, outlineRows, rowOf, shownRows } from '../../src/model/tree';
import { goldenRecord } from '../golden/records';

let problem: Record;
let twice: Record;
beforeAll(async () => {
  [problem, twice] = await Promise.all([goldenRecord('problem'), goldenRecord('twice')]);
});

test('modules stand in execution order, what never ran last, with its state', () => {
  const rows = outlineRows(problem);
  expect(rows.map(({ name, state }) => [name, state])).toEqual([
    ['Net', 'failed'],
    ['conv1', 'ok'],
    ['pool', 'ok'],
    ['drop', 'ok'],
    ['fc1', 'failed'],
    ['fc2', 'assumed'],
    ['fc3', 'assumed'],
    ['aux', 'never called'],
  ]);
});

test('problems bubble up to every module around them, and to no other', () => {
  const counts = new Map(outlineRows(problem).map(({ name, counts }) => [name, counts.errors]));
  expect([counts.get('Net'), counts.get('fc1'), counts.get('fc2')]).toEqual([1, 1, 0]);
});

test('parameters of the rows below add up to those of the whole', () => {
  const [root, ...below] = outlineRows(problem);
  expect(below.reduce((sum, { params }) => sum + params, 0)).toBe(root?.params);
});

describe('a module called twice', () => {
  test('has a row for each call inside its own', () => {
    const rows = outlineRows(twice);
    const shared = rows.find(({ name }) => name === 'shared');
    expect(shared?.calls).toBe(2);
    expect(rows.filter(({ under }) => under === shared?.key)).toHaveLength(2);
  });

  test('is found by either call, and by an op inside', () => {
    const rows = outlineRows(twice);
    const [first, second] = rows.filter(({ key, name }) => key.startsWith('call-') && name === '');
    expect(rowOf(rows, twice, { kind: 'call', id: second?.call ?? -1 })).toBe(second);
    expect(rowOf(rows, twice, { kind: 'op', id: twice.calls.firstOp[first?.call ?? 0] ?? -1 })).toBe(first);
  });
});

test('a container that is never called itself counts as called when something inside is', () => {
  expect(outlineRows(twice).find(({ name }) => name === 'blocks')?.state).toBe('ok');
});

test('only rows whose every row above is open are shown', () => {
  const rows = outlineRows(twice);
  const blocks = rows.find(({ name }) => name === 'blocks');
  const root = rows[0];
  expect(shownRows(rows, new Set()).map(({ name }) => name)).toEqual(['Twice']);
  expect(shownRows(rows, new Set([blocks?.key ?? '']))).toHaveLength(1);
  expect(shownRows(rows, new Set([root?.key ?? '', blocks?.key ?? ''])).map(({ name }) => name)).toEqual([
    'Twice',
    'blocks',
    '0',
    '1',
    'shared',
  ]);
});

test('the rows around a row are those to open for it', () => {
  const rows = outlineRows(twice);
  const inner = rows.find(({ depth }) => depth === 3);
  expect(keysAround(rows, inner?.key ?? '')).toHaveLength(3);
});
