/** Where modules that were never called are shown: beside the last node of the module before them. */

import type { GraphNode, NodeMark } from './graph';
import type { GraphIndex } from './graph_index';

/** More pills, or ghosts in one place, than this are told by their number. */
export const MOST_BESIDE = 6;
/** Beyond so many modules before it that never ran, any place in the group will do. */
const LOOK_BACK = 64;

export interface Ghost {
  readonly host: number; // the node that it stands beside
  readonly module: number;
  readonly name: string;
  readonly mark: NodeMark;
}

/** The ghosts of all groups that are open, in the order of the modules. */
export function ghostsOf(index: GraphIndex, nodes: readonly GraphNode[], nodeOfCall: Int32Array): readonly Ghost[] {
  const places = new Places(index, nodes, nodeOfCall);
  const beside = new Map<number, number[]>();
  for (const module of index.neverCalled) {
    const host = places.hostOf(module);
    if (host !== null) beside.set(host, [...(beside.get(host) ?? []), module]);
  }
  const ghosts: Ghost[] = [];
  for (const [host, modules] of beside) {
    const crowded = modules.length > MOST_BESIDE;
    const shown = crowded ? modules.slice(0, MOST_BESIDE - 1) : modules;
    for (const module of shown)
      ghosts.push({ host, module, name: places.nameIn(host, module), mark: markOf(index, places.pathOf(module)) });
    const rest = modules[shown.length];
    if (rest !== undefined) ghosts.push({ host, module: rest, name: `+${modules.length - shown.length}`, mark: '' });
  }
  return ghosts;
}

function markOf({ record }: GraphIndex, path: string): NodeMark {
  return record.findings.some((finding) => finding.module === path && finding.severity === 'warning') ? 'warn' : '';
}

class Places {
  private readonly lastOf = new Map<string, number>(); // the last node of each module path that has one
  private readonly lastIn = new Map<number, number>(); // the last node in each open group, -1 the whole
  private readonly called: ReadonlySet<number>;

  constructor(
    private readonly index: GraphIndex,
    private readonly nodes: readonly GraphNode[],
    nodeOfCall: Int32Array,
  ) {
    this.called = new Set(index.record.calls.module);
    nodes.forEach((node, id) => {
      if (node.call >= 0 && nodeOfCall[node.call] === id) this.lastOf.set(this.pathOfCall(node.call), id);
      if (node.kind === 'op' || node.kind === 'group') this.lastIn.set(node.parent, id);
    });
  }

  pathOf(module: number): string {
    const { strings, modules } = this.index.record;
    return strings[modules.path[module] ?? 0] ?? '';
  }

  /** A module's path as it is seen in the group that a node stands in. */
  nameIn(node: number, module: number): string {
    const group = this.nodes[this.nodes[node]?.parent ?? -1];
    const outer = group ? this.pathOfCall(group.call) : '';
    return outer ? this.pathOf(module).slice(outer.length + 1) : this.pathOf(module);
  }

  /** The node that a module's ghost stands beside; null where the group around it is closed or empty. */
  hostOf(module: number): number | null {
    const around = this.groupAround(module);
    if (around === null) return null;
    for (let before = module - 1; before >= Math.max(0, module - LOOK_BACK); before--) {
      const node = this.lastOf.get(this.pathOf(before));
      if (node !== undefined && this.nodes[node]?.parent === around) return node;
    }
    return this.lastIn.get(around) ?? null;
  }

  private pathOfCall(call: number): string {
    return this.pathOf(this.index.record.calls.module[call] ?? 0);
  }

  /** The open group that a module's ghost stands in, -1 the whole; null where it is closed. */
  private groupAround(module: number): number | null {
    const { parent } = this.index.record.modules;
    for (let at = parent[module] ?? -1; at >= 0 && this.pathOf(at) !== ''; at = parent[at] ?? -1) {
      const node = this.lastOf.get(this.pathOf(at));
      if (node !== undefined) return this.nodes[node]?.open ? node : null;
      if (this.called.has(at)) return null; // inside a closed group
    }
    return -1;
  }
}
