/** Round numbers along an axis. */

import type { ByteUnit } from '../base/format';

export interface Axis {
  readonly most: number; // bytes at its end
  readonly ticks: readonly { readonly at: number; readonly text: string }[]; // bytes
}

const STEPS = [1, 2, 4, 5, 8, 10] as const;
const MOST_TICKS = 5;

/** An axis of bytes in a unit from 0 to at least `most`, with at most five round steps. */
export function byteAxis(most: number, unit: ByteUnit): Axis {
  const wanted = Math.max(most / unit.bytes, 1e-9) / MOST_TICKS;
  const power = 10 ** Math.floor(Math.log10(wanted));
  const step = (STEPS.find((each) => each * power >= wanted) ?? 10) * power;
  const count = Math.max(1, Math.ceil(most / unit.bytes / step - 1e-9));
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const ticks = Array.from({ length: count + 1 }, (_, i) => ({ at: i * step * unit.bytes, text: (i * step).toFixed(digits) }));
  return { most: count * step * unit.bytes, ticks };
}

/** Where a text of `half` + `half` points fits best between two lines: the middle of the widest place, or null where it is lower than `least`. What stands at `avoid` isn't covered. */
export function roomiest(
  tops: Float64Array,
  bottoms: Float64Array,
  half: number,
  least: number,
  avoid = -Infinity,
): { readonly at: number; readonly low: number; readonly high: number } | null {
  let best: { at: number; low: number; high: number } | null = null;
  const step = Math.max(1, Math.floor(half / 4));
  for (let at = half; at + half < tops.length; at += step) {
    if (Math.abs(at - avoid) <= half) continue;
    let [low, high] = [0, Infinity];
    for (let i = at - half; i <= at + half; i++) {
      low = Math.max(low, bottoms[i] ?? 0);
      high = Math.min(high, tops[i] ?? 0);
    }
    if (high - low >= least && high - low > (best ? best.high - best.low : 0)) best = { at, low, high };
  }
  return best;
}
