/** How far right a run of rows is taken: a tree that answers and takes spans of rows in logarithmic time. */

export class LaneTree {
  private readonly size: number;
  private readonly most: Float64Array; // the largest value below a node
  private readonly floor: Float64Array; // a value that holds for all rows below a node

  /** Starts from the right end of each row. */
  constructor(rights: Float64Array) {
    this.size = 1;
    while (this.size < rights.length) this.size *= 2;
    this.most = new Float64Array(2 * this.size).fill(-Infinity);
    this.floor = new Float64Array(2 * this.size).fill(-Infinity);
    this.most.set(rights, this.size);
    for (let i = this.size - 1; i > 0; i--) this.most[i] = Math.max(this.at(this.most, 2 * i), this.at(this.most, 2 * i + 1));
  }

  private at(values: Float64Array, i: number): number {
    return values[i] ?? -Infinity;
  }

  /** The largest value of the rows `first` to `last`, both included. */
  mostOf(first: number, last: number): number {
    return this.visit(1, 0, this.size - 1, first, last, null);
  }

  /** Raises the rows `first` to `last` to at least `value`. */
  raise(first: number, last: number, value: number): void {
    this.visit(1, 0, this.size - 1, first, last, value);
  }

  /** Both walks in one: depth is the logarithm of the rows. */
  private visit(node: number, low: number, high: number, first: number, last: number, value: number | null): number {
    if (last < low || high < first) return -Infinity;
    if (first <= low && high <= last) {
      if (value !== null) {
        this.floor[node] = Math.max(this.at(this.floor, node), value);
        this.most[node] = Math.max(this.at(this.most, node), value);
      }
      return this.at(this.most, node);
    }
    const middle = (low + high) >> 1;
    const found = Math.max(
      this.visit(2 * node, low, middle, first, last, value),
      this.visit(2 * node + 1, middle + 1, high, first, last, value),
      this.at(this.floor, node),
    );
    if (value !== null) this.most[node] = Math.max(this.at(this.most, node), value);
    return found;
  }
}
