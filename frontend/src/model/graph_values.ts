/** Marks the nodes whose contents were read: where a tensor comes from, the box that stands for it, or the module that holds it. */

import type { GraphNode, GraphPlaces } from './graph';
import { VALUE_ORIGINS, type Record } from './record';
import { callHolding, worseOrigin, type ValueOrigin } from './values_read';

interface Markable extends Pick<GraphNode, 'kind' | 'tensor'> {
  value: ValueOrigin | '';
}

/** `sourceOf`: the node that each tensor comes from, views counted to what they view; -1 where none does. */
export function markValues(
  record: Record,
  nodes: readonly Markable[],
  sourceOf: Int32Array,
  nodeOfCall: GraphPlaces['nodeOfCall'],
): void {
  const { values } = record;
  if (values.tensor.length === 0) return;
  const boxOf = new Map<number, Markable>();
  for (const node of nodes) if (node.kind === 'value') boxOf.set(node.tensor, node);
  values.tensor.forEach((tensor, i) => {
    const holder = (): Markable | undefined => nodes[nodeOfCall[callHolding(record, tensor)] ?? -1];
    const node = nodes[sourceOf[tensor] ?? -1] ?? boxOf.get(tensor) ?? holder();
    if (node) node.value = worseOrigin(node.value, VALUE_ORIGINS[values.origin[i] ?? 0] ?? 'read');
  });
}
