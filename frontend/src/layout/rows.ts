/** One group's nodes put into rows: the spine, ranks, columns of branches, and the x of each. */

import { ChainOrder } from './chain_order';
import { BETWEEN, FORM_FIRST, FORM_LAST, LABEL_OFF } from './layout';

/** What stands in one group, ports of its border included, in execution order. Extents are from a node's anchor. */
export interface Local {
  readonly form: readonly number[];
  readonly left: readonly number[]; // half of the box, left of the anchor
  readonly right: readonly number[];
  readonly boxUp: readonly number[]; // half of the box, above the anchor
  readonly boxDown: readonly number[];
  readonly up: readonly number[]; // what the row must hold above the anchor, the box and what stands beside it
  readonly down: readonly number[];
  readonly roomLeft: readonly number[]; // what stands left of the box, gap included
  readonly roomRight: readonly number[];
  readonly weight: readonly number[];
  readonly edges: readonly LocalEdge[];
}

export interface LocalEdge {
  readonly from: number;
  readonly to: number;
  readonly fromDx: number; // where on a group's border it leaves, from the anchor; 0 for others
  readonly toDx: number;
  readonly fixed: boolean; // the place where it joins is given by a group's port
  readonly label: number;
  readonly words: number;
}

/** A vertical that keeps a column free below a node: one chain a node, whatever number of edges take it. */
export interface Rows {
  readonly rank: Int32Array; // of each node
  readonly spine: Int32Array; // the next node on the spine; -1 at its end, -2 off the spine
  readonly columnEnd: Int32Array; // the last row that a node's column reaches down to; its own rank where it has none
  readonly x: Float64Array; // of each node's anchor
  readonly columnX: ReadonlyMap<number, Float64Array>; // of a node's column, one per row below it
  readonly rights: Float64Array; // right end of each row
  readonly lefts: Float64Array;
  readonly lastInRow: Int32Array; // the rightmost node of each row, -1 where it holds none
  readonly count: number; // of rows
}

/** Rows that a branch may keep a column free for; what leads further goes by the gutter. */
const LONGEST_COLUMN = 40;
const PORT_BONUS = 1e6;

interface Cell {
  readonly node: number;
  readonly row: number;
  readonly chain: number;
  readonly order: number;
  left: number;
  right: number;
  x: number;
}

export function arrangeRows(local: Local): Rows {
  const spine = spineOf(local);
  const { rank, count } = ranksOf(local, spine);
  const columnEnd = columnsOf(local, spine, rank);
  const cells = cellsOf(local, spine, rank, columnEnd, count);
  const rows: Cell[][] = Array.from({ length: count }, () => []);
  for (const cell of cells) rows[cell.row]?.push(cell);
  placeCells(local, rows, cells);
  return readCells(local, rank, spine, columnEnd, rows);
}

/** The heaviest path from row to row, as the next node of each; ties go to the edge that came first. */
function spineOf({ form, weight, edges }: Local): Int32Array {
  const count = form.length;
  const best = new Float64Array(count);
  const before = new Int32Array(count).fill(-1);
  const into = byEnd(count, edges, 'to');
  let last = -1;
  for (let node = 0; node < count; node++) {
    best[node] = form[node] === FORM_FIRST ? PORT_BONUS : 0;
    for (const e of into.of(node)) {
      const from = edges[e]?.from ?? 0;
      if ((best[from] ?? 0) <= (best[node] ?? 0)) continue;
      best[node] = best[from] ?? 0;
      before[node] = from;
    }
    best[node] = (best[node] ?? 0) + (weight[node] ?? 0) + (form[node] === FORM_LAST ? PORT_BONUS : 0);
    if (last < 0 || (best[node] ?? 0) > (best[last] ?? 0)) last = node;
  }
  const next = new Int32Array(count).fill(-2);
  for (let node = last, below = -1; node >= 0; below = node, node = before[node] ?? -1) next[node] = below;
  return next;
}

/** Edges by one of their ends, in their order. */
export function byEnd(count: number, edges: readonly LocalEdge[], end: 'from' | 'to'): { of: (node: number) => Int32Array } {
  const first = new Int32Array(count + 1);
  for (const edge of edges) first[edge[end] + 1] = (first[edge[end] + 1] ?? 0) + 1;
  for (let i = 0; i < count; i++) first[i + 1] = (first[i + 1] ?? 0) + (first[i] ?? 0);
  const fill = first.slice();
  const list = new Int32Array(edges.length);
  edges.forEach((edge, e) => {
    const at = fill[edge[end]] ?? 0;
    list[at] = e;
    fill[edge[end]] = at + 1;
  });
  return { of: (node) => list.subarray(first[node], first[node + 1]) };
}

/** As early as possible; what hangs on nothing but itself as late as possible; empty rows left out. */
function ranksOf({ form, edges }: Local, spine: Int32Array): { rank: Int32Array; count: number } {
  const count = form.length;
  const rank = new Int32Array(count);
  const floating = new Uint8Array(count);
  const into = byEnd(count, edges, 'to');
  const out = byEnd(count, edges, 'from');
  const below = form.includes(FORM_FIRST) ? 1 : 0; // the first row is for what comes in, and nothing else
  let deepest = 0;
  for (let node = 0; node < count; node++) {
    rank[node] = form[node] === FORM_FIRST ? 0 : below;
    floating[node] = spine[node] === -2 && form[node] !== FORM_FIRST ? 1 : 0;
    for (const e of into.of(node)) {
      const from = edges[e]?.from ?? 0;
      rank[node] = Math.max(rank[node] ?? 0, (rank[from] ?? 0) + 1);
      if (!floating[from]) floating[node] = 0;
    }
    if (form[node] !== FORM_LAST) deepest = Math.max(deepest, rank[node] ?? 0);
  }
  const hasLast = form.includes(FORM_LAST);
  for (let node = count - 1; node >= 0; node--) {
    if (form[node] === FORM_LAST) rank[node] = deepest + 1;
    if (!floating[node]) continue;
    let latest = Infinity;
    for (const e of out.of(node)) latest = Math.min(latest, (rank[edges[e]?.to ?? 0] ?? 0) - 1);
    if (latest < Infinity) rank[node] = latest;
  }
  return withoutEmptyRows(rank, deepest + (hasLast ? 2 : 1));
}

function withoutEmptyRows(rank: Int32Array, rows: number): { rank: Int32Array; count: number } {
  const used = new Uint8Array(rows);
  for (const row of rank) used[row] = 1;
  const renamed = new Int32Array(rows);
  let count = 0;
  for (let row = 0; row < rows; row++) {
    renamed[row] = count;
    if (used[row]) count++;
  }
  return { rank: rank.map((row) => renamed[row] ?? 0), count };
}

/** How far down each branch must keep its column free. */
function columnsOf({ form, edges }: Local, spine: Int32Array, rank: Int32Array): Int32Array {
  const end = rank.slice();
  let room = 4 * form.length + 64;
  for (const { from, to } of edges) {
    const reach = (rank[to] ?? 0) - 1;
    if (spine[from] !== -2 || reach - (rank[from] ?? 0) > LONGEST_COLUMN || reach <= (end[from] ?? 0) || room <= 0) continue;
    room -= reach - (end[from] ?? 0);
    end[from] = reach;
  }
  return end;
}

/** A cell for each node, for each row of a branch's column, and for the spine where it passes a row without a node. */
function cellsOf(local: Local, spine: Int32Array, rank: Int32Array, columnEnd: Int32Array, rows: number): Cell[] {
  const chain = chainsOf(local, spine, rank, columnEnd);
  const cells: Cell[] = local.form.map((_, node) => ({
    node,
    row: rank[node] ?? 0,
    chain: chain[node] ?? 0,
    order: node,
    left: (local.left[node] ?? 0) + (local.roomLeft[node] ?? 0),
    right: (local.right[node] ?? 0) + (local.roomRight[node] ?? 0),
    x: 0,
  }));
  const passing = new Map<number, Cell>(); // by row and node
  const pass = (node: number, row: number, of: number): void => {
    const cell = { node: -1 - node, row, chain: of, order: node, left: 4, right: 4, x: 0 };
    passing.set(node * rows + row, cell);
    cells.push(cell);
  };
  local.form.forEach((_, node) => {
    const next = spine[node] ?? -2;
    const end = next >= 0 ? (rank[next] ?? 0) - 1 : (columnEnd[node] ?? 0);
    for (let row = (rank[node] ?? 0) + 1; row <= end; row++) pass(node, row, chain[node] ?? 0);
  });
  reserveLabels(local, rank, rows, cells, passing);
  return cells;
}

/** Labels stand right of an edge and words left of it: the cells above and below make room for them. */
function reserveLabels(
  local: Local,
  rank: Int32Array,
  rows: number,
  cells: readonly Cell[],
  passing: ReadonlyMap<number, Cell>,
): void {
  for (const edge of local.edges) {
    if (!edge.label && !edge.words) continue;
    const above = (rank[edge.to] ?? 0) - 1;
    const cell = above === rank[edge.from] ? cells[edge.from] : passing.get(edge.from * rows + above);
    for (const taken of [cell, cells[edge.to]]) {
      if (!taken) continue;
      if (edge.label) taken.right = Math.max(taken.right, LABEL_OFF + edge.label);
      if (edge.words) taken.left = Math.max(taken.left, LABEL_OFF + edge.words);
    }
  }
}

/** Nodes that follow each other off the spine share a column, where the upper one needs it no further: chain 0 is the spine. */
function chainsOf({ form, edges }: Local, spine: Int32Array, rank: Int32Array, columnEnd: Int32Array): Int32Array {
  const chain = new Int32Array(form.length);
  const continued = new Uint8Array(form.length);
  const into = byEnd(form.length, edges, 'to');
  let next = 1;
  form.forEach((_, node) => {
    if (spine[node] !== -2) return;
    for (const e of into.of(node)) {
      const from = edges[e]?.from ?? 0;
      const taken = continued[from] === 1 || (columnEnd[from] ?? 0) >= (rank[node] ?? 0);
      if (spine[from] !== -2 || taken || (rank[node] ?? 0) - (rank[from] ?? 0) > LONGEST_COLUMN) continue;
      continued[from] = 1;
      chain[node] = chain[from] ?? 0;
      return;
    }
    chain[node] = next++;
  });
  return chain;
}

/** Spine at 0, the rest to its right, each as near as its column and the row allow. */
function placeCells(local: Local, rows: readonly Cell[][], cells: readonly Cell[]): void {
  const into = byEnd(local.form.length, local.edges, 'to');
  const chainX = new Map<number, number>([[0, 0]]);
  const wish = (cell: Cell): number => {
    const own = chainX.get(cell.chain);
    if (own !== undefined) return own;
    let x = 0;
    for (const e of into.of(cell.order)) x = Math.max(x, cells[local.edges[e]?.from ?? 0]?.x ?? 0);
    return x;
  };
  const order = new ChainOrder(0);
  for (const row of rows) {
    row.sort(
      (a, b) => Number(!order.has(a.chain)) - Number(!order.has(b.chain)) || order.compare(a.chain, b.chain) || a.order - b.order,
    );
    for (const cell of row.filter(({ chain }) => !order.has(chain))) {
      const wished = wish(cell);
      let left = 0;
      for (const { chain } of row)
        if (order.has(chain) && (chainX.get(chain) ?? 0) <= wished && order.compare(left, chain) < 0) left = chain;
      order.insertAfter(left, cell.chain);
    }
    row.sort((a, b) => order.compare(a.chain, b.chain) || a.order - b.order);
    pushRight(row, chainX);
  }
  for (let pass = 0; pass < 6; pass++) {
    let moved = false;
    for (const row of rows) moved = pushRight(row, chainX) || moved;
    if (!moved) break;
  }
}

function pushRight(row: readonly Cell[], chainX: Map<number, number>): boolean {
  let end = -Infinity;
  let moved = false;
  for (const cell of row) {
    const free = end === -Infinity ? (chainX.get(cell.chain) ?? 0) : end + BETWEEN + cell.left;
    const x = cell.chain === 0 ? 0 : Math.max(free, chainX.get(cell.chain) ?? -Infinity);
    if (x !== cell.x) moved = true;
    cell.x = x;
    if (cell.chain !== 0) chainX.set(cell.chain, Math.max(x, chainX.get(cell.chain) ?? -Infinity));
    end = x + cell.right;
  }
  return moved;
}

function readCells(local: Local, rank: Int32Array, spine: Int32Array, columnEnd: Int32Array, rows: readonly Cell[][]): Rows {
  const x = new Float64Array(local.form.length);
  const columnX = new Map<number, Float64Array>();
  const rights = new Float64Array(rows.length);
  const lefts = new Float64Array(rows.length);
  const lastInRow = new Int32Array(rows.length).fill(-1);
  rows.forEach((row, r) => {
    for (const cell of row) {
      rights[r] = Math.max(rights[r] ?? 0, cell.x + cell.right);
      lefts[r] = Math.min(lefts[r] ?? 0, cell.x - cell.left);
      if (cell.node >= 0) {
        x[cell.node] = cell.x;
        lastInRow[r] = cell.node;
        continue;
      }
      const node = -1 - cell.node;
      const top = rank[node] ?? 0;
      const column = columnX.get(node) ?? new Float64Array((columnEnd[node] ?? top) - top);
      columnX.set(node, column);
      if (r - top - 1 < column.length) column[r - top - 1] = cell.x;
    }
  });
  return { rank, spine, columnEnd, x, columnX, rights, lefts, lastInRow, count: rows.length };
}
