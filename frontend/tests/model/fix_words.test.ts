/** A fix's text: what of it is code, and what is copied. */

import { expect, test } from 'vitest';
import { fixCode, fixPieces } from '../../src/model/fix_words';

test.each([
  ['nn.Linear(400, 120)', 'nn.Linear(400, 120)'],
  ['nn.Linear(64, 32), and the same in 11 more places', 'nn.Linear(64, 32)'],
  ['blocks[0].up = nn.Linear(32, 63), and the same in 11 more places', 'blocks[0].up = nn.Linear(32, 63)'],
  ['F.pad(self.up[level](x), [0, 1, 0, 1]) in cat', 'F.pad(self.up[level](x), [0, 1, 0, 1])'],
  ['norm(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)', 'norm(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)'],
  ['view(-1, 144) and nn.Linear(144, 18)', 'view(-1, 144)\nnn.Linear(144, 18)'],
  ['model.batch_size = 16', 'model.batch_size = 16'],
  ['mask[..., 0] in cross_entropy', 'mask[..., 0]'],
  ["samples['x'].expand(2, -1) in stack", "samples['x'].expand(2, -1)"],
  ['DataLoader(…, collate_fn=…) that pads the items, or keeps them as a list', 'DataLoader(…, collate_fn=…)'],
  ["the second operand.to('meta') in add", "the second operand.to('meta') in add"],
  ['labels that count from 0: y - 1', 'labels that count from 0: y - 1'],
  [
    'expand the one of batch 1 along its batch axis: .expand(-1, 2, -1)',
    'expand the one of batch 1 along its batch axis: .expand(-1, 2, -1)',
  ],
  ['', ''],
])('of "%s" one copies "%s"', (text, code) => {
  expect(fixCode(text)).toBe(code);
  expect(
    fixPieces(text)
      .map((piece) => piece.text)
      .join(''),
  ).toBe(text);
});

test('words alone are no code', () => {
  expect(fixPieces('as many targets as predictions')).toEqual([{ text: 'as many targets as predictions', isCode: false }]);
  expect(fixPieces('x.float() and more')).toEqual([
    { text: 'x.float()', isCode: true },
    { text: ' and more', isCode: false },
  ]);
});
