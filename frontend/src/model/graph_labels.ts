/** What edges say: the shape that arrives, with what changed told apart from what didn't, and the views on the way. */

import { compactDtype } from '../base/format';
import { TEXTS } from '../base/texts';
import type { LabelPart } from './graph';
import type { GraphIndex } from './graph_index';
import { indexText } from './graph_words';
import { row, type Mark, type Record } from './record';

/** The dims of a tensor. */
export function shapeOf(record: Record, tensor: number): readonly number[] {
  return record.shapes[record.tensors.shape[tensor] ?? -1] ?? [];
}

const word = (record: Record, column: Int32Array, tensor: number): string => record.strings[column[tensor] ?? 0] ?? '';

/** Whether two tensors have the same shape, dtype and device. */
export function sameType(record: Record, a: number, b: number): boolean {
  const { shape, dtype, device } = record.tensors;
  return shape[a] === shape[b] && dtype[a] === dtype[b] && device[a] === device[b];
}

/** Dims joined by ×: those in `clashing` boxed, those that differ from `before` at the same place bold; without `before` none is. */
export function dimParts(dims: readonly number[], before: readonly number[] | null, clashing: ReadonlySet<number>): LabelPart[] {
  if (!dims.length) return [{ text: TEXTS.scalar, tone: before?.length ? 'changed' : 'muted' }];
  return dims.flatMap((dim, i): LabelPart[] => {
    const tone = clashing.has(i) ? 'clash' : before && before[i] !== dim ? 'changed' : 'muted';
    const part: LabelPart = { text: String(dim), tone };
    return i === 0 ? [part] : [{ text: '×', tone: 'muted' }, part];
  });
}

/** The dims of a tensor that a finding marks. */
export function marksOf(marks: readonly Mark[], tensor: number): ReadonlySet<number> {
  return new Set(marks.filter((mark) => mark.tensor === tensor).map((mark) => mark.dim));
}

/**
 * The label of one tensor that arrives: dtype and device in front where they differ from those of `before`, then its dims.
 *
 * `before` is the tensor that the producer took itself, -1 where it took none: then nothing counts as changed.
 */
export function tensorLabel(record: Record, tensor: number, before: number, marks: readonly Mark[]): LabelPart[] {
  const { dtype, device } = record.tensors;
  const parts: LabelPart[] = [];
  if (before >= 0 && dtype[tensor] !== dtype[before])
    parts.push({ text: `${compactDtype(word(record, dtype, tensor))} `, tone: 'changed' });
  if (before >= 0 && device[tensor] !== device[before]) parts.push({ text: `${word(record, device, tensor)} `, tone: 'changed' });
  const dims = dimParts(shapeOf(record, tensor), before < 0 ? null : shapeOf(record, before), marksOf(marks, tensor));
  return [...parts, ...dims];
}

/** The label of all tensors of one edge: `3 of 8×12×197×64` where they are alike, the first two kinds and a count where not. */
export function edgeLabel(record: Record, tensors: readonly number[], before: number, marks: readonly Mark[]): LabelPart[] {
  const kinds: { tensor: number; count: number }[] = [];
  for (const tensor of tensors) {
    const marked = marks.some((mark) => mark.tensor === tensor);
    const same = marked ? undefined : kinds.find((kind) => sameType(record, kind.tensor, tensor));
    if (same) same.count++;
    else kinds.push({ tensor, count: 1 });
  }
  const parts = kinds.slice(0, 2).flatMap(({ tensor, count }, i): LabelPart[] => {
    const lead = `${i ? ', ' : ''}${count > 1 ? TEXTS.severalOf(count) : ''}`;
    return [...(lead ? [{ text: lead, tone: 'muted' } as const] : []), ...tensorLabel(record, tensor, before, marks)];
  });
  return kinds.length > 2 ? [...parts, { text: `, +${kinds.length - 2}`, tone: 'muted' }] : parts;
}

/** The words for the views that led to a tensor, first one first: at most three and a sign that there are more. */
export function viewWords(index: GraphIndex, lastView: Int32Array, tensor: number): string[] {
  const words: string[] = [];
  let at = tensor;
  for (let view = lastView[at] ?? -1; view >= 0; view = lastView[at] ?? -1) {
    words.push(viewWord(index, view));
    at = row(index.record.ops.inputs, view)[0] ?? -1;
  }
  words.reverse();
  return words.length > 4 ? [...words.slice(0, 3), '…'] : words;
}

function viewWord(index: GraphIndex, op: number): string {
  const { record, shortNames } = index;
  const short = shortNames[record.ops.name[op] ?? 0] ?? '';
  if (short !== '__getitem__') return short.replace(/_$/, '');
  const pairs = row(record.argumentLists, record.ops.arguments[op] ?? 0);
  for (let i = 1; i < pairs.length; i += 2) {
    const literal = record.strings[pairs[i] ?? 0] ?? '';
    if (!literal.includes('%')) return literal.length <= 40 ? indexText(literal) : '[…]';
  }
  return '[…]';
}
