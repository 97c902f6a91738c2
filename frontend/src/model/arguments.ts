/** What an op was called with: its tensors under the names of its arguments, and everything else as text. */

import { row, type Record } from './record';

export interface Arguments {
  readonly names: ReadonlyMap<number, string>; // position among the op's inputs → argument's name
  readonly others: readonly { readonly name: string; readonly literal: string }[];
}

/** Reads an op's argument list; `%0` in a literal stands for the op's first input, quoted text stands for itself. */
export function argumentsOf(record: Record, op: number): Arguments {
  const words = row(record.argumentLists, record.ops.arguments[op] ?? 0);
  const names = new Map<number, string>();
  const others: { name: string; literal: string }[] = [];
  for (let i = 0; i + 1 < words.length; i += 2) {
    const name = record.strings[words[i] ?? 0] ?? '';
    const literal = record.strings[words[i + 1] ?? 0] ?? '';
    const references = [...unquoted(literal).matchAll(/%(\d+)/g)].map((match) => Number(match[1]));
    const alone = literal === `%${references[0] ?? ''}`;
    references.forEach((input, k) => names.set(input, alone ? name : `${name}[${k}]`));
    if (references.length === 0) others.push({ name, literal });
  }
  return { names, others };
}

function unquoted(literal: string): string {
  return literal.replace(/'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"/g, '');
}
