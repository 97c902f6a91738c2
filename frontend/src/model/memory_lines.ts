/** Bytes alive over the ops of an iteration: sums over its storages, their peak, and as many points as a screen has. */

import { opCount, PARTS, partOf, stretchesOf } from './memory';
import type { Memory } from './record';

/** The op at which most is alive; -1 where none ran. */
export interface Peak {
  readonly op: number;
  readonly bytes: number;
}

export interface Lines {
  readonly total: Float64Array; // bytes at each op
  readonly parts: readonly Float64Array[]; // of each of PARTS
  readonly peak: Peak;
}

interface Spans {
  readonly first: Int32Array; // ops
  readonly end: Int32Array; // the op at which it is gone
}

const SPANS = new WeakMap<Memory, Spans>();

/** From which op on each storage is alive, and from which on no longer. */
export function spansOf(memory: Memory): Spans {
  const known = SPANS.get(memory);
  if (known) return known;
  const { born, life } = memory.allocations;
  const most = opCount(memory);
  const first = born.map((op) => Math.min(Math.max(op, 0), most));
  const spans = { first, end: first.map((op, row) => Math.min(op + (life[row] ?? 0), most)) };
  SPANS.set(memory, spans);
  return spans;
}

/** Bytes of each part at each op; `bytes` are those of the storages where they aren't the logged ones. */
export function linesOf(memory: Memory, bytes: Float64Array = memory.allocations.bytes): Lines {
  const ops = opCount(memory);
  const { first, end } = spansOf(memory);
  const changes = PARTS.map(() => new Float64Array(ops + 1));
  for (let row = 0; row < first.length; row++) {
    const change = changes[partOf(memory, row)];
    const size = bytes[row] ?? 0;
    if (!change) continue;
    change[first[row] ?? 0] = (change[first[row] ?? 0] ?? 0) + size;
    change[end[row] ?? 0] = (change[end[row] ?? 0] ?? 0) - size;
  }
  const parts = changes.map((change) => summed(change).subarray(0, ops));
  const total = new Float64Array(ops);
  for (const part of parts) for (let op = 0; op < ops; op++) total[op] = (total[op] ?? 0) + (part[op] ?? 0);
  return { total, parts, peak: peakOf(total) };
}

/** Bytes at each op of all storages together, or of those that `counts`. */
export function totalLine(
  memory: Memory,
  bytes: Float64Array = memory.allocations.bytes,
  counts: (row: number) => boolean = () => true,
): Float64Array {
  const { first, end } = spansOf(memory);
  const change = new Float64Array(opCount(memory) + 1);
  for (let row = 0; row < first.length; row++) {
    if (!counts(row)) continue;
    const size = bytes[row] ?? 0;
    change[first[row] ?? 0] = (change[first[row] ?? 0] ?? 0) + size;
    change[end[row] ?? 0] = (change[end[row] ?? 0] ?? 0) - size;
  }
  return summed(change).subarray(0, -1);
}

/** Each value with all before it, in place. */
function summed(change: Float64Array): Float64Array {
  let sum = 0;
  for (let op = 0; op < change.length; op++) change[op] = sum += change[op] ?? 0;
  return change;
}

export function peakOf(total: Float64Array): Peak {
  let op = total.length ? 0 : -1;
  for (let at = 1; at < total.length; at++) if ((total[at] ?? 0) > (total[op] ?? 0)) op = at;
  return { op, bytes: total[op] ?? 0 };
}

/** A line of at most so many stretches: each begins at an op, and stands as high as its highest op. */
export interface Drawn {
  readonly starts: Float64Array; // ops, and the number of ops at the end
  readonly highest: Int32Array; // the op of each stretch at which most is alive
}

/** Ops in at most `most` stretches, each told by its highest: so no peak is lost however many ops share a pixel. */
export function drawn(total: Float64Array, most: number): Drawn {
  const count = Math.max(0, Math.min(total.length, Math.floor(most)));
  const starts = Float64Array.from({ length: count + 1 }, (_, i) => Math.floor((total.length * i) / Math.max(1, count)));
  const highest = new Int32Array(count);
  for (let i = 0; i < count; i++) {
    let best = starts[i] ?? 0;
    for (let op = best + 1; op < (starts[i + 1] ?? 0); op++) if ((total[op] ?? 0) > (total[best] ?? 0)) best = op;
    highest[i] = best;
  }
  return { starts, highest };
}

/** What a line has at the highest ops, its last value once more at the end. */
export function valuesAt(line: Float64Array, { highest }: Drawn): Float64Array {
  const values = new Float64Array(highest.length + 1);
  highest.forEach((op, i) => (values[i] = line[op] ?? 0));
  values[highest.length] = values[highest.length - 1] ?? 0;
  return values;
}

/** The most that another line has over each stretch, where `along` says which of its ops stands beside one of ours. */
export function maximaOver(total: Float64Array, { starts }: Drawn, along: (op: number) => number): Float64Array {
  const values = new Float64Array(starts.length);
  const last = total.length - 1;
  for (let i = 0; i + 1 < starts.length; i++) {
    const from = Math.max(0, Math.min(last, Math.floor(along(starts[i] ?? 0))));
    const to = Math.max(from, Math.min(last, Math.ceil(along(starts[i + 1] ?? 0)) - 1));
    let most = 0;
    for (let op = from; op <= to; op++) most = Math.max(most, total[op] ?? 0);
    values[i] = most;
  }
  values[values.length - 1] = values[values.length - 2] ?? 0;
  return values;
}

/** Where an op of `memory` stands in another way to train the same model: phase beside phase, evenly within each. */
export function alongside(memory: Memory, other: Memory): (op: number) => number {
  const [mine, theirs] = [stretchesOf(memory), stretchesOf(other)];
  const alike = mine.length === theirs.length && mine.every(({ phase }, i) => phase === theirs[i]?.phase);
  const scale = opCount(other) / Math.max(1, opCount(memory));
  if (memory === other || !alike) return (op) => op * scale;
  return (op) => {
    const at = Math.max(
      0,
      mine.findIndex(({ end }) => op <= end),
    );
    const [here, there] = [mine[at], theirs[at]];
    if (!here || !there) return op * scale;
    return there.first + ((op - here.first) / (here.end - here.first)) * (there.end - there.first);
  };
}

/** The stretches of ops over which a line isn't 0. */
export function stretchesAbove(line: Float64Array): readonly { readonly first: number; readonly end: number }[] {
  const found: { first: number; end: number }[] = [];
  for (let op = 0; op < line.length; op++) {
    if ((line[op] ?? 0) <= 0) continue;
    const last = found.at(-1);
    if (last?.end === op) last.end = op + 1;
    else found.push({ first: op, end: op + 1 });
  }
  return found;
}
