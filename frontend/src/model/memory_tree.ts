/** Modules as the tree that memory is told by: equal neighbours as one ×N, only what ever holds a storage. */

import { TEXTS } from '../base/texts';
import { callsByModule, childModules, firstCalls } from './calls';
import { equalRuns, kindsOfModules, lastOfPath } from './equal_modules';
import type { Subject } from './findings';
import { moduleOfStorage, storageName } from './memory';
import type { Memory, Record } from './record';

/** A row of the tree. Those that stand for what a module holds outside of the modules inside it are `own`. */
export interface MemoryNode {
  readonly key: string;
  readonly parent: number; // nodes, before itself; -1 for the root
  readonly depth: number;
  readonly name: string;
  readonly times: number; // equal neighbours that it stands for
  readonly count: number; // modules that it stands for: more, where what is around it is ×N too
  readonly own: boolean;
  readonly modules: readonly number[];
  readonly subject: Subject | null;
  inside: number; // nodes directly below
}

export interface MemoryTree {
  readonly nodes: readonly MemoryNode[]; // a node stands before those inside it
  readonly nodeOfModule: Int32Array; // the node that stands for a module, -1 where nothing in it ever holds a storage
  readonly nodeOfStorage: Int32Array; // the node that a storage counts with, without its inside
}

const MOST_NAMES = 3;

/** The tree for the storages of one iteration. */
export function memoryTree(record: Record, memory: Memory): MemoryTree {
  return new TreeBuilder(record, memory).build();
}

class TreeBuilder {
  private readonly nodes: MemoryNode[] = [];
  private readonly nodeOfModule: Int32Array;
  private readonly ownNode: Int32Array; // by module
  private readonly modules: Int32Array; // by storage
  private readonly owns: Uint8Array; // by module: a storage of its own
  private readonly holds: Uint8Array; // by module: a storage of its own or of one inside
  private readonly children: readonly (readonly number[])[];
  private readonly calls: readonly (readonly number[])[];
  private readonly kinds: Int32Array;
  private readonly first: Float64Array;

  constructor(
    private readonly record: Record,
    private readonly memory: Memory,
  ) {
    const count = record.modules.path.length;
    this.nodeOfModule = new Int32Array(count).fill(-1);
    this.ownNode = new Int32Array(count).fill(-1);
    this.modules = memory.allocations.born.map((_, row) => moduleOfStorage(record, memory, row));
    this.owns = new Uint8Array(count);
    for (const module of this.modules) if (module >= 0) this.owns[module] = 1;
    this.holds = this.owns.slice();
    for (let module = count - 1; module > 0; module--) {
      const parent = record.modules.parent[module] ?? -1;
      if (this.holds[module] && parent >= 0) this.holds[parent] = 1;
    }
    this.children = childModules(record);
    this.calls = callsByModule(record);
    this.kinds = kindsOfModules(record);
    this.first = firstCalls(record);
  }

  build(): MemoryTree {
    const root = this.add({
      parent: -1,
      name: TEXTS.all,
      times: 1,
      count: 1,
      own: false,
      modules: [0],
      subject: this.subject(0),
    });
    if (this.record.modules.path.length) this.fill([0], root);
    const outside = this.modules.includes(-1)
      ? this.add({ parent: root, name: '', times: 1, count: 1, own: true, modules: [], subject: null })
      : root;
    const nodeOfStorage = this.modules.map((module) => (module < 0 ? outside : Math.max(root, this.ownNode[module] ?? root)));
    const names = this.ownNames(nodeOfStorage);
    const nodes = this.nodes.map((node, at) => (node.own ? { ...node, name: names.get(at) ?? '' } : node));
    return { nodes, nodeOfModule: this.nodeOfModule, nodeOfStorage };
  }

  private add(node: Omit<MemoryNode, 'key' | 'depth' | 'inside'>): number {
    const around = this.nodes[node.parent];
    if (around) around.inside++;
    const depth = around ? around.depth + 1 : 0;
    const key = `${node.own ? 'own' : 'module'}-${node.modules[0] ?? 'none'}`;
    return this.nodes.push({ ...node, key, depth, inside: 0 }) - 1;
  }

  /** What is inside of equal modules goes below their node, each stretch of equal ones as one. */
  private fill(group: readonly number[], node: number): void {
    for (const module of group) this.nodeOfModule[module] = node;
    const runs = this.runsIn(group);
    const owns = group.some((module) => this.owns[module]);
    const [only] = runs;
    // A list of nothing but equal modules, and a module around a single one, need no row of their own.
    const isRoot = this.nodes[node]?.parent === -1;
    if (only && runs.length === 1 && !owns && !isRoot && this.merged(node, only, group.length)) return;
    if (owns) this.addOwn(group, node, runs.length > 0);
    for (const run of runs) {
      const times = run.length / group.length;
      const name = times > 1 ? `${this.nameOf(run[0])}…${this.nameOf(run[times - 1])}` : this.nameOf(run[0]);
      const around = this.nodes[node];
      const listed = around && !isRoot && times > 1 ? `${around.name}.${name}` : name;
      const [first = 0] = run;
      this.fill(
        run,
        this.add({
          parent: node,
          name: listed,
          times,
          count: run.length,
          own: false,
          modules: run,
          subject: this.subject(first),
        }),
      );
    }
  }

  /** Lets a node stand for the only thing inside it too; false where it is ×N already. */
  private merged(node: number, run: readonly number[], around: number): boolean {
    const now = this.nodes[node];
    const times = run.length / around;
    if (!now || (now.times > 1 && times > 1)) return false;
    const name = times > 1 ? now.name : `${now.name}.${this.nameOf(run[0])}`;
    const [first = 0] = run;
    this.nodes[node] = {
      ...now,
      name,
      times: now.times * times,
      count: run.length,
      modules: [...now.modules, ...run],
      subject: this.subject(first),
    };
    this.fill(run, node);
    return true;
  }

  private addOwn(group: readonly number[], node: number, apart: boolean): void {
    const around = this.nodes[node];
    const [first = 0] = group;
    const at = apart
      ? this.add({
          parent: node,
          name: '',
          times: 1,
          count: around?.count ?? 1,
          own: true,
          modules: group,
          subject: this.subject(first),
        })
      : node;
    for (const module of group) this.ownNode[module] = at;
  }

  /** Children of equal modules stand in the same order: those at one place are equal too. */
  private runsIn(group: readonly number[]): readonly (readonly number[])[] {
    const [model = 0] = group;
    const places = (this.children[model] ?? []).map((child, place) => ({ child, place }));
    const all = equalRuns(this.record, this.kinds, this.children[model] ?? []).map((run) => {
      const from = places.find(({ child }) => child === run[0])?.place ?? 0;
      return group.flatMap((module) => (this.children[module] ?? []).slice(from, from + run.length));
    });
    const firstOf = (run: readonly number[]): number => Math.min(...run.map((module) => this.first[module] ?? Infinity));
    return all
      .filter((run) => run.some((module) => this.holds[module]))
      .map((run) => ({ run, at: firstOf(run) }))
      .sort((a, b) => (a.at === b.at ? 0 : a.at - b.at))
      .map(({ run }) => run);
  }

  private nameOf(module = 0): string {
    return lastOfPath(this.record, module);
  }

  private subject(module: number): Subject | null {
    const call = this.calls[module]?.[0];
    if (call !== undefined) return { kind: 'call', id: call };
    return module < this.record.modules.path.length ? { kind: 'module', id: module } : null;
  }

  /** What a module holds itself goes by the names of the largest. */
  private ownNames(nodeOfStorage: Int32Array): ReadonlyMap<number, string> {
    const { record, memory } = this;
    const byNode = new Map<number, Map<string, number>>();
    nodeOfStorage.forEach((node, row) => {
      if (!this.nodes[node]?.own) return;
      const bytes = byNode.get(node) ?? new Map<string, number>();
      byNode.set(node, bytes);
      const name = shortName(storageName(record, memory, row)) || TEXTS.someTensor;
      bytes.set(name, (bytes.get(name) ?? 0) + (memory.allocations.bytes[row] ?? 0));
    });
    return new Map(
      [...byNode].map(([node, bytes]) => [node, listed([...bytes].sort((a, b) => b[1] - a[1]).map(([name]) => name))]),
    );
  }
}

/** A parameter goes by its own name; optimizer state by its parameter's and its key. */
function shortName(name: string): string {
  const parts = name.split('.');
  return parts.length < 3 ? name : parts.slice(-2).join('.');
}

const listed = (names: readonly string[]): string =>
  names.length > MOST_NAMES ? `${names.slice(0, MOST_NAMES).join(', ')}, …` : names.join(', ');

/** The nodes inside a node and itself, as a test for one of them. */
export function isWithin(tree: MemoryTree, node: number, around: number): boolean {
  for (let at = node; at >= 0; at = tree.nodes[at]?.parent ?? -1) if (at === around) return true;
  return false;
}
