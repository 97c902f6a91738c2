/** Problems: their order, what they belong to, and what follows from what. */

import { beforeAll, expect, test } from 'vitest';
import {
  callsToOpen,
  clashPieces,
  countsByCall,
  countsByModule,
  findingsAt,
  isOutside,
  problemsOf,
  subjectAt,
  subjectOf,
  type Counts,
} from '../../src/model/findings';
import type { Finding, Record } from '../../src/model/record';
import { goldenRecord } from '../golden/records';
import { brokenBlocks, failingCnn } from '../models';

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

test('a finding of the model itself belongs to its call', () => {
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

test('a fault outside of the model is at nothing in it, and counts nowhere in it', () => {
  const outside = { ...finding, module: '', moduleType: '', call: 0, opIndex: -1, places: [] };
  expect(isOutside(outside)).toBe(true);
  expect(subjectOf(record, outside)).toBeNull();
  expect(countsByModule(withFindings([outside])).every(({ errors }) => errors === 0)).toBe(true);
  expect(findingsAt(withFindings([outside]), { kind: 'call', id: 0 })).toEqual([]);
});

const countsOf = (blocks: Record, counts: readonly Counts[], of: 'modules' | 'calls'): string[] =>
  counts.map(({ errors, followers }, i) => {
    const module = of === 'modules' ? i : (blocks.calls.module[i] ?? 0);
    return `${blocks.strings[blocks.modules.path[module] ?? 0] ?? ''} ${errors} ${followers}`;
  });

test('a fault at many places counts once in what holds them, and at each of them; what follows counts apart', () => {
  const blocks = brokenBlocks(2);
  const byPlace = ['block0 1 0', 'block0.wide 0 0', 'block0.narrow 1 0', 'block1 1 0', 'block1.wide 0 0', 'block1.narrow 1 0'];
  expect(countsOf(blocks, countsByModule(blocks), 'modules')).toEqual([' 1 1', 'head 0 1', ...byPlace]);
  expect(countsOf(blocks, countsByCall(blocks), 'calls')).toEqual([' 1 1', ...byPlace, 'head 0 1']);
});

test('of a module that never ran, the call around it counts the problem', () => {
  const net = failingCnn();
  expect(countsByCall(net)[0]).toEqual({ errors: 1, warnings: 1, followers: 0 });
  expect(countsByCall(net).filter(({ warnings }) => warnings)).toHaveLength(1);
});

test('it is found at each of its places', () => {
  const blocks = brokenBlocks(3);
  const [first] = blocks.findings;
  const subjects = first?.places.map((place) => subjectAt(blocks, place)) ?? [];
  expect(subjects.map((subject) => subject?.kind)).toEqual(['call', 'call', 'call']);
  expect(new Set(subjects.map((subject) => subject?.id)).size).toBe(3);
  for (const subject of subjects) expect(subject && findingsAt(blocks, subject)).toEqual([first]);
});

const clashing = (of: Record, told: Finding, text: string): string[] => {
  const pieces = clashPieces(of, told, text);
  expect(pieces.map((piece) => piece.text).join('')).toBe(text);
  return pieces.filter(({ tone }) => tone === 'clash').map((piece) => piece.text);
};

test('clashing numbers are told apart in a sentence, but not inside other numbers', () => {
  expect(clashing(record, finding, 'f32[4,864] is not 8640, in_features is 1176.')).toEqual(['864', '1176']);
});

test('in a type only the dims that clash, also of a weight turned over; a number that counts something is none', () => {
  const net = failingCnn();
  const told = { ...(net.findings[0] ?? finding), got: new Map([['size', 4]]), want: new Map([['size', 120]]) };
  expect(clashing(net, told, 'dim 4 of f32[4,864] is 4, of f32[1176,120] 120')).toEqual(['864', '4', '1176', '120']);
  expect(clashing(net, told, 'f32[4,4] and f32[120]')).toEqual([]);
  expect(clashing(net, told, 'weight is [4, 8] in the checkpoint')).toEqual(['4']);
});

test('a sentence without a clash is one piece', () => {
  expect(clashPieces(record, { ...finding, got: new Map(), want: new Map(), marks: [] }, "KeyError: 'lr' at 3")).toEqual([
    { text: "KeyError: 'lr' at 3", tone: 'plain' },
  ]);
});
