/** Which cases ran what, and a union as one of them ran it. */

import { beforeAll, describe, expect, test } from 'vitest';
import { casesOfCall, casesOfModules, casesOfOp, casesOfTensor, inPlaces, opsAlone, opsSeen } from '../../src/model/case_sets';
import { dimRanges, sameShape, shapesByCase } from '../../src/model/case_shapes';
import { allEnds, caseView, endsOf, totalsSeen } from '../../src/model/case_view';
import { callDetails, moduleDetails, opDetails, tensorDetails } from '../../src/model/details';
import { problemsOf } from '../../src/model/findings';
import { fourLines } from '../../src/model/four_lines';
import { OP_ASSUMED, OP_FAILED, row, type Record } from '../../src/model/record';
import { layerRows } from '../../src/model/rows';
import { stateOfCall, stateOfOp, stateText } from '../../src/model/states';
import { outlineRows } from '../../src/model/tree';
import { goldenRecord } from '../golden/records';
import { mlp, twoWays } from '../models';
import { RecordBuilder } from '../record_builder';

const F = 'torch.nn.functional.';
const shape = (dims: readonly { size: number; most: number }[]): string =>
  dims.map(({ size, most }) => (size === most ? size : `${size}…${most}`)).join('×');
const callOf = (record: Record, path: string): number =>
  record.calls.module.findIndex((module) => record.strings[record.modules.path[module] ?? 0] === path);
const opNamed = (record: Record, name: string): number =>
  record.ops.name.findIndex((word) => record.strings[word]?.endsWith(name) === true);
const rowNamed = (record: Record, name: string): ReturnType<typeof layerRows>[number] => {
  const found = layerRows(record).find((each) => each.name === name);
  if (!found) throw new Error(`there is no row ${name}`);
  return found;
};

describe('who ran what', () => {
  const record = twoWays();

  test('is told of ops, calls, tensors and whole modules', () => {
    expect(casesOfOp(record, opNamed(record, 'conv2d'))).toEqual([0]);
    expect(casesOfOp(record, opNamed(record, 'gelu'))).toEqual([0, 1]);
    expect(casesOfCall(record, callOf(record, 'embed'))).toEqual([1]);
    const sets = casesOfModules(record).map((set, module) => [record.strings[record.modules.path[module] ?? 0], set.join()]);
    expect(Object.fromEntries(sets)).toMatchObject({ '': '0,1', see: '0', embed: '1', block: '0,1', 'block.long': '1', aux: '' });
  });

  test('an input has the cases that give it, a parameter all', () => {
    const tensors = (kind: number): number[] => [...record.tensors.kind.keys()].filter((id) => record.tensors.kind[id] === kind);
    expect(tensors(3).map((tensor) => casesOfTensor(record, tensor))).toEqual([[0], [1]]);
    expect(new Set(tensors(1).map((tensor) => casesOfTensor(record, tensor).join()))).toEqual(new Set(['0,1']));
  });

  test('ops are counted, all and those of one case alone', () => {
    expect(record.cases.map((_, index) => opsSeen(caseView(record, index)))).toEqual(record.cases.map(({ ops }) => ops.length));
    expect(opsAlone(record)).toEqual([5, 3]);
    const [image, text] = opsAlone(record);
    const both = [...record.ops.name.keys()].filter((op) => casesOfOp(record, op).length === 2).length;
    expect(both + (image ?? 0) + (text ?? 0)).toBe(opsSeen(record));
  });

  test('what no case has together stands in one place', () => {
    const merged = Array.from(row(record.ops.inputs, opNamed(record, '__mul__')));
    expect(inPlaces(record, merged)).toEqual([merged.slice(0, 2), merged.slice(2)]);
    expect(inPlaces(mlp(), [0, 1, 2])).toEqual([[0], [1], [2]]);
  });
});

describe('shapes', () => {
  const record = twoWays();
  const scaled = row(record.ops.outputs, opNamed(record, '__mul__'))[0] ?? -1;
  const gelu = row(record.ops.outputs, opNamed(record, 'gelu'))[0] ?? -1;

  test('a dim that varies is told by its ends, in one case by its size', () => {
    expect(dimRanges(record, [scaled])).toEqual([
      { least: 2, most: 3 },
      { least: 8, most: 8 },
    ]);
    expect(dimRanges(record, [scaled], [1])[0]).toEqual({ least: 3, most: 3 });
    expect(dimRanges(caseView(record, 1), [scaled])[0]).toEqual({ least: 3, most: 3 });
    expect(shapesByCase(record, scaled)).toEqual([
      { of: 0, shape: [2, 8] },
      { of: 1, shape: [3, 8] },
    ]);
  });

  test('two are the same where they are in every case', () => {
    const other = { ...record, cases: record.cases.map((one) => ({ ...one, shapes: new Map() })) };
    expect(sameShape(record, scaled, gelu)).toBe(false);
    const [image] = row(record.ops.outputs, opNamed(record, 'mean'));
    expect([sameShape(record, scaled, image ?? -1), sameShape(record, scaled, image ?? -1, [0])]).toEqual([false, true]);
    expect(sameShape(other, scaled, image ?? -1)).toBe(true);
  });
});

describe('what varies', () => {
  const record = twoWays();
  const scaled = row(record.ops.outputs, opNamed(record, '__mul__'))[0] ?? -1;

  test('the table tells each row the shapes of the cases that ran it, and the most of its bytes', () => {
    expect(shape(rowNamed(record, 'block').input.dims)).toBe('2…3×8');
    expect([shape(rowNamed(record, 'wide').input.dims), shape(rowNamed(record, 'long').input.dims)]).toEqual(['2×8', '3×8']);
    expect(rowNamed(record, 'head')).toMatchObject({ outputBytes: 48, bytesVary: true });
    expect(rowNamed(record, 'long')).toMatchObject({ outputBytes: 3 * 16 * 4, bytesVary: false });
  });

  test('a tensor tells its shape in each case', () => {
    expect(tensorDetails(record, scaled)).toMatchObject({
      shapes: shapesByCase(record, scaled),
      varies: true,
      elements: 24,
      bytes: 96,
    });
    expect(tensorDetails(caseView(record, 1), scaled)).toMatchObject({ shapes: [], varies: false, elements: 24 });
  });

  test('an argument that two branches give is one argument', () => {
    const [seen, said] = row(record.ops.inputs, opNamed(record, '__mul__'));
    const named = (op: number): Record => {
      const at = record.strings.length;
      const argumentLists = { offsets: Int32Array.of(0, 4), values: Int32Array.of(at, at + 1, at + 2, at + 3) };
      const lists = new Int32Array(record.ops.name.length);
      return {
        ...record,
        strings: [...record.strings, 'self', '%0', 'other', '%2'],
        argumentLists,
        ops: { ...record.ops, arguments: lists.fill(0, op) },
      };
    };
    const op = opNamed(record, '__mul__');
    expect(opDetails(named(op), op).inputs.map(({ label, tensor, cases }) => [label, tensor, cases.join()])).toMatchObject([
      ['self', seen, '0'],
      ['self', said, '1'],
      ['other', expect.any(Number), ''],
    ]);
    expect(opDetails(caseView(named(op), 1), op).inputs.map(({ tensor }) => tensor)).not.toContain(seen);
  });
});

describe('one case alone', () => {
  const record = twoWays();
  const text = caseView(record, 1);

  test('is made once, and all cases together are the record itself', () => {
    expect(caseView(record, 1)).toBe(text);
    expect(caseView(record, -1)).toBe(record);
    expect(caseView(record, 2)).toBe(record);
  });

  test('what it did not run says so, with its name', () => {
    expect(stateOfCall(text, callOf(record, 'see'))).toBe('not run');
    expect(stateOfOp(text, opNamed(record, 'conv2d'))).toBe('not run');
    expect(stateText(text, 'not run')).toBe('not run in text');
    const states = outlineRows(text).map(({ name, state }) => [name, state]);
    expect(Object.fromEntries(states)).toMatchObject({ see: 'not run', embed: 'ok', wide: 'not run', aux: 'never called' });
    expect(rowNamed(text, 'see')).toMatchObject({ state: 'not run', outputBytes: null, input: { tensor: -1 } });
    expect(moduleDetails(text, 1).state).toBe('not run');
    expect(callDetails(text, callOf(record, 'block')).inputs.map(({ dims }) => shape(dims))).toEqual(['3×8']);
  });

  test('its ends and their bytes are its own; of all together the most', () => {
    expect(endsOf(text, 'inputs').map(({ name }) => name)).toEqual(['text']);
    expect(endsOf(record, 'inputs').map(({ name }) => name)).toEqual(['image', 'text']);
    expect(allEnds(text, 'outputs')).toHaveLength(1);
    expect(text.totals).toMatchObject({ inputBytes: 3 * 12 * 8, outputBytes: 48 });
    expect(totalsSeen(record)).toMatchObject({ inputBytes: 2 * 3 * 8 * 8 * 4, outputBytes: 48 });
    expect(totalsSeen(mlp())).toEqual(mlp().totals);
  });

  test('contents that only another case read are not told', () => {
    expect([record.values.tensor.length, text.values.tensor.length]).toEqual([3, 1]);
  });
});

/** x → fc ✕ in the case wide, fine in the case small; only wide goes on to out. */
function failsInOne(): Record {
  const b = new RecordBuilder('Fails', 'net.py', ['small', 'wide']);
  b.module('fc', 'Linear', 'in_features=4, out_features=2, bias=True');
  const x = b.input('x', [3, 4]);
  b.shapeIn('wide', x, [3, 5]);
  const fc = b.call('fc', [x], (t = -1) => b.op(`${F}linear`, [t, b.value('fc.weight', [2, 4])], [3, 2], { failed: true }));
  b.output(b.op('torch.relu', [fc], [3, 2]));
  b.fails('wide');
  const common = { module: 'fc', moduleType: 'Linear', opIndex: 0, marks: [{ tensor: x, dim: 1 }] };
  const numbers = { got: new Map([['last dim', 5]]), want: new Map([['in_features', 4]]) };
  b.finding({ severity: 'error', message: 'fc: fails', cases: ['wide'], ...common, ...numbers });
  b.finding({ severity: 'error', message: 'fc: follows', cases: ['wide'], causedBy: 0, ...common });
  b.finding({ severity: 'warning', message: 'x: only small', cases: ['small'] });
  b.finding({ severity: 'warning', message: 'both', cases: [] });
  return b.build();
}

describe('problems', () => {
  const record = failsInOne();
  const [small, wide] = [caseView(record, 0), caseView(record, 1)];

  test('are those of the case, each still following from its cause', () => {
    expect(problemsOf(small).map(({ finding }) => finding.message)).toEqual(['x: only small', 'both']);
    expect(problemsOf(wide).map(({ finding, followers }) => [finding.message, followers.length])).toEqual([
      ['fc: fails', 1],
      ['both', 0],
    ]);
    const late = caseView(
      {
        ...record,
        findings: [...record.findings].reverse().map((finding) => ({ ...finding, causedBy: finding.causedBy < 0 ? -1 : 3 })),
      },
      1,
    );
    expect(problemsOf(late).map(({ followers }) => followers.length)).toEqual([1, 0]);
  });

  test('a case that went through has nothing failed and nothing assumed', () => {
    expect([small.completed, wide.completed]).toEqual([true, false]);
    expect(record.ops.flags.some((flags) => flags & OP_FAILED)).toBe(true);
    expect(small.ops.flags.every((flags) => !(flags & (OP_FAILED | OP_ASSUMED)))).toBe(true);
    expect([stateOfOp(small, 0), stateOfOp(wide, 0), stateOfOp(wide, 1)]).toEqual(['ok', 'failed', 'assumed']);
    expect([stateOfCall(small, 1), stateOfCall(wide, 1)]).toEqual(['ok', 'failed']);
    expect(rowNamed(small, 'fc').output.assumed).toBe(false);
  });

  test('are told with the shapes of the case that has them, also where all are looked at', () => {
    expect(callDetails(record, 1).gotWanted?.got.map(({ size, most }) => [size, most])).toEqual([
      [3, 3],
      [5, 5],
    ]);
    const told = { module: '', op: '', file: '', line: 0, code: '', shape: [], opIndex: -1, tensor: 0 };
    const [finding] = record.findings;
    expect(finding && fourLines(record, { ...finding, origin: told }).from?.type).toBe('f32[3,5]');
  });
});

describe('as Python writes it', () => {
  let record: Record;
  beforeAll(async () => {
    record = await goldenRecord('cases');
  });

  test('each case has its own way in, and both the rest', () => {
    expect(record.cases.map(({ name, completed }) => [name, completed])).toEqual([
      ['text', true],
      ['image', true],
    ]);
    const by = (name: string): string => casesOfOp(record, opNamed(record, name)).join();
    expect(['embedding', 'conv2d', 'relu'].map(by)).toEqual(['0', '1', '0,1']);
    expect(endsOf(caseView(record, 1), 'inputs').map(({ name }) => name)).toEqual(['image']);
  });

  test('every row of a case is its own, whichever case is looked at', () => {
    for (const index of record.cases.keys()) {
      const view = caseView(record, index);
      for (const { state, call } of layerRows(view))
        if (call >= 0) expect(state === 'not run').toBe(!view.cases[index]?.calls.includes(call));
    }
    expect(shape(rowNamed(caseView(record, 1), 'head').output.dims)).toBe('4×5');
    expect(shape(rowNamed(record, 'head').output.dims)).toBe('2…4×5');
  });
});
