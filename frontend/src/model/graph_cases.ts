/** Tells each node of a union's graph which cases ran it, and which didn't run in the case that is picked. */

import {
  casesOfCall,
  casesOfOp,
  casesOfOutput,
  casesOfTensor,
  casesWith,
  isSeen,
  ranAlike,
  told,
  type CaseSet,
} from './case_sets';
import type { GraphNode } from './graph';
import type { Finding, Record } from './record';

interface Tellable extends Pick<GraphNode, 'kind' | 'op' | 'call' | 'single' | 'open' | 'host'> {
  cases: CaseSet;
  differs: boolean;
  absent: boolean;
}
interface Edge {
  readonly source: number;
  readonly target: number;
  readonly tensors: readonly number[];
}

/** The cases that ran each node, all of them where nothing says otherwise. */
export class CasesOfGraph {
  private readonly ofNode: readonly CaseSet[];

  /** Writes into the nodes what is told of them. `sourceOf`: the node that each tensor comes from. */
  constructor(
    private readonly record: Record,
    nodes: readonly Tellable[],
    edges: readonly Edge[],
    sourceOf: Int32Array,
  ) {
    if (record.cases.length === 0) {
      this.ofNode = [];
      return;
    }
    const ends = endSets(record, nodes, edges, sourceOf);
    this.ofNode = nodes.map((node, id) => ends.get(id) ?? this.setOf(nodes[node.host] ?? node));
    nodes.forEach((node, id) => {
      const cases = this.ofNode[id] ?? [];
      node.absent = !isSeen(record, cases);
      if (node.kind === 'value' || node.kind === 'ghost') return;
      node.cases = told(record, cases);
      node.differs = node.kind === 'group' && !node.open && node.cases.length === 0 && !this.alike(node.call);
    });
  }

  /** The only one of several cases that runs both ends of an edge, else -1. */
  onlyCase(edge: Edge): number {
    const [only = -1, ...others] = this.along(edge);
    return this.record.cases.length > 1 && others.length === 0 ? only : -1;
  }

  /** Whether an edge is part of what a finding tells of: some case that has the finding runs both its ends. */
  isOnWayOf(finding: Finding | null, edge: Edge): boolean {
    if (this.record.cases.length === 0) return true;
    return this.having(finding, this.along(edge)).some((one) => isSeen(this.record, [one]));
  }

  /** Those of a set that have a finding. */
  having(finding: Finding | null, cases: CaseSet): CaseSet {
    const having = finding && casesWith(this.record, finding);
    return having ? cases.filter((one) => having.includes(one)) : cases;
  }

  /** The cases whose shapes an edge tells: of those that run both its ends the one that is picked, else all. */
  toldBy(edge: Edge): CaseSet {
    const along = this.along(edge);
    const seen = along.filter((one) => isSeen(this.record, [one]));
    return seen.length ? seen : along;
  }

  private along({ source, target }: Edge): CaseSet {
    const into = this.ofNode[target] ?? [];
    return (this.ofNode[source] ?? []).filter((one) => into.includes(one));
  }

  private setOf(node: Tellable): CaseSet {
    if (node.kind === 'ghost') return [...this.record.cases.keys()];
    if (node.kind === 'op' && !node.single) return casesOfOp(this.record, node.op);
    return casesOfCall(this.record, node.call);
  }

  private alike(call: number): boolean {
    const { firstOp, endOp } = this.record.calls;
    return ranAlike(this.record, firstOp[call] ?? 0, endOp[call] ?? 0);
  }
}

/** Of pills, which may stand for several tensors: the cases that give or take one of them. */
function endSets(
  record: Record,
  nodes: readonly Tellable[],
  edges: readonly Edge[],
  sourceOf: Int32Array,
): ReadonlyMap<number, CaseSet> {
  const sets = new Map<number, Set<number>>();
  const add = (node: number, cases: CaseSet): void => {
    const known = sets.get(node) ?? new Set();
    sets.set(node, known);
    for (const one of cases) known.add(one);
  };
  sourceOf.forEach((node, tensor) => {
    if (nodes[node]?.kind === 'input' && (record.tensors.producer[tensor] ?? -1) < 0) add(node, casesOfTensor(record, tensor));
  });
  for (const { target, tensors } of edges)
    if (nodes[target]?.kind === 'output') for (const tensor of tensors) add(target, casesOfOutput(record, tensor));
  return new Map([...sets].map(([node, set]) => [node, [...set].sort((a, b) => a - b)]));
}
