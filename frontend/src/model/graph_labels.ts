/** What edges say: the shape that arrives, with what changed told apart from what didn't, and the views on the way. */

import { compactDtype, dimText } from '../base/format';
import { TEXTS } from '../base/texts';
import { casesOfTensor, inPlaces, type CaseSet } from './case_sets';
import { dimRanges, sameShape } from './case_shapes';
import type { LabelPart } from './graph';
import type { GraphIndex } from './graph_index';
import { indexText } from './graph_words';
import { row, type Mark, type Record } from './record';

/** The dims of what stands in one place as text, `64…512` where one varies; `among`: in these cases alone. */
export function dimTexts(record: Record, place: readonly number[], among: CaseSet | null = null): readonly string[] {
  return dimRanges(record, place, among).map(({ least, most }) => dimText(least, most));
}

const word = (record: Record, column: Int32Array, tensor: number): string => record.strings[column[tensor] ?? 0] ?? '';

/** Whether two tensors have the same shape, dtype and device; `among`: in these cases. */
export function sameType(record: Record, a: number, b: number, among: CaseSet | null = null): boolean {
  const { dtype, device } = record.tensors;
  return sameShape(record, a, b, among) && dtype[a] === dtype[b] && device[a] === device[b];
}

/** Whether a tensor is of the type of what the producer took, in each of these cases. */
export function isUnchanged(record: Record, tensor: number, before: readonly number[], among: CaseSet): boolean {
  if (among.length === 0) return before.some((other) => sameType(record, tensor, other));
  const isAlike = (other: number, one: number): boolean =>
    casesOfTensor(record, other).includes(one) && sameType(record, tensor, other, [one]);
  return among.every((one) => before.some((other) => isAlike(other, one)));
}

/** Dims joined by ×: those in `clashing` boxed, those that differ from `before` at the same place bold; without `before` none is. */
export function dimParts(dims: readonly string[], before: readonly string[] | null, clashing: ReadonlySet<number>): LabelPart[] {
  if (!dims.length) return [{ text: TEXTS.scalar, tone: before?.length ? 'changed' : 'muted' }];
  return dims.flatMap((dim, i): LabelPart[] => {
    const tone = clashing.has(i) ? 'clash' : before && before[i] !== dim ? 'changed' : 'muted';
    const part: LabelPart = { text: dim, tone };
    return i === 0 ? [part] : [{ text: '×', tone: 'muted' }, part];
  });
}

/** The dims of a tensor that a finding marks. */
export function marksOf(marks: readonly Mark[], tensor: number): ReadonlySet<number> {
  return new Set(marks.filter((mark) => mark.tensor === tensor).map((mark) => mark.dim));
}

/**
 * The label of one tensor that arrives, or of what stands in its place in other cases: dtype and device in front where they differ from those of `before`, then its dims.
 *
 * `before` is what the producer took itself, in one case or the other; where it took nothing, nothing counts as changed.
 */
export function tensorLabel(
  record: Record,
  place: readonly number[],
  before: readonly number[],
  marks: readonly Mark[],
  among: CaseSet | null = null,
): LabelPart[] {
  const [tensor = -1] = place;
  const [first] = before;
  const { dtype, device } = record.tensors;
  const parts: LabelPart[] = [];
  if (first !== undefined && dtype[tensor] !== dtype[first])
    parts.push({ text: `${compactDtype(word(record, dtype, tensor))} `, tone: 'changed' });
  if (first !== undefined && device[tensor] !== device[first])
    parts.push({ text: `${word(record, device, tensor)} `, tone: 'changed' });
  const dims = dimParts(
    dimTexts(record, place, among),
    first === undefined ? null : dimTexts(record, before, among),
    marksOf(marks, tensor),
  );
  return [...parts, ...dims];
}

/** The label of all tensors of one edge: `3 of 8×12×197×64` where they are alike, the first two kinds and a count where not. */
export function edgeLabel(
  record: Record,
  tensors: readonly number[],
  before: readonly number[],
  marks: readonly Mark[],
  among: CaseSet | null = null,
): LabelPart[] {
  const kinds: { place: readonly number[]; count: number }[] = [];
  for (const place of inPlaces(record, tensors)) {
    const [tensor = -1] = place;
    const special = place.length > 1 || marks.some((mark) => mark.tensor === tensor);
    const isLike = (kind: { place: readonly number[] }): boolean =>
      kind.place.length === 1 && sameType(record, kind.place[0] ?? -1, tensor, among);
    const same = special ? undefined : kinds.find(isLike);
    if (same) same.count++;
    else kinds.push({ place, count: 1 });
  }
  const parts = kinds.slice(0, 2).flatMap(({ place, count }, i): LabelPart[] => {
    const lead = `${i ? ', ' : ''}${count > 1 ? TEXTS.severalOf(count) : ''}`;
    return [...(lead ? [{ text: lead, tone: 'muted' } as const] : []), ...tensorLabel(record, place, before, marks, among)];
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
