/** The memory of a device against a peak: the usual sizes, and how much is over or free. */

export const GIB = 1024 ** 3;

/** What is offered, in GiB. */
export const USUAL_LIMITS = [24, 40, 80] as const;

/** The least that anybody may ask for, and the most, in GiB. */
export const LEAST_LIMIT = 0.001;
export const MOST_LIMIT = 100_000;

/** The limit where nobody chose one: the smallest usual device that holds the peak, so that red is never a guess; GiB. */
export function limitFor(peak: number): number {
  return USUAL_LIMITS.find((limit) => peak <= limit * GIB) ?? 80;
}

/** A limit that makes sense, else null. */
export function sensibleLimit(limit: number | null): number | null {
  return limit !== null && limit >= LEAST_LIMIT && limit <= MOST_LIMIT ? limit : null;
}

/** A device worth drawing beside a peak: one so much larger would leave nothing of it to be seen. */
export const isNear = (peak: number, limit: number): boolean => peak >= 0.2 * limit;
