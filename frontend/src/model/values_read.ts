/** Contents of tensors that decided what ran: which, read by what, and where. */

import { opFullName, pathOf } from './calls';
import { makerOf } from './details';
import { opTitle, shortName } from './graph_words';
import { row, TENSOR_KINDS, VALUE_ORIGINS, type Record } from './record';
import { placeOf } from './source';
import { typeOf } from './tensors';

export type ValueOrigin = (typeof VALUE_ORIGINS)[number];

/** One reading of a tensor's contents. */
export interface ReadValue {
  readonly tensor: number;
  readonly producer: number; // the op that made it, -1 for what was there before
  readonly tensorName: string; // its own, else the op's that made it
  readonly op: number; // the op whose result depends on them, -1 where Python read them
  readonly opName: string; // "" where Python read them
  readonly origin: ValueOrigin;
  readonly literal: string; // of a single number, else ""
  readonly code: string; // the statement, "" where it isn't known
  readonly place: { readonly file: string; readonly line: number } | null;
}

/** Every reading, in the order in which they happened. */
export function valuesRead(record: Record): readonly ReadValue[] {
  const { values, strings, sources } = record;
  return Array.from(values.tensor, (tensor, i) => {
    const op = values.op[i] ?? -1;
    const source = values.source[i] ?? -1;
    return {
      tensor,
      producer: record.tensors.producer[tensor] ?? -1,
      tensorName: makerOf(record, tensor) || typeOf(record, tensor),
      op,
      opName: op < 0 ? '' : opTitle(shortName(opFullName(record, op))),
      origin: VALUE_ORIGINS[values.origin[i] ?? 0] ?? 'read',
      literal: strings[values.literal[i] ?? 0] ?? '',
      code: source < 0 ? '' : (strings[sources.code[source] ?? 0] ?? ''),
      place: placeOf(record, source),
    };
  });
}

/** The readings that belong to a selected thing: of what it gives or holds, and those that its result depends on. */
export function valuesAt(record: Record, { kind, id }: { readonly kind: string; readonly id: number }): readonly ReadValue[] {
  return valuesRead(record).filter(({ tensor, op }) => {
    switch (kind) {
      case 'tensor':
        return tensor === id;
      case 'op':
        return op === id || row(record.ops.outputs, id).includes(tensor);
      case 'call':
        return (
          callOf(record, op) === id ||
          callOf(record, record.tensors.producer[tensor] ?? -1) === id ||
          ownerOf(record, tensor) === pathOf(record, record.calls.module[id] ?? 0)
        );
      default:
        return false;
    }
  });
}

const callOf = (record: Record, op: number): number => (op < 0 ? -1 : (record.ops.call[op] ?? -1));

/** The path of the module that holds a parameter or buffer; null for other tensors. */
function ownerOf(record: Record, tensor: number): string | null {
  const kind = TENSOR_KINDS[record.tensors.kind[tensor] ?? 0];
  if (kind !== 'parameter' && kind !== 'buffer') return null;
  const name = record.strings[record.tensors.name[tensor] ?? 0] ?? '';
  return name.slice(0, Math.max(0, name.lastIndexOf('.')));
}

/** The first call of the module that holds a parameter or buffer; -1 for other tensors, and where it was never called. */
export function callHolding(record: Record, tensor: number): number {
  const owner = ownerOf(record, tensor);
  return owner === null ? -1 : record.calls.module.findIndex((module) => pathOf(record, module) === owner);
}

/** The gravest of two: contents that nobody gave before random ones, both before real ones. */
export function worseOrigin(a: ValueOrigin | '', b: ValueOrigin): ValueOrigin {
  const rank = { '': 0, read: 1, random: 2, assumed: 3 } as const;
  return a !== '' && rank[a] >= rank[b] ? a : b;
}
