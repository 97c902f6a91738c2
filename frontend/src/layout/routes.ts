/** One group's edges: which run straight, which through the gaps between rows, which in the gutter; then all y and all points. */

import { FORM_CIRCLE, GAP, GAP_LABEL, LABEL_OFF, LANE, TRACK } from './layout';
import { LaneTree } from './lane_tree';
import { byEnd, type Local, type LocalEdge, type Rows } from './rows';

/** One edge as it is drawn, relative to the group: the spine is x = 0, the first row begins at y = 0. */
export interface Route {
  readonly points: number[];
  readonly dot: boolean; // its first point lies on another line
  readonly label: { readonly x: number; readonly y: number; readonly wordsX: number } | null;
}

export interface Routed {
  readonly middle: Float64Array; // y of each node's middle
  readonly routes: readonly Route[];
  readonly left: number;
  readonly right: number;
  readonly height: number;
}

/** A horizontal stretch in the gap below a row; edges that leave the same place share theirs. */
interface Stretch {
  readonly gap: number;
  low: number;
  high: number;
  readonly leftward: boolean;
  track: number;
}

interface Plan {
  readonly edge: LocalEdge;
  readonly hops: readonly { readonly stretch: Stretch; readonly x: number }[]; // in the gap of the stretch, on to x
  readonly start: number; // x
  readonly side: number; // 0 joins from above; 1 from the right, this much below the middle: see sideY
  readonly sideY: number;
  readonly branches: boolean; // it leaves another edge's line in the first gap
  readonly lane: number; // x of its lane, NaN where it has none
  readonly above: boolean; // its label stands above the stretches of the gap, beside what it comes from
}

export function routeEdges(local: Local, rows: Rows): Routed {
  const planner = new Planner(local, rows);
  const plans = planner.plans();
  const gaps = gapsOf(rows, plans, planner.stretches);
  const middle = middles(local, rows, gaps.height);
  const routes = plans.map((plan) => draw(plan, local, rows, middle, gaps));
  const last = rows.count - 1;
  return {
    middle: middle.nodes,
    routes,
    left: rows.lefts.reduce((low, x) => Math.min(low, x), 0),
    right: Math.max(planner.right, 0),
    height: last < 0 ? 0 : (middle.bottom[last] ?? 0),
  };
}

class Planner {
  readonly stretches: Stretch[] = [];
  right = 0;
  private readonly byNet = new Map<string, Stretch>();
  private readonly lanes = new Map<string, number>();
  private readonly spots = new Set<string>();
  private readonly sideJoins = new Map<number, number>();
  private readonly ports: Float64Array;
  private readonly degree: Int32Array;
  private readonly gutter: readonly boolean[];
  private readonly entries: Int32Array; // how many edges join a node from above
  private readonly stems = new Set<string>(); // places whose line down to the gap is drawn by some edge

  constructor(
    private readonly local: Local,
    private readonly rows: Rows,
  ) {
    this.degree = new Int32Array(local.form.length);
    for (const { from } of local.edges) this.degree[from] = (this.degree[from] ?? 0) + 1;
    this.gutter = local.edges.map((edge) => this.needsLane(edge));
    this.right = rows.rights.reduce((most, x) => Math.max(most, x), 0);
    this.placeLanes();
    this.ports = this.placePorts();
    this.entries = new Int32Array(local.form.length);
    local.edges.forEach((edge, e) => {
      if (!this.joinsSide(edge, e)) this.entries[edge.to] = (this.entries[edge.to] ?? 0) + 1;
    });
  }

  plans(): Plan[] {
    const plans = this.local.edges.map((edge, e) => this.plan(edge, e));
    for (const plan of plans) if (!plan.branches) this.stems.add(this.net(plan.edge));
    return plans.map((plan) => {
      if (this.stems.has(this.net(plan.edge))) return plan;
      this.stems.add(this.net(plan.edge));
      return { ...plan, branches: false };
    });
  }

  private rank(node: number): number {
    return this.rows.rank[node] ?? 0;
  }

  private x(node: number): number {
    return this.rows.x[node] ?? 0;
  }

  private startX(edge: LocalEdge): number {
    return this.x(edge.from) + edge.fromDx;
  }

  private follows(edge: LocalEdge): boolean {
    return this.rows.spine[edge.from] === edge.to;
  }

  private needsLane(edge: LocalEdge): boolean {
    const distance = this.rank(edge.to) - this.rank(edge.from);
    if (distance <= 1) return false;
    if (this.follows(edge)) return edge.fromDx !== 0;
    return (this.rows.columnEnd[edge.from] ?? 0) < this.rank(edge.to) - 1;
  }

  private net(edge: LocalEdge): string {
    return `${edge.from} ${edge.fromDx}`;
  }

  /** Lanes stand right of all that they pass; those that pass less stand further in. */
  private placeLanes(): void {
    const spans = new Map<string, { first: number; last: number; label: number }>();
    this.local.edges.forEach((edge, e) => {
      if (!this.gutter[e]) return;
      const span = spans.get(this.net(edge)) ?? { first: this.rank(edge.from) + 1, last: 0, label: 0 };
      span.last = Math.max(span.last, this.rank(edge.to));
      span.label = Math.max(span.label, edge.label + (edge.words ? edge.words + 8 : 0));
      spans.set(this.net(edge), span);
    });
    const tree = new LaneTree(this.rows.rights);
    const inner = [...spans].sort(([, a], [, b]) => a.last - a.first - (b.last - b.first) || a.first - b.first);
    for (const [net, { first, last, label }] of inner) {
      const x = tree.mostOf(first, last) + LANE;
      this.lanes.set(net, x);
      const end = x + (label ? LABEL_OFF + label : 0);
      tree.raise(first, last, end);
      this.right = Math.max(this.right, end);
    }
  }

  /** Whether an edge can come in from the right, as nothing stands between. */
  private joinsSide(edge: LocalEdge, e: number): boolean {
    const { form } = this.local;
    if (edge.fixed || this.rows.lastInRow[this.rank(edge.to)] !== edge.to || (this.local.roomRight[edge.to] ?? 0) > 0)
      return false;
    if (this.gutter[e]) return true;
    return form[edge.to] === FORM_CIRCLE && !this.follows(edge) && this.columnAbove(edge) > this.x(edge.to) + 24;
  }

  /** The x at which an edge comes down to the gap above its target, before any last hop. */
  private columnAbove(edge: LocalEdge): number {
    const column = this.rows.columnX.get(edge.from);
    if (this.follows(edge) || !column?.length) return this.startX(edge);
    return column[this.rank(edge.to) - this.rank(edge.from) - 2] ?? this.startX(edge);
  }

  /** Where each edge joins from above, from its target's anchor: the straight one in the middle, others beside it. */
  private placePorts(): Float64Array {
    const { edges, left, form } = this.local;
    const ports = new Float64Array(edges.length);
    const into = byEnd(form.length, edges, 'to');
    form.forEach((_, node) => {
      const free = [...into.of(node)].filter((e) => {
        const edge = edges[e];
        return edge !== undefined && !edge.fixed && !this.joinsSide(edge, e);
      });
      const xOf = (e: number): number => {
        const edge = edges[e];
        return edge === undefined ? 0 : this.gutter[e] ? (this.lanes.get(this.net(edge)) ?? 0) : this.columnAbove(edge);
      };
      free.sort((a, b) => xOf(a) - xOf(b) || a - b);
      const straight = Math.max(
        0,
        free.findIndex((e) => xOf(e) === this.x(node)),
      );
      const widest = Math.max(straight, free.length - 1 - straight, 1);
      const step = Math.min(12, ((left[node] ?? 0) - 4) / widest);
      free.forEach((e, i) => (ports[e] = (i - straight) * step));
    });
    edges.forEach((edge, e) => edge.fixed && (ports[e] = edge.toDx));
    return ports;
  }

  private plan(edge: LocalEdge, e: number): Plan {
    const entry = this.x(edge.to) + (this.ports[e] ?? 0);
    const lastGap = this.rank(edge.to) - 1;
    const start = this.startX(edge);
    const side = this.joinsSide(edge, e);
    const hops: { stretch: Stretch; x: number }[] = [];
    let at = start;
    const go = (gap: number, x: number): void => {
      if (Math.abs(x - at) < 0.01) return;
      hops.push({ stretch: this.stretch(edge, gap, at, x), x });
      at = x;
    };
    const lane = this.gutter[e] ? (this.lanes.get(this.net(edge)) ?? 0) : NaN;
    if (this.gutter[e]) go(this.rank(edge.from), lane);
    else if (!this.follows(edge)) this.columnHops(edge, go);
    if (!side) go(lastGap, entry);
    const leaves = hops[0]?.stretch.gap === this.rank(edge.from);
    return {
      edge,
      hops,
      start,
      side: side ? 1 : 0,
      sideY: side ? this.nextSideY(edge.to) : 0,
      branches: leaves && (this.degree[edge.from] ?? 0) > 1,
      lane,
      above: !side && (this.entries[edge.to] ?? 0) > 1 && Number.isNaN(lane) && this.takesSpot(edge),
    };
  }

  private columnHops(edge: LocalEdge, go: (gap: number, x: number) => void): void {
    const column = this.rows.columnX.get(edge.from);
    const top = this.rank(edge.from);
    for (let row = top + 1; row < this.rank(edge.to); row++) go(row - 1, column?.[row - top - 1] ?? 0);
  }

  /** Whether a label may stand where its edge leaves: one for each place and gap. */
  private takesSpot(edge: LocalEdge): boolean {
    if (!edge.label && !edge.words) return true;
    const spot = `${this.net(edge)} ${this.rank(edge.to)}`;
    const free = !this.spots.has(spot);
    this.spots.add(spot);
    return free;
  }

  private nextSideY(node: number): number {
    const taken = this.sideJoins.get(node) ?? 0;
    this.sideJoins.set(node, taken + 1);
    return taken === 0 ? 0 : taken % 2 ? 5 * Math.ceil(taken / 2) : -5 * (taken / 2);
  }

  private stretch(edge: LocalEdge, gap: number, from: number, to: number): Stretch {
    const leaves = gap === this.rank(edge.from);
    const key = leaves ? `${this.net(edge)} ${gap}` : `${this.net(edge)} ${gap} ${to}`;
    const known = this.byNet.get(key);
    if (known) {
      known.low = Math.min(known.low, from, to);
      known.high = Math.max(known.high, from, to);
      return known;
    }
    const stretch = { gap, low: Math.min(from, to), high: Math.max(from, to), leftward: to < from, track: 0 };
    this.byNet.set(key, stretch);
    this.stretches.push(stretch);
    return stretch;
  }
}

interface Gaps {
  readonly height: Float64Array;
  readonly above: Uint8Array; // whether labels stand above the stretches
  readonly tracks: Int32Array;
}

/** Gives stretches that would touch tracks of their own, and each gap the height that it needs. */
function gapsOf(rows: Rows, plans: readonly Plan[], stretches: readonly Stretch[]): Gaps {
  const count = Math.max(0, rows.count - 1);
  const byGap: Stretch[][] = Array.from({ length: count }, () => []);
  for (const stretch of stretches) byGap[stretch.gap]?.push(stretch);
  const tracks = new Int32Array(count);
  byGap.forEach((inGap, gap) => (tracks[gap] = assignTracks(inGap)));
  const above = new Uint8Array(count);
  const below = new Uint8Array(count);
  for (const plan of plans) {
    if (plan.edge.label || plan.edge.words) (plan.above ? above : below)[labelGap(plan, rows)] = 1;
  }
  const height = new Float64Array(count);
  for (let gap = 0; gap < count; gap++) {
    const k = tracks[gap] ?? 0;
    const labels = (above[gap] ? 1 : 0) + (below[gap] ? 1 : 0);
    height[gap] = k === 0 ? (labels ? GAP_LABEL : GAP) : GAP + TRACK * (k - 1) + (above[gap] ? 16 : 0) + (below[gap] ? 14 : 0);
  }
  return { height, above, tracks };
}

/** Rightward ones from long to short, then leftward ones from short to long: so that nested ones don't cross. */
function assignTracks(inGap: Stretch[]): number {
  const length = (stretch: Stretch): number => stretch.high - stretch.low;
  inGap.sort((a, b) => Number(a.leftward) - Number(b.leftward) || (a.leftward ? length(a) - length(b) : length(b) - length(a)));
  const ends: Stretch[][] = [];
  for (const stretch of inGap) {
    let track = ends.length;
    while (track > 0 && ends[track - 1]?.every((other) => other.low > stretch.high + 8 || other.high < stretch.low - 8)) track--;
    (ends[track] ??= []).push(stretch);
    stretch.track = track;
  }
  return ends.length;
}

function middles(local: Local, rows: Rows, gaps: Float64Array): { nodes: Float64Array; top: Float64Array; bottom: Float64Array } {
  const up = new Float64Array(rows.count);
  const down = new Float64Array(rows.count);
  local.form.forEach((_, node) => {
    const r = rows.rank[node] ?? 0;
    up[r] = Math.max(up[r] ?? 0, local.up[node] ?? 0);
    down[r] = Math.max(down[r] ?? 0, local.down[node] ?? 0);
  });
  const top = new Float64Array(rows.count);
  const bottom = new Float64Array(rows.count);
  for (let r = 0; r < rows.count; r++) {
    top[r] = r === 0 ? 0 : (bottom[r - 1] ?? 0) + (gaps[r - 1] ?? 0);
    bottom[r] = (top[r] ?? 0) + (up[r] ?? 0) + (down[r] ?? 0);
  }
  const nodes = Float64Array.from(local.form, (_, node) => {
    const r = rows.rank[node] ?? 0;
    return (top[r] ?? 0) + (up[r] ?? 0);
  });
  return { nodes, top, bottom };
}

function draw(
  plan: Plan,
  local: Local,
  rows: Rows,
  at: { nodes: Float64Array; top: Float64Array; bottom: Float64Array },
  gaps: Gaps,
): Route {
  const { edge, hops } = plan;
  const stretchY = (stretch: Stretch): number =>
    (at.bottom[stretch.gap] ?? 0) + (gaps.above[stretch.gap] ? 22 : 6) + TRACK * stretch.track;
  const fromY = (at.nodes[edge.from] ?? 0) + (local.boxDown[edge.from] ?? 0);
  const toY = (at.nodes[edge.to] ?? 0) - (local.boxUp[edge.to] ?? 0);
  const points: number[] = plan.branches ? [] : [plan.start, fromY];
  let x = plan.start;
  for (const hop of hops) {
    const y = stretchY(hop.stretch);
    points.push(x, y, hop.x, y);
    x = hop.x;
  }
  if (plan.side) {
    const y = (at.nodes[edge.to] ?? 0) + plan.sideY;
    points.push(x, y, (rows.x[edge.to] ?? 0) + (local.right[edge.to] ?? 0), y);
  } else points.push(x, toY);
  return { points, dot: plan.branches, label: labelPlace(plan, rows, at, x, gaps) };
}

/** The gap that a label stands in: above the target; one higher beside a lane, which may end in the last one. */
function labelGap({ edge, lane }: Plan, rows: Rows): number {
  return (rows.rank[edge.to] ?? 0) - (Number.isNaN(lane) ? 1 : 2);
}

function labelPlace(
  plan: Plan,
  rows: Rows,
  at: { readonly top: Float64Array; readonly bottom: Float64Array },
  x: number,
  gaps: Gaps,
): Route['label'] {
  const { edge } = plan;
  if (!edge.label && !edge.words) return null;
  const gap = labelGap(plan, rows);
  const top = at.bottom[gap] ?? 0;
  const bottom = at.top[gap + 1] ?? 0;
  const y = (gaps.tracks[gap] ?? 0) === 0 ? (top + bottom) / 2 - 1 : plan.above ? top + 11 : bottom - 13;
  if (!Number.isNaN(plan.lane)) return { x: plan.lane + LABEL_OFF, y, wordsX: NaN };
  const before = plan.hops.length && plan.above ? (plan.hops.at(-2)?.x ?? plan.start) : x;
  return { x: before + LABEL_OFF, y, wordsX: before - LABEL_OFF };
}
