/** Ids in addresses come back as they went, and what is no id is refused. */

import { expect, test } from 'vitest';
import { idText, parseId } from '../../src/base/ids';
import { registry } from '../../src/base/registry';

test('an id comes back as it went', () => {
  expect(parseId(idText('op', 12), ['op', 'call'])).toEqual({ kind: 'op', id: 12 });
});

test.each(['', 'op', 'op-', 'op--1', 'op-1.5', 'op-99999999999', 'evil-1', 'op-1 '])('"%s" is no id', (text) => {
  expect(parseId(text, ['op', 'call'])).toBeNull();
});

test('a registry keeps its order and refuses the same id twice', () => {
  expect(registry([{ id: 'b' }, { id: 'a' }]).map(({ id }) => id)).toEqual(['b', 'a']);
  expect(() => registry([{ id: 'a' }, { id: 'a' }])).toThrow('registered as "a"');
});
