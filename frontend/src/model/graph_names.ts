/** A node's name for programs, the same in every view of one record; and its name for people who hear it. */

import { TEXTS } from '../base/texts';
import { pickedName } from './case_sets';
import { labelText, type Graph, type GraphEdge, type GraphNode } from './graph';
import type { Record } from './record';

/** The same thing has the same key in another graph of the same record. */
export function placeKey(node: GraphNode): string {
  if (node.kind === 'group' || node.single) return `call ${node.call}`;
  return `${node.kind} ${node.op} ${node.module} ${node.tensor} ${node.host < 0 ? '' : node.name}`;
}

/** The nodes by their keys. */
export function placesByKey(graph: Graph): ReadonlyMap<string, number> {
  return new Map(graph.nodes.map((node, id) => [placeKey(node), id]));
}

/** A node in words: name, type, what comes in and goes out, and what is wrong with it. '' for none. */
export function nodeText(record: Record, graph: Graph, id: number): string {
  const node = graph.nodes[id];
  if (!node) return '';
  const states = { plain: '', failed: TEXTS.failed, origin: node.aside.join(' '), assumed: TEXTS.assumed } as const;
  const group = node.kind === 'group' ? (node.open ? TEXTS.groupOpen : TEXTS.groupClosed) : '';
  const said = (edges: readonly GraphEdge[]): string => edges.map((edge) => labelText(edge.label)).join(', ');
  const into = said(graph.edges.filter((edge) => edge.target === id));
  const out = said(graph.edges.filter((edge) => edge.source === id).slice(0, 1));
  const flow = [into && `${TEXTS.input.toLowerCase()} ${into}`, out && `${TEXTS.output.toLowerCase()} ${out}`];
  const problem = node.mark === 'error' && node.state !== 'failed' ? TEXTS.problem : node.mark === 'warn' ? TEXTS.problem : '';
  const words = [node.name, node.detail, group, flow.filter(Boolean).join(' → '), states[node.state], problem];
  return [...words, ...caseWords(record, node), node.value && TEXTS.values[node.value]].filter(Boolean).join(', ');
}

function caseWords(record: Record, { cases, differs, absent }: GraphNode): readonly string[] {
  if (absent) return [TEXTS.notRunIn(pickedName(record))];
  const names = cases.map((index) => record.cases[index]?.name ?? '');
  return [names.length ? TEXTS.onlyIn(names) : '', differs ? TEXTS.differsInside : ''];
}
