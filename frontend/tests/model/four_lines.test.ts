/** The line FROM: the arithmetic, who made the number, and behind that what would have fitted. */

import { describe, expect, test } from 'vitest';
import { fourLines, fourLinesText } from '../../src/model/four_lines';
import type { Finding, Record } from '../../src/model/record';
import { graphOf } from '../drawn';
import { failingCnn } from '../models';

function told(changed: Partial<Finding>): { readonly record: Record; readonly finding: Finding } {
  const record = failingCnn();
  const [first] = record.findings;
  if (!first) throw new Error('the model has no finding');
  const finding = { ...first, ...changed };
  return { record: { ...record, findings: [finding] }, finding };
}

describe('what would have fitted', () => {
  const why = '864 = 6·12·12; 1176 = 6·14·14 is what 32×32 for x gives';

  test('stands behind who made the number', () => {
    const { record, finding } = told({ why });
    expect(fourLines(record, finding).from).toMatchObject({
      why: '864 = 6·12·12',
      note: '1176 = 6·14·14 is what 32×32 for x gives',
    });
    expect(fourLinesText(record, finding)).toContain(
      'FROM   864 = 6·12·12, made by flatten of pool f32[4,6,12,12] (net.py:31); 1176 = 6·14·14 is what 32×32 for x gives',
    );
  });

  test('stands alone where nobody made it', () => {
    const { record, finding } = told({ why, origin: null });
    expect(fourLines(record, finding).from).toMatchObject({
      why: '864 = 6·12·12',
      verb: '',
      note: expect.stringContaining('32×32') as string,
    });
  });

  test('is no part of what the graph says of the origin', () => {
    const { nodes } = graphOf(told({ why }).record);
    expect(nodes.find((node) => node.state === 'origin')?.aside).toEqual(['makes 864', '= 6·12·12']);
  });
});

test('of a chain of sizes the graph says the one that the origin gave', () => {
  const { nodes } = graphOf(told({ why: '10 = 2·864, 864 = ⌊1729/2⌋, 1729 = 7·13·19' }).record);
  expect(nodes.find((node) => node.state === 'origin')?.aside).toEqual(['makes 864', '= ⌊1729/2⌋']);
});

test.each([
  ['torch.Tensor.__getitem__', 'indexing'],
  ['python.unpack', 'what was assumed'],
])('%s is told in words', (name, words) => {
  const { record, finding } = told({});
  const names = [...record.strings];
  const op = finding.origin?.opIndex ?? -1;
  names[record.ops.name[op] ?? 0] = name;
  expect(fourLines({ ...record, strings: names }, finding).from?.name).toBe(words);
});
