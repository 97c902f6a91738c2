/** What the inspector tells. */

import { beforeAll, expect, test } from 'vitest';
import { argumentsOf } from '../../src/model/arguments';
import { endOfPath } from '../../src/model/calls';
import { callDetails, moduleDetails, opDetails, tensorDetails } from '../../src/model/details';
import { row, type Record } from '../../src/model/record';
import { goldenRecord } from '../golden/records';

let record: Record;
beforeAll(async () => {
  record = await goldenRecord('problem');
});

const text = (line: { readonly label: string; readonly dims: readonly { size: number }[]; readonly from: string }): string =>
  `${line.label} ${line.dims.map(({ size }) => size).join('×')}${line.from && ` from ${line.from}`}`;

function callOf(path: string): number {
  return record.calls.module.findIndex((module) => record.strings[record.modules.path[module] ?? 0] === path);
}

test('a failing layer tells got against wanted, dim by dim', () => {
  const details = callDetails(record, callOf('fc1'));
  expect(details.title).toBe('fc1');
  expect(details.state).toBe('failed');
  expect(details.gotWanted?.got.map(({ size, clash }) => [size, clash])).toEqual([
    [4, false],
    [864, true],
  ]);
  expect(details.gotWanted?.wanted).toEqual([null, 1176]);
});

test('a layer tells its input and who made it, its own parameters and its output', () => {
  const details = callDetails(record, callOf('fc1'));
  expect(details.inputs.map(text)).toEqual([' 4×864 from drop']);
  expect(details.own.map(text)).toEqual(['weight 120×1176', 'bias 120']);
  expect(details.outputs.every(({ assumed }) => assumed)).toBe(true);
  expect(details.figures?.params).toBe(141240);
});

test('the source shows the failing line and the line of the origin', () => {
  const lines = callDetails(record, callOf('fc1')).source;
  expect(lines.map(({ tone, before }) => [tone, before])).toEqual([
    ['origin', 'x = torch.flatten(x, 1)'],
    ['plain', 'x = self.drop(x)'],
    ['here', 'x = F.relu(self.fc1(x))'],
    ['plain', 'x = F.relu(self.fc2(x))'],
    ['plain', 'return self.fc3(x)'],
  ]);
});

test('where the function was recorded, its text is shown and the call is told apart', () => {
  const { sources } = record;
  const source = record.ops.source[3] ?? -1;
  const line = sources.line[source] ?? 0;
  const body = `        a = 1\n        y = torch.flatten(x, 1)\n        b = 2`;
  const full: Record = {
    ...record,
    strings: [...record.strings, body],
    sources: {
      ...sources,
      text: sources.text.map(() => record.strings.length),
      textLine: sources.textLine.map(() => line - 1),
      column: sources.column.map(() => 12),
      endColumn: sources.endColumn.map(() => 31),
    },
  };
  const lines = opDetails(full, 3).source;
  expect(lines.map(({ line: at }) => at - line)).toEqual([-1, 0, 1]);
  expect(lines[1]).toMatchObject({ before: 'y = ', call: 'torch.flatten(x, 1)', after: '', tone: 'here' });
});

test('an op tells its tensors by the names of its arguments, and its aten ops', () => {
  const details = opDetails(record, 0);
  expect(details.fullName).toBe('torch.nn.functional.conv2d');
  expect(details.inputs.map(({ label }) => label)).toEqual(['input', 'weight', 'bias']);
  expect(details.arguments.map(({ name }) => name)).toContain('stride');
  expect(details.children).toEqual([{ name: 'aten.convolution.default', outputs: ['f32[4,6,24,24]'] }]);
});

test('tensors in a list are named by their place in it, quoted text is no tensor', () => {
  const strings = [...record.strings, 'tensors', '[%0, %1]', 'equation', "'%0 is text'"];
  const at = record.strings.length;
  const argumentLists = { offsets: Int32Array.of(0, 4), values: Int32Array.of(at, at + 1, at + 2, at + 3) };
  const ops = { ...record.ops, arguments: new Int32Array(record.ops.name.length) };
  const { names, others } = argumentsOf({ ...record, strings, argumentLists, ops }, 0);
  expect([...names]).toEqual([
    [0, 'tensors[0]'],
    [1, 'tensors[1]'],
  ]);
  expect(others).toEqual([{ name: 'equation', literal: "'%0 is text'" }]);
});

test('a module that never ran says so and still has its parameters', () => {
  const aux = record.modules.path.findIndex((path) => record.strings[path] === 'aux');
  expect(moduleDetails(record, aux)).toMatchObject({ title: 'aux', state: 'never called', figures: { params: 850 } });
});

test('a tensor tells who made it, who uses it and who shares its memory', () => {
  const flat = row(record.ops.outputs, 3)[0] ?? -1;
  const details = tensorDetails(record, flat);
  expect(details.producer?.text).toBe('flatten');
  expect(details.users.map((link) => link.text)).toEqual(['dropout']);
  expect(details.sameMemory.map((link) => link.text)).toContain('f32[4,6,12,12]');
  expect([details.elements, details.bytes]).toEqual([3456, 13824]);
});

test.each([
  ['fc1', 'fc1'],
  ['bert.encoder.layer.0', 'layer.0'],
  ['blocks.3.mlp.0.1', 'mlp.0.1'],
  ['0', '0'],
  ['0.1', '0.1'],
])('the module %s is known as %s', (path, known) => {
  expect(endOfPath(path)).toBe(known);
});
