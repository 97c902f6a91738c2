/** Problems: their order, what they belong to, and what follows from what. */

import { beforeAll, expect, test } from 'vitest';
import { callsToOpen, clashPieces, findingsAt, problemsOf, subjectOf } from '../../src/model/findings';
import type { Finding, Record } from '../../src/model/record';
import { goldenRecord } from '../golden/records';

let record: Record;
let finding: Finding;
beforeAll(async () => {
  record = await goldenRecord('problem');
  const first = record.findings[0];
  if (!first) throw new Error('the golden record has lost its finding');
  finding = first;
});

const withFindings = (findings: readonly Finding[]): Record => ({ ...record, findings });

test('errors come before warnings; notes are no problems', () => {
  const kinds = ['note', 'warning', 'error', 'warning', 'error'] as const;
  const all = kinds.map((severity, i) => ({ ...finding, severity, kind: `${i}` }));
  expect(problemsOf(withFindings(all)).map((problem) => problem.finding.kind)).toEqual(['2', '4', '1', '3']);
});

test('what follows from a problem stands under it, however far', () => {
  const all = [finding, { ...finding, kind: 'second', causedBy: 0 }, { ...finding, kind: 'third', causedBy: 1 }];
  const [only, ...others] = problemsOf(withFindings(all));
  expect(others).toEqual([]);
  expect(only?.followers.map(({ kind }) => kind)).toEqual(['second', 'third']);
});

test('a failure inside a layer belongs to the layer, which the graph draws as one node', () => {
  const subject = subjectOf(record, finding);
  expect(subject?.kind).toBe('call');
  expect(record.strings[record.modules.path[record.calls.module[subject?.id ?? -1] ?? -1] ?? 0]).toBe('fc1');
  expect(findingsAt(record, { kind: 'call', id: subject?.id ?? -1 })).toEqual([finding]);
});

test('a finding without a place belongs to the whole model', () => {
  expect(subjectOf(record, { ...finding, module: '', call: 0, opIndex: -1 })).toEqual({ kind: 'call', id: 0 });
  expect(
    subjectOf({ ...record, calls: { ...record.calls, module: new Int32Array() } }, { ...finding, module: '', opIndex: -1 }),
  ).toBeNull();
});

test('a module that never ran is its own subject', () => {
  expect(subjectOf(record, { ...finding, module: 'aux', call: 0, opIndex: -1 })?.kind).toBe('module');
});

test('the groups around failure and origin are those to open', () => {
  expect(new Set(callsToOpen(record, finding))).toEqual(new Set([0]));
});

test('clashing numbers are told apart in a sentence, but not inside other numbers', () => {
  const pieces = clashPieces(finding, 'f32[4,864] is not 8640, in_features is 1176.');
  expect(pieces.filter(({ tone }) => tone === 'clash').map(({ text }) => text)).toEqual(['864', '1176']);
  expect(pieces.map(({ text }) => text).join('')).toBe('f32[4,864] is not 8640, in_features is 1176.');
});
