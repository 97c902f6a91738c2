/** What a tensor of the record is: its shape, type and bytes. */

import { compactType, itemBytes } from '../base/format';
import { TENSOR_ASSUMED, type Mark, type Record } from './record';

/** The usual device is not named; others are. */
const USUAL_DEVICE = 'cpu';

/** A tensor's dims. */
export function shapeOf(record: Record, tensor: number): readonly number[] {
  return record.shapes[record.tensors.shape[tensor] ?? -1] ?? [];
}

/** torch's dtype name. */
export function dtypeOf(record: Record, tensor: number): string {
  return record.strings[record.tensors.dtype[tensor] ?? 0] ?? '';
}

/** The device where it isn't the usual one, else "". */
export function deviceOf(record: Record, tensor: number): string {
  const device = record.strings[record.tensors.device[tensor] ?? 0] ?? '';
  return device === USUAL_DEVICE ? '' : device;
}

/** `f32[4,864]`. */
export function typeOf(record: Record, tensor: number): string {
  return compactType(dtypeOf(record, tensor), shapeOf(record, tensor), deviceOf(record, tensor));
}

/** Number of elements. */
export function numelOf(record: Record, tensor: number): number {
  return shapeOf(record, tensor).reduce((product, size) => product * size, 1);
}

/** Bytes of its elements, null for a dtype that isn't known. */
export function bytesOf(record: Record, tensor: number): number | null {
  const item = itemBytes(dtypeOf(record, tensor));
  return item === null ? null : item * numelOf(record, tensor);
}

/** Bytes of several, each storage once; null where one is unknown. */
export function bytesOfAll(record: Record, tensors: Iterable<number>): number | null {
  const largest = new Map<number, number>();
  for (const tensor of tensors) {
    const bytes = bytesOf(record, tensor);
    if (bytes === null) return null;
    const storage = record.tensors.storage[tensor] ?? -1;
    largest.set(storage, Math.max(largest.get(storage) ?? 0, bytes));
  }
  return [...largest.values()].reduce((sum, bytes) => sum + bytes, 0);
}

/** Whether its shape is a guess, or was computed from one. */
export function isAssumed(record: Record, tensor: number): boolean {
  return ((record.tensors.flags[tensor] ?? 0) & TENSOR_ASSUMED) !== 0;
}

/** A dim of a shape as it is drawn. */
export interface Dim {
  readonly size: number;
  readonly clash: boolean;
}

/** A tensor's dims, those that clash in one of the marks marked. */
export function dimsOf(record: Record, tensor: number, marks: readonly Mark[]): readonly Dim[] {
  return shapeOf(record, tensor).map((size, dim) => ({
    size,
    clash: marks.some((mark) => mark.tensor === tensor && mark.dim === dim),
  }));
}
