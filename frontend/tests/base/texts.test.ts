/** The table of texts holds what the interface says, and no more. */

import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { TEXTS } from '../../src/base/texts';

test('every text is used somewhere', () => {
  const folder = new URL('../../src/', import.meta.url);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name));
  const source = files.map((name) => readFileSync(new URL(name, folder), 'utf8')).join('\n');
  expect(Object.keys(TEXTS).filter((key) => !new RegExp(`TEXTS\\.${key}\\b`).test(source))).toEqual([]);
});
