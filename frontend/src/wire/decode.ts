/** Stored bytes to a Record: unzips, undoes the wire's deltas and refuses what doesn't hold together, in a sentence. */

import { fromBinary } from '@bufbuild/protobuf';
import * as model from '../model/record';
import { branchesOf, casesOf } from './cases';
import { checkedColumn, counted, fromZero, lists, minusOne, running, stepsBack, tableOf } from './columns';
import { endpointsOf } from './endpoints';
import { RecordError } from './errors';
import { findingsOf } from './findings';
import { RecordSchema, type Record as Message } from './gen/shapes/v1/record_pb';
import { memoryOf, scalesIn, whatIfOf } from './memory';
import { wholeStrings } from './strings';

/** The draft this build reads; the same number as RECORD_DRAFT in tb_shapeplugin/base/names.py. */
export const DRAFT = 5;

const DAMAGED = 'Copy the event file again, or log the model again.';

/** Decodes a record's stored bytes; RecordError (a sentence and a way out) for anything else. */
export async function decodeRecord(bytes: Uint8Array): Promise<model.Record> {
  const message = parse(await unzip(bytes));
  if (message.draft !== DRAFT)
    throw new RecordError(
      `This record is of draft ${message.draft}; this tab reads draft ${DRAFT}.`,
      message.draft > DRAFT
        ? 'Install a newer tb-shapeplugin beside TensorBoard.'
        : 'Log the model again with the installed tb-shapeplugin.',
    );
  return recordOf(message);
}

async function unzip(bytes: Uint8Array): Promise<Uint8Array> {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes; // the transport has unzipped it
  try {
    const stream = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(new DecompressionStream('gzip'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch {
    throw new RecordError('This record is damaged: it cannot be unzipped or its checksum does not match.', DAMAGED);
  }
}

function parse(bytes: Uint8Array): Message {
  try {
    return fromBinary(RecordSchema, bytes);
  } catch {
    throw new RecordError('This record is damaged: its bytes are no record of Shapes.', DAMAGED);
  }
}

function recordOf(message: Message): model.Record {
  const texts = wholeStrings(message.sharedPrefix, message.strings);
  if (texts[0] !== '') throw new RecordError('This record is damaged: its table of strings does not start as it must.', DAMAGED);
  const strings = texts.length;
  const shapes = shapesOf(message);
  const size = {
    strings,
    shapes: shapes.length,
    arguments: message.argumentLists?.count.length ?? 0,
    children: message.childLists?.count.length ?? 0,
    modules: message.modules?.path.length ?? 0,
    calls: message.calls?.module.length ?? 0,
    tensors: message.tensors?.shape.length ?? 0,
    ops: message.ops?.name.length ?? 0,
    sources: message.sources?.file.length ?? 0,
    values: message.values?.tensor.length ?? 0,
  };
  return {
    name: message.name,
    completed: message.completed,
    error: message.error,
    execution: message.execution,
    unchecked: message.unchecked,
    versions: new Map(Object.entries(message.versions)),
    strings: texts,
    shapes,
    argumentLists: lists('argument_lists', message.argumentLists, strings),
    childLists: childListsOf(message, strings, shapes.length),
    modules: modulesOf(message, size),
    calls: callsOf(message, size),
    tensors: tensorsOf(message, size),
    ops: opsOf(message, size),
    sources: sourcesOf(message, size),
    values: valuesOf(message, size),
    inputs: endpointsOf('inputs', message.inputs, size.tensors),
    outputs: endpointsOf('outputs', message.outputs, size.tensors),
    totals: totalsOf(message),
    memory: message.memory ? memoryOf(message.memory, size, scalesIn(message.whatIf?.scales ?? [])) : null,
    whatIf: message.whatIf ? whatIfOf(message.whatIf, size) : null,
    findings: findingsOf(message.findings, size),
    branches: message.branches ? branchesOf(message.branches.branches, size.modules) : null,
    cases: casesOf(message.cases, size),
  };
}

type Table = 'strings' | 'shapes' | 'arguments' | 'children' | 'modules' | 'calls' | 'tensors' | 'ops' | 'sources' | 'values';
type Sizes = Readonly<Record<Table, number>>;

function shapesOf(message: Message): readonly (readonly number[])[] {
  const rank = message.shapes?.rank ?? [];
  const dims = counted('shapes.dims', rank, fromZero(message.shapes?.dims ?? []));
  return Array.from(rank, (_, i) => Array.from(dims.values.subarray(dims.offsets[i], dims.offsets[i + 1])));
}

/** Rows are a name, a number of outputs, then shape and dtype of each: every one is checked to be of that form. */
function childListsOf(message: Message, strings: number, shapes: number): model.Ragged {
  const column = lists('child_lists', message.childLists, Infinity);
  for (let i = 0; i + 1 < column.offsets.length; i++) {
    const row = column.values.subarray(column.offsets[i], column.offsets[i + 1]);
    for (let at = 0; at < row.length;) {
      const outputs = row[at + 1] ?? 0;
      const end = at + 2 + 2 * outputs;
      checkedColumn('child_lists', [row[at] ?? 0], strings);
      if (end > row.length) throw new RecordError('This record is damaged: a row of child_lists is cut off.', DAMAGED);
      for (let k = at + 2; k < end; k += 2) {
        checkedColumn('child_lists', [row[k] ?? 0], shapes);
        checkedColumn('child_lists', [row[k + 1] ?? 0], strings);
      }
      at = end;
    }
  }
  return column;
}

function modulesOf(message: Message, size: Sizes): model.ModuleColumns {
  const table = tableOf('modules', size.modules);
  const from = message.modules;
  return {
    path: table.index('path', running(from?.path ?? []), size.strings),
    type: table.index('type', from?.type, size.strings),
    config: table.index('config', from?.config, size.strings),
    parent: table.before('parent', stepsBack(from?.parent ?? [])),
    params: table.figures('params', from?.params),
    trainableParams: table.figures('trainable_params', from?.trainableParams),
    paramBytes: table.figures('param_bytes', from?.paramBytes),
    bufferBytes: table.figures('buffer_bytes', from?.bufferBytes),
    localParams: table.figures('local_params', from?.localParams),
    localParamBytes: table.figures('local_param_bytes', from?.localParamBytes),
    sharedWith: table.ragged('shared_with', from?.sharedWithCount, from?.sharedWith ?? [], size.strings),
    flags: table.plain('flags', from?.flags),
  };
}

function callsOf(message: Message, size: Sizes): model.CallColumns {
  const table = tableOf('calls', size.calls);
  const from = message.calls;
  const firstOp = table.index('first_op', running(from?.firstOp ?? []), size.ops + 1);
  const opCount = table.plain('op_count', from?.opCount);
  return {
    module: table.index('module', running(from?.module ?? []), size.modules),
    number: table.plain('number', from?.number),
    parent: table.before('parent', stepsBack(from?.parent ?? [])),
    firstOp,
    endOp: table.index(
      'op_count',
      firstOp.map((first, i) => first + (opCount[i] ?? 0)),
      size.ops + 1,
    ),
    inputs: table.ragged('inputs', from?.inputsCount, running(from?.inputs ?? []), size.tensors),
    outputs: table.ragged('outputs', from?.outputsCount, running(from?.outputs ?? []), size.tensors),
    outcome: table.index('outcome', from?.outcome, 3),
    savedBytes: table.figures('saved_bytes', from?.savedBytes),
    backwardFlops: table.figures('backward_flops', from?.backwardFlops),
  };
}

function tensorsOf(message: Message, size: Sizes): model.TensorColumns {
  const table = tableOf('tensors', size.tensors);
  const from = message.tensors;
  return {
    shape: table.index('shape', from?.shape, size.shapes),
    dtype: table.index('dtype', from?.dtype, size.strings),
    device: table.index('device', from?.device, size.strings),
    storage: table.plain('storage', running(from?.storage ?? [])),
    producer: table.indexOrNone('producer', minusOne(running(from?.producer ?? [])), size.ops),
    kind: table.index('kind', from?.kind, 5),
    name: table.index('name', running(from?.name ?? []), size.strings),
    flags: table.plain('flags', from?.flags),
  };
}

function opsOf(message: Message, size: Sizes): model.OpColumns {
  const table = tableOf('ops', size.ops);
  const from = message.ops;
  return {
    name: table.index('name', from?.name, size.strings),
    call: table.indexOrNone('call', minusOne(running(from?.call ?? [])), size.calls),
    source: table.indexOrNone('source', minusOne(running(from?.source ?? [])), size.sources),
    inputs: table.ragged('inputs', from?.inputsCount, running(from?.inputs ?? []), size.tensors),
    outputs: table.ragged('outputs', from?.outputsCount, running(from?.outputs ?? []), size.tensors),
    arguments: table.index('arguments', from?.arguments, size.arguments),
    children: table.index('children', from?.children, size.children),
    flags: table.plain('flags', from?.flags),
    flops: table.figures('flops', from?.flops),
  };
}

function sourcesOf(message: Message, size: Sizes): model.SourceColumns {
  const table = tableOf('sources', size.sources);
  const from = message.sources;
  return {
    file: table.index('file', from?.file, size.strings),
    line: table.plain('line', from?.line),
    endLine: table.plain('end_line', from?.endLine),
    column: table.plain('column', from?.column),
    endColumn: table.plain('end_column', from?.endColumn),
    code: table.index('code', from?.code, size.strings),
    function: table.index('function', from?.function, size.strings),
    text: table.index('text', from?.text, size.strings),
    textLine: table.plain('text_line', from?.textLine),
    caller: table.before('caller', minusOne(from?.caller ?? [])),
  };
}

function valuesOf(message: Message, size: Sizes): model.ValueColumns {
  const from = message.values;
  const table = tableOf('values', size.values);
  return {
    tensor: table.index('tensor', running(from?.tensor ?? []), size.tensors),
    op: table.indexOrNone('op', minusOne(running(from?.op ?? [])), size.ops),
    source: table.indexOrNone('source', minusOne(running(from?.source ?? [])), size.sources),
    origin: table.index('origin', from?.origin, model.VALUE_ORIGINS.length),
    literal: table.index('literal', from?.literal, size.strings),
  };
}

function totalsOf(message: Message): model.Totals {
  const from = message.totals;
  const number = (value: bigint | undefined): number | null => (value === undefined ? null : Number(value));
  return {
    params: number(from?.params),
    trainableParams: number(from?.trainableParams),
    paramBytes: number(from?.paramBytes),
    bufferBytes: number(from?.bufferBytes),
    inputBytes: number(from?.inputBytes),
    outputBytes: number(from?.outputBytes),
    savedBytes: number(from?.savedBytes),
    gradientBytes: number(from?.gradientBytes),
    optimizerBytes: number(from?.optimizerBytes),
    peakForwardBytes: number(from?.peakForwardBytes),
    peakFirstBytes: number(from?.peakFirstBytes),
    peakBytes: number(from?.peakBytes),
    packedParams: number(from?.packedParams),
    packedBytes: number(from?.packedBytes),
    flops: number(from?.flops),
    flopsComplete: from?.flopsComplete ?? null,
    backwardFlops: number(from?.backwardFlops),
    localParams: number(from?.localParams),
    localParamBytes: number(from?.localParamBytes),
  };
}
