// @vitest-environment happy-dom
/** Widgets: keys of rows, columns that give way, panels that fail, text that is copied. */

import { render } from 'preact';
import { act } from 'preact/test-utils';
import { afterEach, expect, test, vi } from 'vitest';
import { copyText } from '../../src/widgets/clipboard';
import { fitting } from '../../src/widgets/frame';
import { Guarded } from '../../src/widgets/guarded';
import { pressRow, type TreeRow } from '../../src/widgets/row_keys';
import { columnsThatFit, type Column } from '../../src/widgets/table';

afterEach(() => vi.restoreAllMocks());

const ROWS: readonly TreeRow[] = [
  { key: 'a', under: null, depth: 0, inside: 2 },
  { key: 'b', under: 'a', depth: 1, inside: 0 },
  { key: 'c', under: 'a', depth: 1, inside: 1 },
];

/** What a key does at a row: "move b", "toggle a", "" or "not ours". */
function does(key: string, at: number, open: readonly string[] = ['a']): string {
  let done = '';
  const acts = { move: (row: TreeRow) => (done = `move ${row.key}`), toggle: (row: TreeRow) => (done = `toggle ${row.key}`) };
  return pressRow(key, ROWS, at, new Set(open), acts) ? done : 'not ours';
}

test.each([
  ['ArrowDown', 0, 'move b'],
  ['ArrowDown', 2, 'move c'],
  ['ArrowDown', -1, 'move a'],
  ['ArrowUp', 0, 'move a'],
  ['ArrowRight', 0, 'move b'],
  ['ArrowRight', 2, 'toggle c'],
  ['ArrowRight', 1, ''],
  ['ArrowLeft', 0, 'toggle a'],
  ['ArrowLeft', 1, 'move a'],
  ['Enter', 2, 'toggle c'],
  ['End', 0, 'move c'],
  ['x', 0, 'not ours'],
])('%s at row %i does "%s"', (key, at, done) => {
  expect(does(key, at)).toBe(done);
});

test('columns give way from the right; the name and the first number stay', () => {
  const column = (id: string, stays = false): Column<null> => ({
    ...{ id, title: id, least: 100, share: 1, numeric: false, bars: false, sorts: false, stays },
    cell: () => null,
  });
  const columns = [column('name', true), column('type'), column('input'), column('params', true), column('bytes')];
  const left = (width: number): string[] => columnsThatFit(columns, width).map(({ id }) => id);
  expect(left(500)).toEqual(['name', 'type', 'input', 'params', 'bytes']);
  expect(left(420)).toEqual(['name', 'type', 'input', 'params']);
  expect(left(320)).toEqual(['name', 'type', 'params']);
  expect(left(50)).toEqual(['name', 'params']);
});

test.each([
  [1440, 'all'],
  [1199, 'tabs'],
  [899, 'drawer'],
  [639, 'one'],
])('a window %i px wide has the form "%s"', (width, form) => {
  expect(fitting(width)).toBe(form);
});

test('a panel that fails says so inside itself, and its neighbour stays', () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const Broken = (): never => {
    throw new Error('row 7 is missing');
  };
  const root = document.createElement('div');
  void act(() =>
    render(
      <>
        <Guarded title="Graph">
          <Broken />
        </Guarded>
        <p>neighbour</p>
      </>,
      root,
    ),
  );
  expect(root.querySelector('[role=alert]')?.textContent).toContain('Graph could not be drawn.row 7 is missing');
  expect(root.textContent).toContain('neighbour');
});

test('text is copied without a clipboard too, and focus comes back', async () => {
  vi.spyOn(navigator.clipboard, 'writeText').mockRejectedValue(new Error('not a secure context'));
  let selected = '';
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- the one way without a secure context
  document.execCommand = (command: string) => {
    selected = `${command} ${document.querySelector('textarea')?.value ?? ''}`;
    return true;
  };
  const button = document.createElement('button');
  document.body.append(button);
  button.focus();
  expect(await copyText('net.py:33')).toBe(true);
  expect(selected).toBe('copy net.py:33');
  expect(document.querySelector('textarea')).toBeNull();
  expect(document.activeElement).toBe(button);
});
