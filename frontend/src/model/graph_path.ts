/** Ways through the graph: from the op that introduced a number to the op that failed on it; and how far to open at first. */

import type { GraphIndex } from './graph_index';

interface Ends {
  readonly source: number;
  readonly target: number;
}

/**
 * The nodes and edges on any way from `from` to `to`, and the edge by which `before` reaches `from`.
 *
 * Empty sets where there is no failure to show. Edges are given by their index; those that aren't `open` lead nowhere.
 */
export function guiltyPath<E extends Ends>(
  nodes: readonly unknown[],
  edges: readonly E[],
  { from, to, before }: { readonly from: number; readonly to: number; readonly before: number },
  open: (edge: E) => boolean,
): { readonly nodes: ReadonlySet<number>; readonly edges: ReadonlySet<number> } {
  if (to < 0) return { nodes: new Set(), edges: new Set() };
  const ways = edges.filter(open);
  const ahead = reach(nodes.length, ways, from, 'target');
  const back = reach(nodes.length, ways, to, 'source');
  const path = new Set<number>([from, to]);
  for (let node = 0; node < nodes.length; node++) if (ahead[node] && back[node]) path.add(node);
  const along = new Set<number>();
  edges.forEach((edge, i) => {
    const { source, target } = edge;
    if (!open(edge)) return;
    if (path.has(source) && path.has(target)) along.add(i);
    if (source === before && target === from && from !== to) along.add(i);
  });
  if (before >= 0 && from !== to) path.add(before);
  return { nodes: path, edges: along };
}

/** Which nodes are reached from one along edges, 1 where so. */
function reach(count: number, edges: readonly Ends[], start: number, end: 'source' | 'target'): Uint8Array {
  const other = end === 'target' ? 'source' : 'target';
  const first = new Int32Array(count + 1);
  for (const edge of edges) first[edge[other] + 1] = (first[edge[other] + 1] ?? 0) + 1;
  for (let i = 0; i < count; i++) first[i + 1] = (first[i + 1] ?? 0) + (first[i] ?? 0);
  const fill = first.slice();
  const next = new Int32Array(edges.length);
  for (const edge of edges) {
    const at = fill[edge[other]] ?? 0;
    next[at] = edge[end];
    fill[edge[other]] = at + 1;
  }
  const seen = new Uint8Array(count);
  const open = [start];
  seen[start] = 1;
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    for (let i = first[node] ?? 0; i < (first[node + 1] ?? 0); i++) {
      const to = next[i] ?? 0;
      if (seen[to]) continue;
      seen[to] = 1;
      open.push(to);
    }
  }
  return seen;
}

/** How many nodes the first view of a healthy model may have. */
const FIRST_NODES = 40;

/** The calls that are open when a model without errors is first seen: level by level, as long as the whole stays small. */
export function firstOpenCalls(index: GraphIndex): ReadonlySet<number> {
  const { calls } = index.record;
  const below: number[][] = Array.from(calls.parent, () => []);
  let level: number[] = [];
  calls.parent.forEach((parent, call) => (parent < 0 ? level : (below[parent] ?? [])).push(call));
  const open = new Set<number>();
  let nodes = 0;
  while (level.length) {
    const groups = level.filter((call) => weightOf(index, call) > 1 || index.hasCalls[call]);
    nodes += groups.reduce((sum, call) => sum + nodesInside(index, call, below[call] ?? []), 0);
    if (nodes > FIRST_NODES) break;
    for (const call of groups) open.add(call);
    level = groups.flatMap((call) => below[call] ?? []);
  }
  return open;
}

function weightOf({ record, nodesBefore }: GraphIndex, call: number): number {
  return (nodesBefore[record.calls.endOp[call] ?? 0] ?? 0) - (nodesBefore[record.calls.firstOp[call] ?? 0] ?? 0);
}

/** The nodes that opening a call adds: its calls, and the ops that ran in it itself. */
function nodesInside(index: GraphIndex, call: number, inner: readonly number[]): number {
  const seen = inner.filter((child) => weightOf(index, child) > 0);
  return seen.length + weightOf(index, call) - seen.reduce((sum, child) => sum + weightOf(index, child), 0);
}
