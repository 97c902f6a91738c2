/** The whole layout: groups from the inside out, identical ones once, then everything put in its place. */

import * as form from './layout';
import type { Layout, LayoutInput } from './layout';
import { besidesOf, type Besides } from './beside';
import { arrangeRows, type Local, type LocalEdge, type Rows } from './rows';
import { routeEdges, type Routed } from './routes';
import { cutScopes, type Scope } from './scopes';
import { WireList } from './wires';

/** A laid out group, relative to its anchor: x = 0 is its spine, y = 0 its upper border. */
interface Inside {
  readonly id: number;
  readonly x: Float64Array; // of each vertex, in the order of the scope's vertices
  readonly middle: Float64Array;
  readonly routed: Routed;
  readonly left: number; // of the box, negative
  readonly right: number;
  readonly height: number;
  readonly top: number; // where the first row begins
  readonly order: Int32Array; // vertex of each local
  readonly inX: readonly number[]; // of ports, by their number
  readonly outX: readonly number[];
}

interface PortRoom {
  readonly left: number;
  readonly right: number;
}

/** Lays a graph out. Pure, deterministic, without recursion; about linear in nodes and edges. */
export function layoutGraph(input: LayoutInput): Layout {
  return new Nested(input).layout();
}

class Nested {
  private readonly scopes: readonly Scope[];
  private readonly besides: Besides;
  private readonly insideOf = new Map<number, Inside>(); // by group, -1 the whole
  private readonly byKey = new Map<string, Inside>();
  private reused = 0;

  constructor(private readonly input: LayoutInput) {
    this.besides = besidesOf(input);
    this.scopes = cutScopes(
      input,
      (node) => input.form[node] === form.FORM_GROUP,
      (node) => input.form[node] !== form.FORM_VALUE && input.form[node] !== form.FORM_GHOST,
    );
  }

  layout(): Layout {
    for (let i = this.scopes.length - 1; i >= 0; i--) {
      const scope = this.scopes[i];
      if (scope) this.insideOf.set(scope.node, this.arrange(scope));
    }
    return this.place();
  }

  private arrange(scope: Scope): Inside {
    const order = localOrder(scope);
    const local = this.localOf(scope, order);
    const head = scope.node < 0 ? 0 : (this.input.width[scope.node] ?? 0);
    const key = keyOf(local, head, scope.node < 0 ? 0 : (this.input.height[scope.node] ?? 0));
    const known = this.byKey.get(key);
    if (known) {
      this.reused++;
      return { ...known, order };
    }
    const made = this.boxed(scope, local, order, head);
    this.byKey.set(key, made);
    return made;
  }

  /** How far below a group's border its first row begins: below the head; ports stand in it. */
  private topOf(scope: Scope): number {
    return scope.node < 0 ? 0 : (this.input.height[scope.node] ?? 0) + (scope.ins.size ? -4 : 12);
  }

  /** Rows and routes of a group, with its border round them. */
  private boxed(scope: Scope, local: Local, order: Int32Array, head: number): Inside {
    const rows = arrangeRows(local);
    const routed = routeEdges(local, rows);
    const inside = scope.node >= 0;
    const pad = inside ? form.PADDING : 0;
    const top = this.topOf(scope);
    const ports = (kind: 'in' | 'out'): number[] => {
      const xs: number[] = [];
      order.forEach((v, i) => {
        const vertex = scope.vertices[v];
        if (vertex?.kind === kind) xs[vertex.port] = rows.x[i] ?? 0;
      });
      return xs;
    };
    const inX = ports('in');
    let left = routed.left - pad;
    let right = routed.right + pad;
    if (inside) {
      left = Math.min(left, inX.length ? Math.min(...inX) - head : left, -Math.min(right, 64 - left));
      right = Math.max(right, left + head + 2 * pad, Math.min(-left, right + 64));
    }
    const height = top + routed.height + (inside ? (scope.outs.size ? 0 : 12) : 0);
    const { x, middle } = byVertex(rows, routed, order);
    return { id: this.byKey.size, x, middle, routed, left, right, height, top, order, inX, outX: ports('out') };
  }

  private localOf(scope: Scope, order: Int32Array): Local {
    const { input, besides } = this;
    const local = {
      form: [] as number[],
      left: [] as number[],
      right: [] as number[],
      boxUp: [] as number[],
      boxDown: [] as number[],
      up: [] as number[],
      down: [] as number[],
      roomLeft: [] as number[],
      roomRight: [] as number[],
      weight: [] as number[],
    };
    const rooms = this.portRooms(scope);
    for (const v of order) {
      const vertex = scope.vertices[v];
      if (vertex?.kind !== 'node') {
        pushPort(local, vertex?.kind === 'in' ? this.topOf(scope) : null, rooms.get(v));
        continue;
      }
      const { node } = vertex;
      const inside = this.insideOf.get(node);
      const half = (inside ? inside.height : (input.height[node] ?? 0)) / 2;
      local.form.push(input.form[node] ?? 0);
      local.left.push(inside ? -inside.left : (input.width[node] ?? 0) / 2);
      local.right.push(inside ? inside.right : (input.width[node] ?? 0) / 2);
      local.boxUp.push(half);
      local.boxDown.push(half);
      local.up.push(Math.max(half, besides.up[node] ?? 0));
      local.down.push(Math.max(half, besides.down[node] ?? 0));
      local.roomLeft.push(
        Math.max(input.left[node] ?? 0, besides.room(node, inside ? -inside.left : (input.width[node] ?? 0) / 2)),
      );
      local.roomRight.push(input.right[node] ?? 0);
      local.weight.push(input.weight[node] ?? 1);
    }
    return { ...local, edges: this.localEdges(scope, order) };
  }

  /** Room at ports for the labels and words that stand outside, beside what comes in or goes out there. */
  private portRooms(scope: Scope): ReadonlyMap<number, PortRoom> {
    const rooms = new Map<number, PortRoom>();
    for (const { from, to, edges } of scope.stretches) {
      for (const v of [from, to]) {
        if (scope.vertices[v]?.kind === 'node') continue;
        const known = rooms.get(v) ?? { left: 0, right: 0 };
        const widest = (widths: Float64Array): number => edges.reduce((most, edge) => Math.max(most, widths[edge] ?? 0), 0);
        const [label, words] = [widest(this.input.label), widest(this.input.words)];
        rooms.set(v, {
          left: Math.max(known.left, words ? words + form.LABEL_OFF : 0),
          right: Math.max(known.right, label ? label + form.LABEL_OFF : 0),
        });
      }
    }
    return rooms;
  }

  private localEdges(scope: Scope, order: Int32Array): LocalEdge[] {
    const place = new Int32Array(order.length);
    order.forEach((v, i) => (place[v] = i));
    return scope.stretches.map((stretch) => {
      const first = stretch.edges[0] ?? 0;
      return {
        from: place[stretch.from] ?? 0,
        to: place[stretch.to] ?? 0,
        fromDx: this.portX(scope, stretch.from, stretch.fromPort, 'outX'),
        toDx: this.portX(scope, stretch.to, stretch.toPort, 'inX'),
        fixed: stretch.toPort >= 0,
        label: stretch.labelled ? (this.input.label[first] ?? 0) : 0,
        words: stretch.labelled ? (this.input.words[first] ?? 0) : 0,
      };
    });
  }

  private portX(scope: Scope, v: number, port: number, side: 'inX' | 'outX'): number {
    const vertex = scope.vertices[v];
    if (port < 0 || vertex?.kind !== 'node') return 0;
    return this.insideOf.get(vertex.node)?.[side][port] ?? 0;
  }

  /** Puts every group where its parent holds it, outer ones first. */
  private place(): Layout {
    const { input } = this;
    const count = input.form.length;
    const [x, y, w, h] = [0, 0, 0, 0].map(() => new Float64Array(count)) as [
      Float64Array,
      Float64Array,
      Float64Array,
      Float64Array,
    ];
    const root = this.insideOf.get(-1);
    const originX = new Map([[-1, -(root?.left ?? 0)]]);
    const originY = new Map([[-1, 0]]);
    const wires = new WireList(input);
    for (const scope of this.scopes) {
      const inside = this.insideOf.get(scope.node);
      if (!inside) continue;
      const ox = originX.get(scope.node) ?? 0;
      const oy = (originY.get(scope.node) ?? 0) + inside.top;
      scope.vertices.forEach((vertex, v) => {
        if (vertex.kind !== 'node') return;
        const { node } = vertex;
        const own = this.insideOf.get(node);
        const anchor = ox + (inside.x[v] ?? 0);
        const middle = oy + (inside.middle[v] ?? 0);
        w[node] = own ? own.right - own.left : (input.width[node] ?? 0);
        h[node] = own ? own.height : (input.height[node] ?? 0);
        x[node] = own ? anchor + own.left : anchor - (w[node] ?? 0) / 2;
        y[node] = middle - (h[node] ?? 0) / 2;
        if (own) {
          originX.set(node, anchor);
          originY.set(node, y[node] ?? 0);
        }
        this.besides.place(node, anchor, middle, anchor - (x[node] ?? 0), { x, y, w, h }, wires);
      });
      inside.routed.routes.forEach((route, i) => {
        const stretch = scope.stretches[i];
        if (stretch) wires.addRoute(route, stretch, scope.vertices[stretch.to]?.kind === 'node' && stretch.toPort < 0, ox, oy);
      });
    }
    const width = (root?.right ?? 0) - (root?.left ?? 0);
    const laidOut = this.byKey.size;
    return { x, y, w, h, width, height: root?.height ?? 0, wires: wires.build(), laidOut, reused: this.reused };
  }
}

/** A port where things enter, `top` px below the border that their lines begin at; or, with null, one where they leave. */
function pushPort(local: { [K in keyof Omit<Local, 'edges'>]: number[] }, top: number | null, room: PortRoom | undefined): void {
  local.form.push(top === null ? form.FORM_LAST : form.FORM_FIRST);
  local.boxDown.push(top === null ? 0 : -top);
  for (const half of [local.left, local.right]) half.push(2);
  local.roomLeft.push(room?.left ?? 0);
  local.roomRight.push(room?.right ?? 0);
  for (const none of [local.boxUp, local.up, local.down, local.weight]) none.push(0);
}

/** Ports where things enter stand first, those where they leave last, nodes between in execution order. */
function localOrder(scope: Scope): Int32Array {
  const place = { in: 0, node: 1, out: 2 } as const;
  const all = scope.vertices.map((_, v) => v);
  const group = (v: number): number => place[scope.vertices[v]?.kind ?? 'node'];
  return Int32Array.from(all.sort((a, b) => group(a) - group(b) || a - b));
}

function byVertex(rows: Rows, routed: Routed, order: Int32Array): { x: Float64Array; middle: Float64Array } {
  const x = new Float64Array(order.length);
  const middle = new Float64Array(order.length);
  order.forEach((v, i) => {
    x[v] = rows.x[i] ?? 0;
    middle[v] = routed.middle[i] ?? 0;
  });
  return { x, middle };
}

/** Everything that decides a group's layout, as text: equal texts are laid out once. */
function keyOf(local: Local, head: number, height: number): string {
  const columns = [
    local.form,
    local.left,
    local.right,
    local.boxUp,
    local.boxDown,
    local.up,
    local.down,
    local.roomLeft,
    local.roomRight,
    local.weight,
    local.edges.map((e) => `${e.from}>${e.to}:${e.fromDx}:${e.toDx}:${Number(e.fixed)}:${e.label}:${e.words}`),
  ];
  return `${head} ${height} ${columns.map((column) => column.join()).join('|')}`;
}
