/** Which node stands for what is selected, and the other way round. */

import { callsAround } from '../../model/calls';
import type { Graph, GraphNode, GraphPlaces } from '../../model/graph';
import type { Record } from '../../model/record';
import type { Selection } from '../../state/app_state';

/** What is selected when a node is. */
export function selectionOf(node: GraphNode): Selection | null {
  if (node.kind === 'ghost') return { kind: 'module', id: node.module };
  if (node.tensor >= 0) return { kind: 'tensor', id: node.tensor };
  if (node.kind === 'group' || node.single) return { kind: 'call', id: node.call };
  return { kind: 'op', id: node.op };
}

/** The node that stands for a selection; -1 where none does. */
export function nodeOf(built: Graph & GraphPlaces, selection: Selection | null): number {
  if (!selection) return -1;
  switch (selection.kind) {
    case 'op':
      return built.nodeOfOp[selection.id] ?? -1;
    case 'call':
      return built.nodeOfCall[selection.id] ?? -1;
    case 'module':
      return built.nodes.findIndex((node) => node.module === selection.id);
    case 'tensor':
      return built.nodes.findIndex((node) => node.tensor === selection.id);
  }
}

/** The calls whose groups have to be open for a selection to be seen. */
export function callsHiding(record: Record, selection: Selection): readonly number[] {
  switch (selection.kind) {
    case 'op': {
      const call = record.ops.call[selection.id] ?? -1;
      return call < 0 ? [] : [call, ...callsAround(record, call)];
    }
    case 'call':
      return callsAround(record, selection.id).filter((call) => call !== selection.id);
    case 'module':
    case 'tensor':
      return [];
  }
}
