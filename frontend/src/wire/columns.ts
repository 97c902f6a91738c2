/** Columns off the wire: sums of deltas, offsets of ragged rows, and a check that every index is in its table. */

import type { Ragged } from '../model/record';
import { RecordError } from './errors';

type Numbers = ArrayLike<number | bigint>;

const LARGEST = 2 ** 31 - 1;

/** The error for a column that cannot be. */
export function damaged(column: string, why: string): RecordError {
  return new RecordError(
    `This record is damaged: column ${column} ${why}.`,
    'Copy the event file again, or log the model again.',
  );
}

/** The values as plain numbers. */
export function fromZero(values: Numbers): number[] {
  return Array.from(values, Number);
}

/** The values of a delta column: each is the difference from the one before. */
export function running(deltas: Numbers): number[] {
  let sum = 0;
  return Array.from(deltas, (delta) => (sum += Number(delta)));
}

/** A "plus one" column, where 0 says none. */
export function minusOne(values: Numbers): number[] {
  return Array.from(values, (value) => Number(value) - 1);
}

/** A "rows back" column, where 0 says none: each is the row that stands so many before its own. */
export function stepsBack(values: Numbers): number[] {
  return Array.from(values, (value, i) => (Number(value) === 0 ? -1 : i - Number(value)));
}

/** Integers that are no index. */
export function plainColumn(values: Numbers): Int32Array {
  return Int32Array.from(values, Number);
}

/** Indices into a table of `size` rows, all from `lowest` on; RecordError where one is outside. */
export function checkedColumn(column: string, values: Numbers, size: number, lowest = 0): Int32Array {
  const top = Math.min(size, LARGEST);
  return Int32Array.from(values, (value) => {
    const index = Number(value);
    if (!(index >= lowest && index < top)) throw damaged(column, `points at row ${index} of a table of ${size}`);
    return index;
  });
}

/** Rows of the given lengths; RecordError when they don't add up to the values. */
export function counted(column: string, counts: Numbers, values: Numbers): { offsets: Int32Array; values: Float64Array } {
  const offsets = new Int32Array(counts.length + 1);
  let sum = 0;
  for (let i = 0; i < counts.length; i++) {
    sum += Number(counts[i]);
    if (sum > values.length) break;
    offsets[i + 1] = sum;
  }
  if (sum !== values.length) throw damaged(column, `has ${values.length} values, its rows ask for ${sum}`);
  return { offsets, values: Float64Array.from(values, Number) };
}

function ragged(column: string, counts: Numbers, values: Numbers, size: number): Ragged {
  return { offsets: counted(column, counts, values).offsets, values: checkedColumn(column, values, size) };
}

/** A table of lists, as argument_lists. */
export function lists(
  column: string,
  from: { readonly count: number[]; readonly values: number[] } | undefined,
  size: number,
): Ragged {
  return ragged(column, from?.count ?? [], from?.values ?? [], size);
}

interface Table {
  plain(column: string, values: Numbers | undefined): Int32Array;
  figures(column: string, values: Numbers | undefined): Float64Array;
  index(column: string, values: Numbers | undefined, size: number): Int32Array;
  indexOrNone(column: string, values: Numbers, size: number): Int32Array;
  before(column: string, values: Numbers): Int32Array;
  ragged(column: string, counts: Numbers | undefined, values: Numbers, size: number): Ragged;
}

/** Makes the columns of one table of `rows` rows; each is refused where its length or a value of it can't be. */
export function tableOf(table: string, rows: number): Table {
  const full = (column: string, values: Numbers | undefined): Numbers => {
    if ((values?.length ?? 0) !== rows)
      throw damaged(`${table}.${column}`, `has ${values?.length ?? 0} rows, its table has ${rows}`);
    return values ?? [];
  };
  const name = (column: string): string => `${table}.${column}`;
  return {
    plain: (column, values) => plainColumn(full(column, values)),
    figures: (column, values) => Float64Array.from(full(column, values), (value) => Number(value) - 1),
    index: (column, values, size) => checkedColumn(name(column), full(column, values), size),
    indexOrNone: (column, values, size) => checkedColumn(name(column), full(column, values), size, -1),
    // A parent or caller stands before its child: so no walk upwards can go round in circles.
    before: (column, values) => {
      Array.from(full(column, values), Number).forEach((value, i) => checkedColumn(name(column), [value], i, -1));
      return plainColumn(values);
    },
    ragged: (column, counts, values, size) => ragged(name(column), full(column, counts), values, size),
  };
}
