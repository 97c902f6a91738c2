/** Cases and branches that never ran, off the wire. */

import type * as model from '../model/record';
import { checkedColumn, damaged, running } from './columns';
import { endpointsOf } from './endpoints';
import type { Branch, Case } from './gen/shapes/v1/record_pb';

interface Sizes {
  readonly shapes: number;
  readonly tensors: number;
  readonly ops: number;
  readonly calls: number;
  readonly values: number;
}

/** Branches that never ran; RecordError where one points outside the modules. */
export function branchesOf(from: readonly Branch[], modules: number): readonly model.Branch[] {
  return from.map(({ file, line, endLine, code, function: name, modules: rows }) => ({
    file,
    line,
    endLine,
    code,
    function: name,
    modules: checkedColumn('branches.modules', rows, modules),
  }));
}

/** The cases of a union; RecordError where one points outside its table. */
export function casesOf(from: readonly Case[], size: Sizes): readonly model.Case[] {
  return from.map((one) => ({
    name: one.name,
    completed: one.completed,
    error: one.error,
    execution: one.execution,
    ops: rowsOf('cases.ops', one.ops, size.ops),
    calls: rowsOf('cases.calls', one.calls, size.calls),
    values: rowsOf('cases.values', one.values, size.values),
    shapes: shapesOf(one, size),
    inputs: endpointsOf('cases.inputs', one.inputs, size.tensors),
    outputs: endpointsOf('cases.outputs', one.outputs, size.tensors),
  }));
}

/** Rows told as the lengths of their stretches, outside and inside by turns. */
function rowsOf(column: string, lengths: readonly number[], size: number): Int32Array {
  const end = lengths.reduce((sum, length) => sum + length, 0);
  if (end > size) throw damaged(column, `reaches row ${end} of a table of ${size}`);
  const rows: number[] = [];
  let start = 0;
  lengths.forEach((length, turn) => {
    if (turn % 2 === 1) for (let row = start; row < start + length; row++) rows.push(row);
    start += length;
  });
  return Int32Array.from(rows);
}

function shapesOf({ tensors, shapes }: Case, size: Sizes): ReadonlyMap<number, number> {
  if (tensors.length !== shapes.length)
    throw damaged('cases.shapes', `has ${shapes.length} values for ${tensors.length} tensors`);
  const rows = checkedColumn('cases.tensors', running(tensors), size.tensors);
  const theirs = checkedColumn('cases.shapes', shapes, size.shapes);
  return new Map(Array.from(rows, (tensor, i) => [tensor, theirs[i] ?? 0]));
}
