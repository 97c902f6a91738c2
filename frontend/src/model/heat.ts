/** Magnitudes that may fill the graph's nodes: what each of them is for a node, and its step of the ramp. */

import { flopsOfCall, flopsOfOp, savedBytesOf } from './costs';
import type { GraphNode } from './graph';
import { row, type Record } from './record';
import { bytesOfAll } from './tensors';

export const HEATS = ['params', 'paramBytes', 'savedBytes', 'outputBytes', 'flops', 'live'] as const;
export type Heat = (typeof HEATS)[number];

export const RAMP_STEPS = 6;

/** The steps of the nodes, -1 for none; and the numbers at which a step ends, the last being the most. */
export interface HeatMap {
  readonly steps: Int8Array;
  readonly ends: readonly number[];
}

/** The magnitude of a node; null where it has none. `live` are bytes alive at the cursor by module. */
export function heatOf(record: Record, node: GraphNode, heat: Heat, live: Float64Array): number | null {
  const isCall = node.kind === 'group' || node.single;
  if (node.kind !== 'op' && node.kind !== 'group') return null;
  const module = record.calls.module[node.call] ?? -1;
  switch (heat) {
    case 'params':
      return isCall ? known(record.modules.params[module]) : null;
    case 'paramBytes':
      return isCall ? known(record.modules.paramBytes[module]) : null;
    case 'savedBytes':
      return isCall ? savedBytesOf(record, node.call) : null;
    case 'live':
      return isCall ? known(live[module]) : null;
    case 'outputBytes':
      return bytesOfAll(record, [...(isCall ? row(record.calls.outputs, node.call) : row(record.ops.outputs, node.op))]);
    case 'flops':
      return isCall ? (flopsOfCall(record, node.call)?.amount ?? null) : flopsOfOp(record, node.op);
  }
}

const known = (value: number | undefined): number | null => (value === undefined || value < 0 ? null : value);

/** Values as steps of equal ratios between the least and the most of them; what is 0 or unknown has none. */
export function heatMap(values: readonly (number | null)[]): HeatMap {
  const some = values.flatMap((value) => (value !== null && value > 0 ? [value] : []));
  const [least, most] = [some.reduce((a, b) => Math.min(a, b), Infinity), some.reduce((a, b) => Math.max(a, b), 0)];
  const ratio = (most / least) ** (1 / RAMP_STEPS);
  const stepOf = (value: number | null): number => {
    if (value === null || value <= 0) return -1;
    if (!(ratio > 1)) return RAMP_STEPS - 1;
    return Math.max(0, Math.min(RAMP_STEPS - 1, Math.floor(Math.log(value / least) / Math.log(ratio) + 1e-9)));
  };
  const ends =
    some.length === 0 ? [] : ratio > 1 ? Array.from({ length: RAMP_STEPS }, (_, i) => least * ratio ** (i + 1)) : [most];
  return { steps: Int8Array.from(values, stepOf), ends };
}
