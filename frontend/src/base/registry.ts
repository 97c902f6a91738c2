/** Ordered registries: a list whose entries are told apart by their id. */

/** The entries in their order; an error when two have the same id, so that a copy-and-paste slip can't hide one. */
export function registry<T extends { readonly id: string }>(entries: readonly T[]): readonly T[] {
  const seen = new Set<string>();
  for (const { id } of entries) {
    if (seen.has(id)) throw new Error(`two entries are registered as "${id}"; give one of them another id`);
    seen.add(id);
  }
  return entries;
}
