/** The shapes that one tensor has in the cases of a union: a dim that varies is told as its least and its most. */

import { casesOfTensor, type CaseSet } from './case_sets';
import type { Case, Record } from './record';

type Shape = readonly number[];

const VARYING = new WeakMap<readonly Case[], ReadonlySet<number>>();

/** Whether a tensor has another shape in some case, among those that are looked at. */
export function varies(record: Record, tensor: number): boolean {
  const { cases, picked } = record;
  if (cases.length === 0 || picked !== undefined) return false;
  const known = VARYING.get(cases) ?? new Set(cases.flatMap(({ shapes }) => [...shapes.keys()]));
  VARYING.set(cases, known);
  return known.has(tensor);
}

/** A tensor's shape in each case that has it, by the case's index. */
export function shapesByCase(record: Record, tensor: number): readonly { readonly of: number; readonly shape: Shape }[] {
  const usual = record.tensors.shape[tensor] ?? -1;
  return casesOfTensor(record, tensor).map((of) => ({
    of,
    shape: record.shapes[record.cases[of]?.shapes.get(tensor) ?? usual] ?? [],
  }));
}

/** The shapes that a tensor has, each once; `among`: in these cases alone. */
export function shapesOf(record: Record, tensor: number, among: CaseSet | null = null): readonly Shape[] {
  const usual = record.shapes[record.tensors.shape[tensor] ?? -1] ?? [];
  if (!varies(record, tensor)) return [usual];
  const asked = shapesByCase(record, tensor).filter(({ of }) => among?.includes(of) ?? true);
  return asked.length ? [...new Map(asked.map(({ shape }) => [shape.join(), shape])).values()] : [usual];
}

/** Each dim's least and most among the shapes of tensors that stand in one place, as far as they have as many dims as the first. */
export function dimRanges(
  record: Record,
  place: readonly number[],
  among: CaseSet | null = null,
): readonly { readonly least: number; readonly most: number }[] {
  const [first = [], ...others] = place.flatMap((tensor) => shapesOf(record, tensor, among));
  const alike = others.filter((shape) => shape.length === first.length);
  return first.map((size, dim) => {
    const sizes = [size, ...alike.map((shape) => shape[dim] ?? size)];
    return { least: Math.min(...sizes), most: Math.max(...sizes) };
  });
}

/** Whether two tensors have the same shape, in each of these cases. */
export function sameShape(record: Record, a: number, b: number, among: CaseSet | null = null): boolean {
  const { shape } = record.tensors;
  if (!varies(record, a) && !varies(record, b)) return shape[a] === shape[b];
  const asked = record.cases.filter((_, of) => among?.includes(of) ?? true);
  return asked.every(({ shapes }) => (shapes.get(a) ?? shape[a]) === (shapes.get(b) ?? shape[b]));
}
