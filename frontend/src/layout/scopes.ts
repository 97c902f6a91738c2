/** The graph cut into its open groups: what stands in each, and the stretch of each edge that runs in it, from border to border. */

import type { LayoutInput } from './layout';

/** A port stands for one node outside: all that comes from it enters a group, or all that goes out from a node leaves, at one place. */
export type Vertex =
  | { readonly kind: 'node'; readonly node: number }
  | { readonly kind: 'in' | 'out'; readonly source: number; readonly port: number };

/** A stretch of one or more edges between two vertices of a group. Ports are those of a group at that end, -1 for none. */
export interface Stretch {
  readonly from: number; // vertex
  readonly fromPort: number;
  readonly to: number;
  readonly toPort: number;
  readonly edges: number[]; // the first one's label is shown, where the stretch shows it
  labelled: boolean;
}

export interface Scope {
  readonly node: number; // the group, -1 for the whole
  readonly vertices: Vertex[];
  readonly stretches: Stretch[];
  readonly ins: Map<number, number>; // vertex of the port, by the node outside
  readonly outs: Map<number, number>; // vertex of the port, by the node inside
  readonly vertexOf: Map<number, number>; // by node
}

interface End {
  readonly node: number;
  readonly port: number; // of an open group; -1 for any other node
}

/** Cuts the graph. The first scope is the whole; groups follow in the order of their nodes, outer ones before inner ones. */
export function cutScopes(input: LayoutInput, isGroup: (node: number) => boolean, stands: (node: number) => boolean): Scope[] {
  const count = input.form.length;
  const scopes: Scope[] = [emptyScope(-1)];
  const scopeOf = new Int32Array(count).fill(-1);
  const depth = new Int32Array(count);
  for (let node = 0; node < count; node++) {
    const parent = input.parent[node] ?? -1;
    depth[node] = parent < 0 ? 0 : (depth[parent] ?? 0) + 1;
    const scope = scopes[parent < 0 ? 0 : (scopeOf[parent] ?? 0)];
    if (scope && stands(node)) {
      scope.vertexOf.set(node, scope.vertices.length);
      scope.vertices.push({ kind: 'node', node });
    }
    if (isGroup(node)) {
      scopeOf[node] = scopes.length;
      scopes.push(emptyScope(node));
    }
  }
  const known = new Map<string, Stretch>();
  for (let edge = 0; edge < input.source.length; edge++) cutEdge(input, edge, depth, scopes, scopeOf, known);
  return scopes;
}

function emptyScope(node: number): Scope {
  return { node, vertices: [], stretches: [], ins: new Map(), outs: new Map(), vertexOf: new Map() };
}

function cutEdge(
  input: LayoutInput,
  edge: number,
  depth: Int32Array,
  scopes: readonly Scope[],
  scopeOf: Int32Array,
  known: Map<string, Stretch>,
): void {
  const source = input.source[edge] ?? 0;
  const parent = (node: number): number => input.parent[node] ?? -1;
  const scopeAt = (group: number): number => (group < 0 ? 0 : (scopeOf[group] ?? 0));
  const lay = (group: number, from: number, fromPort: number, to: number, toPort: number, labelled: boolean): void => {
    const at = scopeAt(group);
    const key = `${at} ${from} ${fromPort} ${to} ${toPort}`;
    const stretch = known.get(key);
    if (stretch) {
      if (labelled && !stretch.edges.some((other) => (input.label[other] ?? 0) > 0) && (input.label[edge] ?? 0) > 0)
        stretch.edges.unshift(edge);
      else stretch.edges.push(edge);
      return;
    }
    const made = { from, fromPort, to, toPort, edges: [edge], labelled };
    known.set(key, made);
    scopes[at]?.stretches.push(made);
  };
  const vertex = (group: number, end: End): number => scopes[scopeAt(group)]?.vertexOf.get(end.node) ?? 0;
  let from: End = { node: source, port: -1 };
  let to: End = { node: input.target[edge] ?? 0, port: -1 };
  while (parent(from.node) !== parent(to.node)) {
    const leaves =
      (depth[from.node] ?? 0) > (depth[to.node] ?? 0) ||
      ((depth[from.node] ?? 0) === (depth[to.node] ?? 0) && parent(to.node) < 0);
    const rises = leaves || (depth[from.node] ?? 0) === (depth[to.node] ?? 0);
    if (rises) {
      const group = parent(from.node);
      const port = portOf(scopes[scopeAt(group)], 'out', source);
      lay(group, vertex(group, from), from.port, port.vertex, -1, false);
      from = { node: group, port: port.number };
    } else {
      const group = parent(to.node);
      const port = portOf(scopes[scopeAt(group)], 'in', source);
      lay(group, port.vertex, -1, vertex(group, to), to.port, false);
      to = { node: group, port: port.number };
    }
  }
  const group = parent(from.node);
  lay(group, vertex(group, from), from.port, vertex(group, to), to.port, true);
}

function portOf(scope: Scope | undefined, kind: 'in' | 'out', source: number): { vertex: number; number: number } {
  if (!scope) return { vertex: 0, number: 0 };
  const ports = kind === 'in' ? scope.ins : scope.outs;
  const known = ports.get(source);
  const at = known === undefined ? undefined : scope.vertices[known];
  if (known !== undefined && at && at.kind !== 'node') return { vertex: known, number: at.port };
  const made = { vertex: scope.vertices.length, number: ports.size };
  ports.set(source, made.vertex);
  scope.vertices.push({ kind, source, port: made.number });
  return made;
}
