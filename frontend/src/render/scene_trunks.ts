/** Where lines of several cases part: up to the last line that leaves it, a line carries what they carry, too. */

import { START_DOT } from '../layout/layout';
import type { GraphEdge } from '../model/graph';
import type { SceneSource } from './scene_source';

/** The points of a line up to where the last one leaves it, those after that, and the edges of all that left it. */
export interface Trunk {
  readonly before: readonly number[];
  readonly after: readonly number[];
  readonly edges: readonly GraphEdge[];
}

interface Cut {
  readonly segment: number;
  readonly x: number;
  readonly y: number;
}

const NEAR = 0.5;
const LEAVING = new WeakMap<SceneSource, ReadonlyMap<number, readonly number[]>>();

/** The edges that run along a line. */
export function edgesAlong({ graph, layout: { wires } }: SceneSource, wire: number): GraphEdge[] {
  const edges: GraphEdge[] = [];
  for (let i = wires.alongFrom[wire] ?? 0; i < (wires.alongFrom[wire + 1] ?? 0); i++) {
    const edge = graph.edges[wires.along[i] ?? -1];
    if (edge) edges.push(edge);
  }
  return edges;
}

/** The points of a line, x and y in turn. */
export function pointsOf({ layout: { wires } }: SceneSource, wire: number): number[] {
  return Array.from(wires.points.subarray(2 * (wires.from[wire] ?? 0), 2 * (wires.from[wire + 1] ?? 0)));
}

/** The trunk of a line; null where no line leaves it. */
export function trunkOf(source: SceneSource, wire: number): Trunk | null {
  const from = sourceOf(source, wire);
  const points = pointsOf(source, wire);
  const edges: GraphEdge[] = [];
  let last: Cut | null = null;
  for (const other of leavingBySource(source).get(from) ?? []) {
    const start = source.layout.wires.from[other] ?? 0;
    const [x, y] = [source.layout.wires.points[2 * start] ?? 0, source.layout.wires.points[2 * start + 1] ?? 0];
    const cut = other === wire ? null : cutAt(points, x, y);
    if (!cut) continue;
    edges.push(...edgesAlong(source, other));
    if (!last || isFurther(points, cut, last)) last = cut;
  }
  if (!last) return null;
  const at = 2 * (last.segment + 1);
  return { before: [...points.slice(0, at), last.x, last.y], after: [last.x, last.y, ...points.slice(at)], edges };
}

/** The node that a line comes from, through whatever groups; -1 for a value's. */
function sourceOf({ graph, layout: { wires } }: SceneSource, wire: number): number {
  return graph.edges[wires.along[wires.alongFrom[wire] ?? 0] ?? -1]?.source ?? -1;
}

function leavingBySource(source: SceneSource): ReadonlyMap<number, readonly number[]> {
  const known = LEAVING.get(source);
  if (known) return known;
  const leaving = new Map<number, number[]>();
  source.layout.wires.ends.forEach((ends, wire) => {
    if (!(ends & START_DOT)) return;
    const from = sourceOf(source, wire);
    const lines = leaving.get(from) ?? [];
    leaving.set(from, lines);
    lines.push(wire);
  });
  LEAVING.set(source, leaving);
  return leaving;
}

/** Where a point lies on a line, its beginning left out. All segments are level or upright. */
function cutAt(points: readonly number[], x: number, y: number): Cut | null {
  for (let i = 0; i + 3 < points.length; i += 2) {
    const [ax, ay, bx, by] = [points[i] ?? 0, points[i + 1] ?? 0, points[i + 2] ?? 0, points[i + 3] ?? 0];
    const inside =
      x >= Math.min(ax, bx) - NEAR &&
      x <= Math.max(ax, bx) + NEAR &&
      y >= Math.min(ay, by) - NEAR &&
      y <= Math.max(ay, by) + NEAR;
    if (inside) return i === 0 && Math.hypot(x - ax, y - ay) < 1 ? null : { segment: i / 2, x, y };
  }
  return null;
}

function isFurther(points: readonly number[], a: Cut, b: Cut): boolean {
  if (a.segment !== b.segment) return a.segment > b.segment;
  const [x, y] = [points[2 * a.segment] ?? 0, points[2 * a.segment + 1] ?? 0];
  return Math.hypot(a.x - x, a.y - y) > Math.hypot(b.x - x, b.y - y);
}
