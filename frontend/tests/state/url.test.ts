// @vitest-environment happy-dom
/** The place in the address: it comes back as it went, in TensorBoard's store, its hash, or our own. */

import { beforeEach, expect, test } from 'vitest';
import { addressOf, addressStore, readAddress, sameAddress, wordsOf, writeAddress, type Address } from '../../src/state/url';

const ADDRESS: Address = {
  run: 'digits/lr=0.1 & more',
  tag: '__shapes__/graph/Net@0123abcd',
  step: 12,
  case: 'text & image',
  selection: { kind: 'op', id: 7 },
  problem: 1,
  open: [0, 4],
  view: { x: -12.5, y: 300.25, zoom: 0.75 },
  screen: 'memory',
  memory: { cursor: 1313, sizes: [192, 64], variant: 'dtype bfloat16', limit: 24.5 },
};
const NO_MEMORY = { cursor: null, sizes: [], variant: '', limit: null };
const NOWHERE: Address = {
  ...{ run: null, tag: '', step: 0, case: '', selection: null, problem: 0, open: [], view: null },
  ...{ screen: 'graph', memory: NO_MEMORY },
};

beforeEach(() => {
  window.location.hash = '';
});

test('an address comes back as it went', () => {
  expect(addressOf(wordsOf(ADDRESS))).toEqual(ADDRESS);
  expect(addressOf(wordsOf(NOWHERE))).toEqual(NOWHERE);
});

test('the run of a log directory itself has an empty name and is still an address', () => {
  const root = { ...ADDRESS, run: '' };
  expect(addressOf(wordsOf(root))).toEqual(root);
});

test('what somebody typed by hand is left out where it makes no sense', () => {
  const place = { run: 'r', tag: 't', step: 'x', case: 'none', sel: 'op-<b>', problem: '-1', open: '1.x.3', view: '1_2_0' };
  const words = { ...place, screen: 'cinema', cursor: '-3', sizes: '8.y', way: 'w', limit: '-1' };
  expect(addressOf(words)).toEqual({
    run: 'r',
    tag: 't',
    step: 0,
    case: 'none',
    selection: null,
    problem: 0,
    open: [1, 3],
    view: null,
    screen: 'graph',
    memory: { cursor: null, sizes: [8], variant: 'w', limit: null },
  });
});

test('without TensorBoard around it the address is in our own hash, beside what others put there', () => {
  window.location.hash = '#shapes&other=1';
  const store = addressStore(window);
  expect(writeAddress(store, ADDRESS)).toBe(true);
  expect(window.location.hash).toContain('#shapes&other=1&p.shapes.run=digits%2Flr%3D0.1%20%26%20more');
  expect(readAddress(store)).toEqual(ADDRESS);
  expect(writeAddress(store, ADDRESS)).toBe(false);
  writeAddress(store, NOWHERE);
  expect(window.location.hash).toBe('#shapes&other=1');
});

test("TensorBoard's own store is used where there is one", () => {
  const kept = new Map<string, string>();
  const parent = {
    location: window.location,
    addEventListener: () => undefined,
    tensorboard: {
      tf_storage: {
        getString: (key: string) => kept.get(key) ?? '',
        setString: (key: string, value: string, options: object) => {
          expect(options).toEqual({ defaultValue: '', useLocationReplace: true });
          kept.set(key, value);
        },
      },
    },
  };
  const store = addressStore({ parent } as unknown as Window);
  writeAddress(store, ADDRESS);
  expect(kept.get('p.shapes.sel')).toBe('op-7');
  expect(readAddress(store)).toEqual(ADDRESS);
});

test('a frame of another origin is left alone', () => {
  const own = { location: window.location, history: window.history, addEventListener: () => undefined };
  const parent = {
    get location(): never {
      throw new DOMException('cross-origin');
    },
  };
  const store = addressStore({ ...own, parent } as unknown as Window);
  writeAddress(store, ADDRESS);
  expect(readAddress(store)).toEqual(ADDRESS);
});

test('cameras a hair apart are the same address', () => {
  const near = { ...ADDRESS, view: { x: -12.50001, y: 300.25, zoom: 0.75 } };
  expect(sameAddress(ADDRESS, near)).toBe(true);
  expect(sameAddress(ADDRESS, { ...ADDRESS, step: 13 })).toBe(false);
});

test('a camera comes back to the pixel, also for what is thousands of units away from its middle', () => {
  const view = { x: 1234.5678, y: -9876.54321, zoom: 0.5012345678 };
  const back = addressOf(wordsOf({ ...ADDRESS, view })).view;
  const seen = (camera: typeof view | null): number => (20_000 - (camera?.y ?? 0)) * (camera?.zoom ?? 0);
  expect(Math.abs(seen(back) - seen(view))).toBeLessThan(0.1);
});
