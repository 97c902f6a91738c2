/** Memory at other sizes of the inputs, or trained in another way: the peak there, and the largest size that fits. */

import { crestsOf } from './crests';
import type { Peak } from './memory_lines';
import type { Memory, Size, WhatIf } from './record';

/** The sizes as they were logged. */
export const loggedSizes = (whatIf: WhatIf): readonly number[] => whatIf.sizes.map(({ logged }) => logged);

/** What the bytes of a storage of each scale are multiplied with. */
export function factorsOf(whatIf: WhatIf, sizes: readonly number[]): Float64Array {
  return Float64Array.from(whatIf.scales.length ? whatIf.scales : [[]], (scale) =>
    scale.reduce((product, coefficients, i) => product * polynomial(coefficients, sizes[i] ?? 0), 1),
  );
}

function polynomial(coefficients: readonly number[], x: number): number {
  return coefficients.length ? coefficients.reduceRight((sum, coefficient) => sum * x + coefficient, 0) : 1;
}

/** Bytes of each storage with those factors. */
export function bytesWith({ allocations }: Memory, factors: Float64Array): Float64Array {
  return allocations.bytes.map((bytes, row) => bytes * (factors[allocations.scale[row] ?? 0] ?? 1));
}

/** The peak with those factors, in one pass over what may be one. */
export function peakWith(memory: Memory, factors: Float64Array): Peak {
  const { ops, rows, first, end } = crestsOf(memory);
  const { bytes, scale } = memory.allocations;
  const change = new Float64Array(ops.length + 1);
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i] ?? 0;
    const size = (bytes[row] ?? 0) * (factors[scale[row] ?? 0] ?? 1);
    change[first[i] ?? 0] = (change[first[i] ?? 0] ?? 0) + size;
    change[end[i] ?? 0] = (change[end[i] ?? 0] ?? 0) - size;
  }
  let peak = -1;
  let most = -Infinity;
  let alive = 0;
  for (let at = 0; at < ops.length; at++) {
    alive += change[at] ?? 0;
    if (alive <= most + 1e-6) continue; // a sum of fractions: a hair more is no other peak
    most = alive;
    peak = ops[at] ?? -1;
  }
  return { op: peak, bytes: peak < 0 ? 0 : Math.round(most) };
}

/** How far the search for the largest size goes. */
const MOST_STEPS = 1 << 20;

/** The largest size of that index that keeps the peak within `limit`, the others as they are; null where not even the least does. */
export function largestThatFits(
  whatIf: WhatIf,
  memory: Memory,
  sizes: readonly number[],
  index: number,
  limit: number,
): number | null {
  const size = whatIf.sizes[index];
  if (!size) return null;
  const at = (steps: number): number => size.least + steps * size.step;
  const peakAt = (steps: number): number => {
    const tried = sizes.map((value, i) => (i === index ? at(steps) : value));
    return peakWith(memory, factorsOf(whatIf, tried)).bytes;
  };
  return largestStep(peakAt, limit, Math.max(1, Math.round((size.logged - size.least) / size.step)), at);
}

/** Follows the line through what is known, as memory hardly bends: a few peaks do where halving would need dozens. */
function largestStep(
  peakAt: (steps: number) => number,
  limit: number,
  first: number,
  at: (steps: number) => number,
): number | null {
  let low = { steps: 0, peak: peakAt(0) };
  if (low.peak > limit) return null;
  let high = { steps: first, peak: peakAt(first) };
  while (high.peak <= limit) {
    if (high.steps >= MOST_STEPS) return Infinity;
    const straight = high.steps + ((limit - high.peak) * (high.steps - low.steps)) / Math.max(1, high.peak - low.peak);
    low = high;
    const next = Math.min(MOST_STEPS, Math.max(high.steps + 1, Math.ceil(Math.min(straight, 64 * high.steps) * 1.02) + 1));
    high = { steps: next, peak: peakAt(next) };
  }
  for (let tries = 0; high.steps - low.steps > 1; tries++) {
    const straight = low.steps + ((limit - low.peak) * (high.steps - low.steps)) / (high.peak - low.peak);
    // A line that bends lets one end stand still: every third time the middle is taken.
    const guess = tries % 3 === 2 ? (low.steps + high.steps) / 2 : straight;
    const steps = Math.max(low.steps + 1, Math.min(high.steps - 1, Math.floor(guess)));
    const tried = { steps, peak: peakAt(steps) };
    if (tried.peak <= limit) low = tried;
    else high = tried;
  }
  return at(low.steps);
}

/** The nearest size that the answers hold for, at most `most`. */
export function allowedSize(size: Size, wanted: number, most = Infinity): number {
  const steps = Math.round((Math.min(wanted, most) - size.least) / size.step);
  return size.least + Math.max(0, Number.isFinite(steps) ? steps : 0) * size.step;
}

/** Where a slider ends: what fits and somewhat more, but neither so far that the logged size is lost in a corner nor below it. */
export function sliderEnd(size: Size, largest: number | null): number {
  const wanted = Math.max(1.25 * size.logged, size.logged + size.step, 1.15 * (largest ?? 0));
  return allowedSize(size, Math.min(wanted, 16 * Math.max(size.logged, size.step)));
}
