/** Where the graph is looked at from: pan, zoom, fit, and the way from one view to another. Pure. */

import type { Box, Point } from '../base/geometry';

/** The point in the middle of the window, in graph units, and px per unit. */
export interface Camera {
  readonly x: number;
  readonly y: number;
  readonly zoom: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

export const ZOOM_LEAST = 0.005;
export const ZOOM_MOST = 4;
export const CAMERA_MS = 240;

/** Where a point of the window, in px from its upper left corner, lies in the graph. */
export function toGraph(camera: Camera, size: Size, point: Point): Point {
  return { x: camera.x + (point.x - size.width / 2) / camera.zoom, y: camera.y + (point.y - size.height / 2) / camera.zoom };
}

/** Where a point of the graph is seen in the window. */
export function toScreen(camera: Camera, size: Size, point: Point): Point {
  return { x: (point.x - camera.x) * camera.zoom + size.width / 2, y: (point.y - camera.y) * camera.zoom + size.height / 2 };
}

/** Moved by so many px on the screen: what was under the pointer stays under it. */
export function panned(camera: Camera, dx: number, dy: number): Camera {
  return { ...camera, x: camera.x - dx / camera.zoom, y: camera.y - dy / camera.zoom };
}

/** Zoomed by a factor about a point of the window, which keeps its place. */
export function zoomedAbout(camera: Camera, size: Size, point: Point, factor: number): Camera {
  const zoom = Math.max(ZOOM_LEAST, Math.min(ZOOM_MOST, camera.zoom * factor));
  const fixed = toGraph(camera, size, point);
  return { x: fixed.x - (point.x - size.width / 2) / zoom, y: fixed.y - (point.y - size.height / 2) / zoom, zoom };
}

/** Shows the whole box with `spare` px round it, at most at 100 %. */
export function fitted(box: Box, size: Size, spare = 8): Camera {
  const zoom = Math.min(1, (size.width - 2 * spare) / Math.max(1, box.w), (size.height - 2 * spare) / Math.max(1, box.h));
  return { x: box.x + box.w / 2, y: box.y + box.h / 2, zoom: Math.max(ZOOM_LEAST, zoom) };
}

/**
 * Shows a box, readable: never below `least`. What doesn't fit is shown from its upper end, in the middle of its width.
 *
 * Of a model of a thousand layers one sees the beginning rather than a hair line.
 */
export function framed(box: Box, size: Size, least: number, spare = 8): Camera {
  const whole = fitted(box, size, spare);
  if (whole.zoom >= least) return whole;
  return { x: box.x + box.w / 2, y: box.y + (size.height / 2 - spare) / least, zoom: least };
}

/** The nearest camera that shows a box, moved no more than needed; the same one if it is in sight. */
export function showing(camera: Camera, size: Size, box: Box, spare = 24): Camera {
  const most = Math.min((size.width - 2 * spare) / Math.max(1, box.w), (size.height - 2 * spare) / Math.max(1, box.h));
  const zoom = Math.max(0.5, Math.min(camera.zoom, most));
  const [w, h] = [size.width / zoom / 2 - spare / zoom, size.height / zoom / 2 - spare / zoom];
  const near = (at: number, low: number, high: number, half: number): number =>
    high - low > 2 * half ? (low + high) / 2 : Math.max(high - half, Math.min(low + half, at));
  return { x: near(camera.x, box.x, box.x + box.w, w), y: near(camera.y, box.y, box.y + box.h, h), zoom };
}

/** The view a part (0 to 1) of the way along, easing out; zoom by its logarithm, so that it seems even. */
export function between(from: Camera, to: Camera, part: number): Camera {
  const eased = 1 - (1 - Math.max(0, Math.min(1, part))) ** 3;
  const mix = (a: number, b: number): number => a + (b - a) * eased;
  return { x: mix(from.x, to.x), y: mix(from.y, to.y), zoom: Math.exp(mix(Math.log(from.zoom), Math.log(to.zoom))) };
}
