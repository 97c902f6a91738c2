/** One order of all columns from left to right, the same in every row: two columns never change sides, so pushing them apart ends. */

const LEAST_GAP = 1e-6;

/** A list that can say quickly which of two entries comes first; it begins with one entry. */
export class ChainOrder {
  private readonly keys: Map<number, number>;
  private readonly following = new Map<number, number>();

  constructor(private readonly first: number) {
    this.keys = new Map([[first, 0]]);
  }

  has(chain: number): boolean {
    return this.keys.has(chain);
  }

  /** Below 0 where `a` stands left of `b`. */
  compare(a: number, b: number): number {
    return (this.keys.get(a) ?? 0) - (this.keys.get(b) ?? 0);
  }

  /** Puts a new chain right behind one that is there. */
  insertAfter(before: number, chain: number): void {
    const after = this.following.get(before);
    this.following.set(before, chain);
    if (after !== undefined) this.following.set(chain, after);
    const low = this.keys.get(before) ?? 0;
    const high = after === undefined ? low + 2 : (this.keys.get(after) ?? low + 2);
    this.keys.set(chain, (low + high) / 2);
    if (high - low < LEAST_GAP) this.number();
  }

  /** Numbers all entries anew, where halving has used up the room between two of them. */
  private number(): void {
    let key = 0;
    for (let chain: number | undefined = this.first; chain !== undefined; chain = this.following.get(chain))
      this.keys.set(chain, key++);
  }
}
