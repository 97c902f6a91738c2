/** Which node the arrow keys lead to. */

import type { Layout } from '../layout/layout';
import type { Graph } from '../model/graph';

export type Direction = 'up' | 'down' | 'left' | 'right';

/**
 * The node next to one: down and up along the edges, straight ones first; left and right to what stands on the same height.
 *
 * Without a node, the first. Null where there is none in that direction.
 */
export function nextNode(graph: Graph, layout: Layout, from: number, direction: Direction): number | null {
  if (!graph.nodes[from]) return graph.nodes.length ? 0 : null;
  if (direction === 'left' || direction === 'right') return beside(graph, layout, from, direction === 'left' ? -1 : 1);
  const down = direction === 'down';
  const ends = graph.edges.flatMap(({ source, target }) =>
    down ? (source === from ? [target] : []) : target === from ? [source] : [],
  );
  if (!ends.length) return down ? (insideOf(graph, from) ?? hostOf(graph, from)) : aboveOf(graph, from);
  const off = (node: number): number => Math.abs(middleX(layout, node) - middleX(layout, from));
  const far = (node: number): number => Math.abs((layout.y[node] ?? 0) - (layout.y[from] ?? 0));
  return ends.reduce((best, node) => (off(node) < off(best) || (off(node) === off(best) && far(node) < far(best)) ? node : best));
}

const middleX = (layout: Layout, node: number): number => (layout.x[node] ?? 0) + (layout.w[node] ?? 0) / 2;
const middleY = (layout: Layout, node: number): number => (layout.y[node] ?? 0) + (layout.h[node] ?? 0) / 2;

/** From an open group's head into it. */
function insideOf(graph: Graph, from: number): number | null {
  const first = graph.nodes.findIndex((node) => node.parent === from && node.host < 0);
  return first < 0 ? null : first;
}

/** From a value or ghost to what it stands beside. */
function hostOf(graph: Graph, from: number): number | null {
  const host = graph.nodes[from]?.host ?? -1;
  return host < 0 ? null : host;
}

/** From what nothing leads to: out to the group around it. */
function aboveOf(graph: Graph, from: number): number | null {
  const parent = graph.nodes[from]?.parent ?? -1;
  return parent < 0 ? null : parent;
}

function beside(graph: Graph, layout: Layout, from: number, sign: 1 | -1): number | null {
  const y = middleY(layout, from);
  let best: number | null = null;
  let least = Infinity;
  graph.nodes.forEach((node, id) => {
    if (id === from || node.open || (layout.y[id] ?? 0) > y || (layout.y[id] ?? 0) + (layout.h[id] ?? 0) < y) return;
    const distance = sign * (middleX(layout, id) - middleX(layout, from));
    if (distance <= 0 || distance >= least) return;
    least = distance;
    best = id;
  });
  return best;
}
