/** Columns of numbers for tests: values by their number in a table that grows. */

export function ints<T>(rows: readonly T[], value: (row: T) => number): Int32Array {
  return Int32Array.from(rows, value);
}

/** A table in which equal values share a number. */
export class Interned<T> {
  private readonly known = new Map<string, number>();

  constructor(readonly values: T[] = []) {
    values.forEach((value, i) => this.known.set(String(value), i));
  }

  readonly of = (value: T): number => {
    const at = this.known.get(String(value)) ?? this.values.push(value) - 1;
    this.known.set(String(value), at);
    return at;
  };
}
