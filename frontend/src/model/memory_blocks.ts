/** What is alive at an op as blocks inside blocks: part, ×N, module, and what of it is kept for the same reason. */

import { TEXTS } from '../base/texts';
import { bareName, PARTS, partOf, reasonOf, storageName } from './memory';
import { aliveAt } from './memory_alive';
import type { MemoryTree } from './memory_tree';
import type { Memory, Record } from './record';

/** A block. Those without `inside` are drawn as they are. */
export interface Block {
  readonly key: string;
  readonly kind: 'part' | 'times' | 'module' | 'storages';
  readonly part: number; // PARTS
  readonly node: number; // nodes of the tree, -1 for a part
  readonly name: string;
  readonly bytes: number;
  readonly storages: number;
  readonly times: number; // equal modules that it stands for
  readonly reason: string; // why it is alive, "" where there are several reasons
  readonly shape: readonly number[] | null; // of each of its storages, null where they differ
  readonly dtype: string;
  readonly inside: readonly Block[];
}

interface Leaf {
  readonly name: string;
  readonly reason: string;
  readonly shape: number;
  readonly dtype: number;
  bytes: number;
  storages: number;
  mixed: boolean; // of several shapes
}

/** Blocks smaller than this part of all are told together. */
const LEAST_SHARE = 1 / 600;
/** So much of a module's storages is all that one sees of it. */
const MOST_SHARE = 0.9;

/** The blocks of each part that is alive, the largest first. */
export function aliveBlocks(record: Record, memory: Memory, tree: MemoryTree, op: number): readonly Block[] {
  const rows = aliveAt(memory, op);
  const { bytes } = memory.allocations;
  const total = rows.reduce((sum, row) => sum + (bytes[row] ?? 0), 0);
  const leaves = PARTS.map(() => new Map<number, Map<string, Leaf>>());
  for (const row of rows) {
    const ofPart = leaves[partOf(memory, row)];
    const node = tree.nodeOfStorage[row] ?? 0;
    const ofNode = ofPart?.get(node) ?? new Map<string, Leaf>();
    ofPart?.set(node, ofNode);
    count(record, memory, row, ofNode);
  }
  const maker = new BlockMaker(record, tree, total * LEAST_SHARE);
  return leaves
    .map((ofPart, part) => maker.part(part, ofPart))
    .filter((block) => block.bytes > 0)
    .sort((a, b) => b.bytes - a.bytes);
}

function count(record: Record, memory: Memory, row: number, into: Map<string, Leaf>): void {
  const { allocations, ops } = memory;
  const [born, keeper] = [allocations.born[row] ?? -1, allocations.keptBy[row] ?? -1];
  const own = allocations.name[row] ?? 0;
  const part = partOf(memory, row);
  // A parameter's full name differs from block to block, its end doesn't.
  const what = own ? endOfName(record.strings[own] ?? '') : `${ops.name[born] ?? -1}/${allocations.term[row] ?? 0}`;
  const kept = keeper < 0 ? '' : keeper === born ? 'itself' : String(ops.name[keeper] ?? -1);
  const key = `${part}|${what}|${kept}`;
  const known = into.get(key);
  const size = allocations.bytes[row] ?? 0;
  if (known) {
    known.bytes += size;
    known.storages++;
    known.mixed ||= known.shape !== allocations.shape[row];
    return;
  }
  const name = own ? endOfName(record.strings[own] ?? '') : bareName(storageName(record, memory, row));
  const reason = reasonOf(record, memory, row);
  const [shape, dtype] = [allocations.shape[row] ?? 0, allocations.dtype[row] ?? 0];
  into.set(key, { name, reason, shape, dtype, bytes: size, storages: 1, mixed: false });
}

const endOfName = (name: string): string => name.split('.').slice(-1).join();

class BlockMaker {
  constructor(
    private readonly record: Record,
    private readonly tree: MemoryTree,
    private readonly least: number,
  ) {}

  part(part: number, ofPart: ReadonlyMap<number, ReadonlyMap<string, Leaf>>): Block {
    const below = new Map<number, Block[]>();
    for (const [node, leaves] of ofPart) {
      const around = this.around(node);
      const blocks = below.get(around) ?? [];
      below.set(around, blocks);
      blocks.push(this.module(part, node, around, [...leaves.values()]));
    }
    // What is inside stands after what is around it: backwards, a ×N is whole before it is put into the next one.
    for (const node of [...below.keys()].sort((a, b) => b - a)) {
      const row = this.tree.nodes[node];
      if (node < 0 || !row) continue;
      const around = this.around(row.parent);
      const blocks = below.get(around) ?? [];
      below.set(around, blocks);
      const name = this.nameIn(node, around);
      blocks.push(
        this.together({ key: `${part}-x${node}`, kind: 'times', part, node, name, times: row.times }, below.get(node) ?? []),
      );
    }
    return this.together(
      { key: `${part}`, kind: 'part', part, node: -1, name: PARTS[part] ?? '', times: 1 },
      below.get(-1) ?? [],
    );
  }

  /** The nearest ×N around a node, or the node itself where it is one; -1 for none. */
  private around(node: number): number {
    let at = node;
    while (at >= 0 && (this.tree.nodes[at]?.times ?? 1) === 1) at = this.tree.nodes[at]?.parent ?? -1;
    return at;
  }

  /** A node's name as seen from what is around it: `mlp.fc1`. */
  private nameIn(node: number, around: number): string {
    const names: string[] = [];
    let row = this.tree.nodes[node];
    while (row && row.parent >= 0) {
      names.unshift(row.name);
      if (row.parent === around) break;
      row = this.tree.nodes[row.parent];
    }
    return names.join('.');
  }

  private module(part: number, node: number, around: number, leaves: readonly Leaf[]): Block {
    const name = this.labelOf(node, around);
    const key = `${part}-${node}`;
    const whole = leaves.reduce((sum, { bytes }) => sum + bytes, 0);
    const seen = leaves
      .toSorted((a, b) => b.bytes - a.bytes)
      .map((leaf, i) => {
        // Nearly all that a module has goes by its name alone.
        const stands = name !== '' && leaf.bytes > MOST_SHARE * whole;
        return this.storages(`${key}-${i}`, part, node, stands ? name : [name, leaf.name].filter(Boolean).join(' '), leaf);
      });
    return this.together({ key, kind: 'module', part, node, name, times: 1 }, seen);
  }

  /** What a node's storages go by: its name as seen from the ×N around it; what stands outside of modules by that of what has it. */
  private labelOf(node: number, around: number): string {
    const row = this.tree.nodes[node];
    if (row?.own) return row.parent === around ? '' : this.nameIn(row.parent, around);
    return node === around ? (row?.name ?? '') : this.nameIn(node, around); // a ×N may hold its storages itself
  }

  private storages(key: string, part: number, node: number, name: string, leaf: Leaf): Block {
    const { reason, bytes, storages, mixed } = leaf;
    return {
      ...{ key, kind: 'storages', part, node, name, bytes, storages, reason, times: 1, inside: [] },
      shape: mixed ? null : (this.record.shapes[leaf.shape] ?? null),
      dtype: this.record.strings[leaf.dtype] ?? '',
    };
  }

  /** Blocks as one, the small ones among them as one block too. */
  private together(what: Pick<Block, 'key' | 'kind' | 'part' | 'node' | 'name' | 'times'>, blocks: readonly Block[]): Block {
    const sorted = blocks.toSorted((a, b) => b.bytes - a.bytes);
    const small = sorted.filter(({ bytes }) => bytes < this.least);
    const large = small.length > 1 ? sorted.filter(({ bytes }) => bytes >= this.least) : sorted;
    const sum = (of: readonly Block[], value: 'bytes' | 'storages'): number => of.reduce((all, block) => all + block[value], 0);
    const rest: Block = {
      ...what,
      ...{ key: `${what.key}-rest`, kind: 'storages', times: 1, reason: '', shape: null, dtype: '', inside: [] },
      name: TEXTS.smallOnes(small.length),
      bytes: sum(small, 'bytes'),
      storages: sum(small, 'storages'),
    };
    const only = large.length === 1 && small.length < 2 ? large[0] : undefined;
    const inside = small.length > 1 ? [...large, rest] : large;
    const whole = { ...what, bytes: sum(sorted, 'bytes'), storages: sum(sorted, 'storages') };
    // One kind of storages needs no box of its own: the module tells it.
    if (only && what.kind === 'module') return { ...only, key: what.key };
    if (large.length === 0) return { ...whole, reason: '', shape: null, dtype: '', inside: [] };
    return { ...whole, reason: '', shape: null, dtype: '', inside };
  }
}
