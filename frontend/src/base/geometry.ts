/** Points, boxes and paths with round corners: plain numbers, y downward, in graph units (1 unit is 1 px at 100 %). */

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A box by its upper left corner. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

/** The smallest box that holds both: `union(a, b)`. */
export function union(a: Box, b: Box): Box {
  const x = Math.min(a.x, b.x);
  const y = Math.min(a.y, b.y);
  return { x, y, w: Math.max(a.x + a.w, b.x + b.w) - x, h: Math.max(a.y + a.h, b.y + b.h) - y };
}

/** The smallest box that holds all of them, or null when there are none. */
export function unionOf(boxes: Iterable<Box>): Box | null {
  let all: Box | null = null;
  for (const box of boxes) all = all ? union(all, box) : box;
  return all;
}

/** The box with `by` more on each side. */
export function grown(box: Box, by: number): Box {
  return { x: box.x - by, y: box.y - by, w: box.w + 2 * by, h: box.h + 2 * by };
}

export function contains(box: Box, point: Point): boolean {
  return point.x >= box.x && point.x <= box.x + box.w && point.y >= box.y && point.y <= box.y + box.h;
}

/** Whether they share more than a border. */
export function overlaps(a: Box, b: Box): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

/** One step of a path: a straight line, or a quarter turn round `cx, cy`'s corner that ends at `x, y`. */
export type PathStep =
  | { readonly kind: 'move'; readonly x: number; readonly y: number }
  | { readonly kind: 'line'; readonly x: number; readonly y: number }
  | { readonly kind: 'turn'; readonly cx: number; readonly cy: number; readonly x: number; readonly y: number };

/**
 * The polyline `x0, y0, x1, y1, …` as steps whose corners are rounded by `radius`, or by half of a leg that is shorter.
 *
 * `roundedPath([0, 0, 0, 20, 20, 20], 6)` moves to 0,0, draws to 0,14, turns to 6,20 and draws to 20,20.
 */
export function roundedPath(points: readonly number[], radius: number): PathStep[] {
  const at = (i: number): Point => ({ x: points[2 * i] ?? 0, y: points[2 * i + 1] ?? 0 });
  const count = points.length / 2;
  const steps: PathStep[] = [{ kind: 'move', ...at(0) }];
  for (let i = 1; i < count; i++) {
    const corner = at(i);
    if (i === count - 1) {
      steps.push({ kind: 'line', ...corner });
      continue;
    }
    const before = towards(corner, at(i - 1), radius);
    const after = towards(corner, at(i + 1), radius);
    steps.push({ kind: 'line', ...before }, { kind: 'turn', cx: corner.x, cy: corner.y, ...after });
  }
  return steps;
}

/** The point `distance` from `from` on the way to `to`, at most half way. */
function towards(from: Point, to: Point, distance: number): Point {
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  const part = length === 0 ? 0 : Math.min(distance, length / 2) / length;
  return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
}
