/** What calls and ops cost: FLOPs of the forward, bytes that autograd keeps. */

import type { Record } from './record';

/** A sum in which some parts may be unknown: then it is at least that much. */
export interface Cost {
  readonly amount: number;
  readonly complete: boolean;
}

interface Sums {
  readonly known: Float64Array; // of all ops before an op
  readonly unknown: Int32Array; // ops before it that nobody knows
}

const SUMS = new WeakMap<Float64Array, Sums>();

function sumsOf({ ops }: Record): Sums {
  const known = SUMS.get(ops.flops);
  if (known) return known;
  const sums = { known: new Float64Array(ops.flops.length + 1), unknown: new Int32Array(ops.flops.length + 1) };
  ops.flops.forEach((flops, op) => {
    sums.known[op + 1] = (sums.known[op] ?? 0) + Math.max(0, flops);
    sums.unknown[op + 1] = (sums.unknown[op] ?? 0) + Number(flops < 0);
  });
  SUMS.set(ops.flops, sums);
  return sums;
}

/** FLOPs of the forward in a call and those inside it; null where nobody knows those of any of its ops. */
export function flopsOfCall(record: Record, call: number): Cost | null {
  const { known, unknown } = sumsOf(record);
  const [first, end] = [record.calls.firstOp[call] ?? 0, record.calls.endOp[call] ?? 0];
  const missing = (unknown[end] ?? 0) - (unknown[first] ?? 0);
  const amount = (known[end] ?? 0) - (known[first] ?? 0);
  return missing > 0 && missing === end - first ? null : { amount, complete: missing === 0 };
}

/** FLOPs of an op; null where nobody knows. */
export function flopsOfOp({ ops }: Record, op: number): number | null {
  const flops = ops.flops[op] ?? -1;
  return flops < 0 ? null : flops;
}

/** Bytes that autograd keeps for a call and those inside it; null where nobody knows. */
export function savedBytesOf({ calls }: Record, call: number): number | null {
  const saved = calls.savedBytes[call] ?? -1;
  return saved < 0 ? null : saved;
}

/** Whether anybody asked what calls keep, or cost: else a column of nothing but unknown says nothing. */
export const tellsSavedBytes = ({ calls }: Record): boolean => calls.savedBytes.some((bytes) => bytes >= 0);
export const tellsFlops = ({ ops }: Record): boolean => ops.flops.some((flops) => flops >= 0);
