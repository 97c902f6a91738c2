/** Contents that were read and branches that never ran, at the things that they belong to. */

import { expect, test } from 'vitest';
import { branchesAt, linesText } from '../../src/model/never_ran';
import type { Record } from '../../src/model/record';
import { sourceLines } from '../../src/model/source';
import { valuesAt, valuesRead } from '../../src/model/values_read';
import { mlp, twoWays } from '../models';
import { RecordBuilder } from '../record_builder';

test('a reading tells statement, place, number and how far to trust it', () => {
  expect(
    valuesRead(twoWays()).map(({ origin, literal, code, place, tensorName }) => [tensorName, origin, literal, code, place?.file]),
  ).toEqual([
    ['norm', 'read', '37.5', 'torch.Tensor.norm(…)', 'ways.py'],
    ['rand', 'random', '0.3', 'torch.rand(…)', 'ways.py'],
    ['image', 'assumed', '', expect.any(String), 'ways.py'],
  ]);
  expect(valuesRead(mlp())).toEqual([]);
});

test('it is found at the op that made it, the op that depends on it, the tensor, and the module around', () => {
  const b = new RecordBuilder('Net');
  b.module('part', 'Part');
  const scale = b.value('part.scale', [1], 'buffer');
  let mask = -1;
  b.call('part', [b.input('x', [4])], (x = -1) => {
    mask = b.op('torch.gt', [x], [4]);
    return b.op('torch.nonzero', [mask], [2, 1]);
  });
  b.reads(mask, 'read', '', 1);
  b.reads(scale, 'read', 'True');
  const record = b.build();
  const at = (kind: string, id: number): number[] => valuesAt(record, { kind, id }).map(({ tensor }) => tensor);
  expect([at('op', 0), at('op', 1), at('tensor', mask), at('tensor', scale)]).toEqual([[mask], [mask], [mask], [scale]]);
  expect([at('call', 0), at('call', 1), at('module', 1)]).toEqual([[], [mask, scale], []]);
  expect(valuesRead(record)[0]).toMatchObject({ opName: 'nonzero', producer: 0 });
});

test('a module has the branches of its own code, the root all; nobody asked is nothing', () => {
  const record = twoWays();
  expect(branchesAt(record, 3)?.map(linesText)).toEqual(['ways.py:41']);
  expect(branchesAt(record, 0)?.map(linesText)).toEqual(['ways.py:20–22', 'ways.py:41']);
  expect(branchesAt(record, 1)).toEqual([]);
  expect(branchesAt(mlp(), 0)).toBeNull();
});

test("the source's lines below a head that led nowhere step back; the head itself ran", () => {
  const record = twoWays();
  const { sources } = record;
  const at = record.ops.source[0] ?? -1;
  const body = ['x = 1', 'if self.training:', '    y = 2', '    z = 3', 'return x'].join('\n');
  const full: Record = {
    ...record,
    strings: [...record.strings, body],
    sources: { ...sources, line: sources.line.map(() => 21), endLine: sources.endLine.map(() => 21) },
  };
  const told = {
    ...full,
    sources: { ...full.sources, text: sources.text.map(() => record.strings.length), textLine: sources.textLine.map(() => 19) },
  };
  expect(sourceLines(told, at, -1).map(({ line, tone }) => [line, tone])).toEqual([
    [19, 'plain'],
    [20, 'plain'],
    [21, 'here'],
    [22, 'never ran'],
    [23, 'plain'],
  ]);
});
