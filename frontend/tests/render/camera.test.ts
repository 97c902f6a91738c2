/** Where one looks, and how one gets there. */

import { expect, test } from 'vitest';
import { between, fitted, framed, panned, showing, toGraph, toScreen, zoomedAbout, ZOOM_MOST } from '../../src/render/camera';

const size = { width: 800, height: 600 };
const camera = { x: 100, y: 50, zoom: 2 };

test('graph and window are each other’s inverse', () => {
  const point = { x: 123, y: 456 };
  expect(toScreen(camera, size, toGraph(camera, size, point))).toEqual(point);
  expect(toGraph(camera, size, { x: 400, y: 300 })).toEqual({ x: 100, y: 50 });
});

test('what is under the pointer stays there when one pans or zooms', () => {
  const pointer = { x: 650, y: 120 };
  const under = toGraph(camera, size, pointer);
  const nearer = zoomedAbout(camera, size, pointer, 1.5);
  expect(nearer.zoom).toBe(3);
  expect(toGraph(nearer, size, pointer).x).toBeCloseTo(under.x);
  expect(toGraph(nearer, size, pointer).y).toBeCloseTo(under.y);
  expect(toGraph(panned(camera, 30, -20), size, { x: 680, y: 100 })).toEqual(under);
  expect(zoomedAbout(camera, size, pointer, 1e9).zoom).toBe(ZOOM_MOST);
});

test('fitting shows all, at most at 100 %', () => {
  expect(fitted({ x: 0, y: 0, w: 100, h: 100 }, size)).toEqual({ x: 50, y: 50, zoom: 1 });
  const far = fitted({ x: 0, y: 0, w: 100, h: 5840 }, size);
  expect(far.zoom).toBeCloseTo(0.1);
});

test('a model too long to be read as a whole is shown from its beginning', () => {
  const seen = framed({ x: 0, y: 0, w: 100, h: 58400 }, size, 0.6);
  expect(seen.zoom).toBe(0.6);
  expect(toScreen(seen, size, { x: 50, y: 0 }).y).toBeCloseTo(8);
});

test('a box is brought into sight by no more than needed', () => {
  const here = { x: 400, y: 300, zoom: 1 };
  expect(showing(here, size, { x: 300, y: 200, w: 100, h: 30 })).toEqual(here);
  const near = { ...here, zoom: 3 };
  expect(showing(near, size, { x: 380, y: 290, w: 100, h: 30 })).toEqual(near);
  const lower = showing(here, size, { x: 300, y: 900, w: 100, h: 30 });
  expect([lower.x, toScreen(lower, size, { x: 300, y: 930 }).y]).toEqual([400, 576]);
  expect(showing({ ...here, zoom: 0.1 }, size, { x: 300, y: 200, w: 100, h: 30 }).zoom).toBe(0.5);
});

test('the way between two views begins and ends at them', () => {
  const to = { x: 0, y: 0, zoom: 0.5 };
  expect(between(camera, to, 0)).toEqual(camera);
  expect(between(camera, to, 1).zoom).toBeCloseTo(0.5);
  const half = between(camera, to, 0.5);
  expect(half.x).toBeLessThan(50); // easing out: more than half of the way
});
