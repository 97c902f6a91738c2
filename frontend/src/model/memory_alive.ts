/** What is alive at an op: bytes of each module by part, as rows that add up. */

import { moduleOfStorage, PARTS, partOf } from './memory';
import { spansOf } from './memory_lines';
import type { MemoryNode, MemoryTree } from './memory_tree';
import type { Memory, Record } from './record';

/** The storages that are alive at an op, in the order in which they came up. */
export function aliveAt(memory: Memory, op: number): Int32Array {
  const { first, end } = spansOf(memory);
  let count = 0;
  const rows = new Int32Array(first.length);
  for (let row = 0; row < first.length; row++) if ((first[row] ?? 0) <= op && op < (end[row] ?? 0)) rows[count++] = row;
  return rows.subarray(0, count);
}

/** Bytes alive at an op by module, those inside it included. */
export function aliveByModule(record: Record, memory: Memory, op: number): Float64Array {
  const bytes = new Float64Array(record.modules.path.length);
  for (const row of aliveAt(memory, op)) {
    const module = moduleOfStorage(record, memory, row);
    if (module >= 0) bytes[module] = (bytes[module] ?? 0) + (memory.allocations.bytes[row] ?? 0);
  }
  for (let module = bytes.length - 1; module > 0; module--) {
    const parent = record.modules.parent[module] ?? -1;
    if (parent >= 0) bytes[parent] = (bytes[parent] ?? 0) + (bytes[module] ?? 0);
  }
  return bytes;
}

export interface MemoryRow {
  readonly key: string;
  readonly under: string | null;
  readonly depth: number;
  readonly inside: number;
  readonly at: number; // nodes of the tree
  readonly node: MemoryNode;
  readonly bytes: number;
  readonly parts: Float64Array; // of each of PARTS
}

/** A row for each node of the tree, what is inside it included. */
export function memoryRows(memory: Memory, tree: MemoryTree, op: number): readonly MemoryRow[] {
  const { nodes, nodeOfStorage } = tree;
  const width = PARTS.length;
  const bytes = new Float64Array(nodes.length * width);
  for (const row of aliveAt(memory, op)) {
    const at = (nodeOfStorage[row] ?? 0) * width + partOf(memory, row);
    bytes[at] = (bytes[at] ?? 0) + (memory.allocations.bytes[row] ?? 0);
  }
  for (let at = nodes.length - 1; at > 0; at--) {
    const parent = nodes[at]?.parent ?? -1;
    if (parent < 0) continue;
    for (let part = 0; part < width; part++)
      bytes[parent * width + part] = (bytes[parent * width + part] ?? 0) + (bytes[at * width + part] ?? 0);
  }
  return nodes.map((node, at) => {
    const parts = bytes.subarray(at * width, (at + 1) * width);
    return {
      key: node.key,
      under: nodes[node.parent]?.key ?? null,
      depth: node.depth,
      inside: node.inside,
      at,
      node,
      bytes: parts.reduce((sum, each) => sum + each, 0),
      parts,
    };
  });
}

export interface MemorySort {
  readonly by: string; // 'name', 'bytes' or one of PARTS
  readonly descending: boolean;
}

/** The rows sorted among their siblings; null, and by name, is the order in which the modules ran. */
export function sortMemoryRows(rows: readonly MemoryRow[], sort: MemorySort | null): readonly MemoryRow[] {
  if (!sort) return rows;
  const part = PARTS.findIndex((each) => each === sort.by);
  const value = (row: MemoryRow): number => (part >= 0 ? (row.parts[part] ?? 0) : row.bytes);
  const sign = sort.descending ? -1 : 1;
  const under = new Map<string | null, MemoryRow[]>();
  for (const row of rows) {
    const siblings = under.get(row.under);
    if (siblings) siblings.push(row);
    else under.set(row.under, [row]);
  }
  const byName = (a: MemoryRow, b: MemoryRow): number => sign * a.node.name.localeCompare(b.node.name, 'en', { numeric: true });
  const compare = sort.by === 'name' ? byName : (a: MemoryRow, b: MemoryRow): number => sign * (value(a) - value(b));
  const inOrder = (key: string | null): MemoryRow[] =>
    (under.get(key) ?? []).toSorted(compare).flatMap((row) => [row, ...inOrder(row.key)]);
  return inOrder(null);
}
