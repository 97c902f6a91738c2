/** What a tensor of the record is: its shape, type and bytes. */

import { compactType, dimText, itemBytes } from '../base/format';
import type { CaseSet } from './case_sets';
import { dimRanges, shapesOf } from './case_shapes';
import { TENSOR_ASSUMED, type Mark, type Record } from './record';

/** The usual device is not named; others are. */
const USUAL_DEVICE = 'cpu';

/** torch's dtype name. */
export function dtypeOf(record: Record, tensor: number): string {
  return record.strings[record.tensors.dtype[tensor] ?? 0] ?? '';
}

/** The device where it isn't the usual one, else "". */
export function deviceOf(record: Record, tensor: number): string {
  const device = record.strings[record.tensors.device[tensor] ?? 0] ?? '';
  return device === USUAL_DEVICE ? '' : device;
}

/** `f32[4,864]`; `f32[4,64…512]` where it varies among the cases, or among those asked for. */
export function typeOf(record: Record, tensor: number, among: CaseSet | null = null): string {
  const dims = dimRanges(record, [tensor], among).map(({ least, most }) => dimText(least, most));
  return compactType(dtypeOf(record, tensor), dims, deviceOf(record, tensor));
}

/** Number of elements; the most, where it varies among the cases. */
export function numelOf(record: Record, tensor: number, among: CaseSet | null = null): number {
  return Math.max(...shapesOf(record, tensor, among).map((shape) => shape.reduce((product, size) => product * size, 1)));
}

/** Bytes of its elements, the most that they are; null for a dtype that isn't known. */
export function bytesOf(record: Record, tensor: number, among: CaseSet | null = null): number | null {
  const item = itemBytes(dtypeOf(record, tensor));
  return item === null ? null : item * numelOf(record, tensor, among);
}

/** Bytes of several, each storage once; null where one is unknown. */
export function bytesOfAll(record: Record, tensors: Iterable<number>, among: CaseSet | null = null): number | null {
  const largest = new Map<number, number>();
  for (const tensor of tensors) {
    const bytes = bytesOf(record, tensor, among);
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

/** A dim of a shape as it is drawn; `most` is more than `size` where it varies among the cases. */
export interface Dim {
  readonly size: number;
  readonly most: number;
  readonly clash: boolean;
}

/** The dims of a tensor, or of what stands in its place, those that clash in one of the marks marked; `among`: in these cases. */
export function dimsOf(
  record: Record,
  place: number | readonly number[],
  marks: readonly Mark[],
  among: CaseSet | null = null,
): readonly Dim[] {
  const tensors = typeof place === 'number' ? [place] : place;
  return dimRanges(record, tensors, among).map(({ least, most }, dim) => ({
    size: least,
    most,
    clash: marks.some((mark) => mark.tensor === tensors[0] && mark.dim === dim),
  }));
}
