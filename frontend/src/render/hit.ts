/** What lies under a point of the graph. */

import { contains, grown, type Point } from '../base/geometry';
import type { Scene } from './scene';
import { nodeBox } from './scene_source';
import { headHeight } from './scene_nodes';

export type Hit =
  { readonly kind: 'node'; readonly node: number; readonly chevron: boolean } | { readonly kind: 'edge'; readonly edge: number };

/** A pointer rarely meets a line of 1 px: so many px on each side count, too. */
const NEAR_LINE = 4;
const CHEVRON = 26;

/**
 * The topmost thing at a point: a node, an open group's head, or an edge. Null over the ground, which an open group's inside is.
 *
 * `zoom` tells how many units the few px near a line are.
 */
export function hitTest(scene: Scene, point: Point, zoom: number): Hit | null {
  const { graph, layout } = scene.source;
  const spot = { x: point.x, y: point.y, w: 0, h: 0 };
  const near = NEAR_LINE / zoom;
  const found: { node: number; head: number; edge: number } = { node: -1, head: -1, edge: -1 };
  scene.nodes.within(spot, ({ index }) => {
    if (contains(nodeBox(layout, index), point)) found.node = index;
  });
  scene.groups.within(spot, ({ index, box }) => {
    if (contains({ ...box, h: headHeight(graph, index) }, point)) found.head = index;
  });
  scene.wires.within(grown(spot, near), ({ index }) => {
    const edge = layout.wires.edge[index] ?? -1;
    const { from, points } = layout.wires;
    if (edge >= 0 && isNear(points, from[index] ?? 0, from[index + 1] ?? 0, point, near)) found.edge = edge;
  });
  const node = found.node >= 0 ? found.node : found.head;
  if (node < 0) return found.edge < 0 ? null : { kind: 'edge', edge: found.edge };
  const box = nodeBox(layout, node);
  return { kind: 'node', node, chevron: graph.nodes[node]?.kind === 'group' && point.x < box.x + CHEVRON };
}

/** All segments are level or upright. */
function isNear(points: Float64Array, first: number, end: number, { x, y }: Point, near: number): boolean {
  for (let i = first; i + 1 < end; i++) {
    const [ax, ay, bx, by] = [points[2 * i] ?? 0, points[2 * i + 1] ?? 0, points[2 * i + 2] ?? 0, points[2 * i + 3] ?? 0];
    if (
      x >= Math.min(ax, bx) - near &&
      x <= Math.max(ax, bx) + near &&
      y >= Math.min(ay, by) - near &&
      y <= Math.max(ay, by) + near
    )
      return true;
  }
  return false;
}
