/** Numbers, bytes and types are written as the table shared with Python says. */

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  bytesText,
  compactDtype,
  compactType,
  countText,
  dimText,
  itemBytes,
  letterOf,
  pathEnd,
  shapeText,
  shortCount,
} from '../../src/base/format';

interface Table {
  bytes: [number | null, string][];
  counts: [number | null, string][];
  short_counts: [number | null, string][];
  shapes: [number[], string][];
  types: [string, number[], string, string][];
  dtypes: [string, string, number | null][];
}
const TABLE = JSON.parse(readFileSync(new URL('../../../tests/golden/units.json', import.meta.url), 'utf8')) as Table;

test.each(TABLE.bytes)('%s bytes are written "%s"', (size, text) => {
  expect(bytesText(size)).toBe(text);
});

test.each(TABLE.counts)('the count %s is written "%s"', (count, text) => {
  expect(countText(count)).toBe(text);
});

test.each(TABLE.short_counts)('the large count %s is written "%s"', (count, text) => {
  expect(shortCount(count)).toBe(text);
});

test('a negative count has a minus sign, not a hyphen', () => {
  expect(countText(-1312)).toBe('−1,312');
});

test('shapes and types are written as in the console', () => {
  for (const [shape, text] of TABLE.shapes) expect(shapeText(shape)).toBe(text);
  for (const [dtype, shape, device, text] of TABLE.types) expect(compactType(dtype, shape, device)).toBe(text);
  for (const [dtype, short, bytes] of TABLE.dtypes) expect([compactDtype(dtype), itemBytes(dtype)]).toEqual([short, bytes]);
});

test('a dim that varies is told as its ends, a case by a letter', () => {
  expect([dimText(64, 64), dimText(64, 512)]).toEqual(['64', '64…512']);
  expect([0, 25, 26, 27, 52, 701, 702].map(letterOf)).toEqual(['A', 'Z', 'AA', 'AB', 'BA', 'ZZ', 'AAA']);
});

test('of a long path one sees the end, in whole parts where one fits', () => {
  expect(pathEnd('net.py:3', 20)).toBe('net.py:3');
  expect(pathEnd('site-packages/torch/utils/data/collate.py:272', 30)).toBe('…/utils/data/collate.py:272');
  expect(pathEnd('a/an_endless_name_of_a_file.py:1', 12)).toBe('…a_file.py:1');
  for (const most of [4, 12, 17, 30, 44])
    expect(pathEnd('site-packages/torch/utils/data/collate.py:272', most).length).toBeLessThanOrEqual(most);
});
