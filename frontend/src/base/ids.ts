/** A thing of the record as one word, for addresses and DOM ids: `op-12`. */

/** Writes kind and index as one word. */
export function idText(kind: string, index: number): string {
  return `${kind}-${index}`;
}

/** Reads such a word back; null where it is none, or of a kind not among `kinds`. */
export function parseId<K extends string>(text: string, kinds: readonly K[]): { kind: K; id: number } | null {
  const match = /^([a-z]+)-(\d{1,9})$/.exec(text);
  const kind = kinds.find((known) => known === match?.[1]);
  return match && kind !== undefined ? { kind, id: Number(match[2]) } : null;
}
