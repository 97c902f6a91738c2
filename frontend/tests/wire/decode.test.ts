/** Records that Python wrote are read; everything else is refused in a sentence, never with a crash. */

import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { argumentsOf } from '../../src/model/arguments';
import { callDetails, moduleDetails, opDetails, tensorDetails } from '../../src/model/details';
import { problemsOf } from '../../src/model/findings';
import { fourLinesText } from '../../src/model/four_lines';
import { PARTS } from '../../src/model/memory';
import { linesOf } from '../../src/model/memory_lines';
import { row, type Record } from '../../src/model/record';
import { layerRows } from '../../src/model/rows';
import { typeOf } from '../../src/model/tensors';
import { outlineRows } from '../../src/model/tree';
import { decodeRecord, DRAFT } from '../../src/wire/decode';
import { RecordError } from '../../src/wire/errors';
import { RecordSchema, type Record as Message } from '../../src/wire/gen/shapes/v1/record_pb';
import { consoleText, storedBytes, unzippedBytes } from '../golden/records';

/** The refusal's sentence for the problem record changed by `change`. */
async function refusalOf(change: (message: Message) => void): Promise<string> {
  const message = fromBinary(RecordSchema, unzippedBytes('problem'));
  change(message);
  const refused: unknown = await decodeRecord(toBinary(RecordSchema, message)).catch((error: unknown) => error);
  if (!(refused instanceof RecordError)) throw new Error('it was read');
  expect(refused.wayOut).not.toBe('');
  return refused.message;
}

describe('a record written by Python', () => {
  test('is the same zipped and unzipped', async () => {
    const [zipped, plain] = await Promise.all([decodeRecord(storedBytes('problem')), decodeRecord(unzippedBytes('problem'))]);
    expect(zipped).toEqual(plain);
  });

  test('has its ops, types and arguments', async () => {
    const record = await decodeRecord(storedBytes('problem'));
    const names = Array.from(record.ops.name, (name) => record.strings[name]);
    expect(names.slice(0, 5)).toEqual([
      'torch.nn.functional.conv2d',
      'torch.nn.functional.relu',
      'torch.nn.functional.max_pool2d',
      'torch.flatten',
      'torch.nn.functional.dropout',
    ]);
    const flatten = 3;
    expect(Array.from(row(record.ops.inputs, flatten), (id) => typeOf(record, id))).toEqual(['f32[4,6,12,12]']);
    expect(Array.from(row(record.ops.outputs, flatten), (id) => typeOf(record, id))).toEqual(['f32[4,864]']);
    expect([...argumentsOf(record, flatten).names]).toEqual([[0, 'input']]);
    expect(argumentsOf(record, flatten).others).toEqual([{ name: 'start_dim', literal: '1' }]);
    expect(record.totals.params).toBe(153260);
    expect(record.completed).toBe(false);
  });

  test.each(['problem', 'healthy'] as const)('has its findings, in the very words of the console: %s', async (name) => {
    const record = await decodeRecord(storedBytes(name));
    const lines = problemsOf(record).map(({ finding }) => fourLinesText(record, finding));
    expect(lines.join('\n')).toBe(consoleText(name));
    expect(lines).toHaveLength(name === 'problem' ? 1 : 0);
  });

  test('has its cases, each with its ops and shapes, the branches that none took, and the values that were read', async () => {
    const record = await decodeRecord(storedBytes('cases'));
    const names = Array.from(record.ops.name, (name) => record.strings[name]?.split('.').at(-1));
    const ran = record.cases.map(({ name, ops }) => [name, Array.from(ops, (op) => names[op])]);
    expect(ran).toEqual([
      ['text', ['embedding', 'gt', 'all', 'mul', 'linear', 'relu', 'mean', 'linear']],
      ['image', ['conv2d', 'flatten', 'transpose', 'linear', 'relu', 'mean', 'linear']],
    ]);
    const [text, image] = record.cases;
    const output = image?.outputs[0]?.tensor ?? -1;
    expect(record.shapes[record.tensors.shape[output] ?? -1]).toEqual([2, 5]);
    expect(record.shapes[image?.shapes.get(output) ?? -1]).toEqual([4, 5]);
    expect(text?.shapes.size).toBe(0);
    expect(record.branches?.map(({ code, line, endLine }) => [code, endLine - line])).toEqual([['if self.debug:', 1]]);
    expect(Array.from(record.values.literal, (literal) => record.strings[literal])).toEqual(['True']);
  });
});

/** What is damaged, a part of the sentence that says so, and how it is done. */
const DAMAGES: readonly (readonly [string, string, (message: Message) => void])[] = [
  ['a string that is not there', 'column ops.name points at row 9999', (m) => m.ops && (m.ops.name[0] = 9999)],
  ['a shape that is not there', 'column tensors.shape points', (m) => m.tensors && (m.tensors.shape[0] = 4000)],
  ['an input that is not there', 'column ops.inputs points', (m) => m.ops && (m.ops.inputs[0] = 10000n)],
  ['a negative index', 'column calls.module points at row -5', (m) => m.calls && (m.calls.module[0] = -5n)],
  ['columns of different lengths', 'column ops.call has', (m) => m.ops?.call.pop()],
  ['rows that do not add up', 'column ops.inputs has', (m) => m.ops && (m.ops.inputsCount[0] = 7)],
  ['a parent before the first module', 'column modules.parent points', (m) => m.modules && (m.modules.parent[1] = 3)],
  ['a caller that is called later', 'column sources.caller points', (m) => m.sources && (m.sources.caller[0] = 3)],
  ['ops past the end', 'column calls.op_count points', (m) => m.calls && (m.calls.opCount[0] = 5000)],
  ['a finding at no op', 'column findings.op_index points', (m) => m.findings[0] && (m.findings[0].opIndex = 500)],
  [
    'a finding that follows from itself',
    'column findings.caused_by points',
    (m) => m.findings[0] && (m.findings[0].causedBy = 1),
  ],
  ['a mark on no tensor', 'column marks.tensor points', (m) => m.findings[0]?.marks[0] && (m.findings[0].marks[0].tensor = 500)],
  ['an output that is not there', 'column outputs points', (m) => m.outputs[0] && (m.outputs[0].tensor = 500)],
  ['a table of strings without ""', 'table of strings', (m) => (m.strings[0] = 'x')],
  ['a string that shares more than there is', 'shares more than there is', (m) => (m.sharedPrefix[1] = 7)],
  ['a string without its prefix', 'table of strings is cut off', (m) => m.sharedPrefix.pop()],
  [
    'strings that grow without an end',
    'more room than any record may',
    (m) => {
      m.strings = ['', 'x'.repeat(2 ** 20), ...Array.from({ length: 300 }, () => '')];
      m.sharedPrefix = [0, 0, ...Array.from({ length: 300 }, () => 2 ** 20)];
    },
  ],
  [
    'a child list that is cut off',
    'child_lists',
    (m) => m.childLists && (m.childLists = { ...m.childLists, count: [1], values: [1] }),
  ],
];

describe('the memory that Python tells', () => {
  test('has what is alive over a training step, with its peak', async () => {
    const { memory, totals } = await decodeRecord(storedBytes('healthy'));
    expect(memory?.phases.map(({ phase }) => phase)).toEqual(['forward', 'loss', 'backward', 'step']);
    if (!memory) throw new Error('there is no memory');
    expect(memory.phases.at(-1)?.end).toBe(memory.ops.name.length);
    const { total, parts, peak } = linesOf(memory);
    expect(Math.max(...total)).toBe(totals.peakBytes);
    expect(peak.bytes).toBe(totals.peakBytes);
    expect(parts.reduce((sum, part) => sum + (part[peak.op] ?? 0), 0)).toBe(totals.peakBytes);
    expect(parts[PARTS.indexOf('optimizer')]?.[peak.op]).toBe(totals.optimizerBytes);
    expect(parts[PARTS.indexOf('parameters')]?.[peak.op]).toBe(totals.paramBytes);
  });

  test('has the forward alone where that was asked, and no memory where the run failed', async () => {
    const [twice, problem] = await Promise.all([decodeRecord(storedBytes('twice')), decodeRecord(storedBytes('problem'))]);
    expect(twice.memory?.phases.map(({ phase }) => phase)).toEqual(['forward']);
    expect(twice.memory && linesOf(twice.memory).peak.bytes).toBe(twice.totals.peakBytes);
    expect(problem.memory).toBeNull();
  });
});

describe('refused in a sentence', () => {
  test('another draft, by its number', async () => {
    expect(await refusalOf((message) => (message.draft = DRAFT + 1))).toBe(
      `This record is of draft ${DRAFT + 1}; this tab reads draft ${DRAFT}.`,
    );
  });

  test('bytes that are no record', async () => {
    await expect(decodeRecord(new TextEncoder().encode('garbage, not a record'))).rejects.toThrow('its bytes are no record');
  });

  test('nothing at all', async () => {
    await expect(decodeRecord(new Uint8Array())).rejects.toThrow('of draft 0');
  });

  test('a gzip that is cut off, or fails its checksum', async () => {
    const whole = storedBytes('problem');
    const flipped = Uint8Array.from(whole);
    flipped[flipped.length - 6] = (flipped[flipped.length - 6] ?? 0) ^ 0xff;
    await expect(decodeRecord(whole.subarray(0, 200))).rejects.toThrow('damaged');
    await expect(decodeRecord(flipped)).rejects.toThrow('checksum');
  });

  test('a gzip of something else', async () => {
    await expect(decodeRecord(new Uint8Array(gzipSync('text')))).rejects.toBeInstanceOf(RecordError);
  });

  test('cases that reach beyond the record', async () => {
    const changes: readonly ((message: Message) => void)[] = [
      (m) => m.cases[0]?.ops.push(1, 5000),
      (m) => m.cases[0]?.shapes.push(0),
      (m) => m.branches?.branches[0]?.modules.push(99),
    ];
    for (const change of changes) {
      const message = fromBinary(RecordSchema, unzippedBytes('cases'));
      change(message);
      await expect(decodeRecord(toBinary(RecordSchema, message))).rejects.toThrow('damaged');
    }
  });

  test('memory whose columns do not fit each other', async () => {
    const changes: readonly ((message: Message) => void)[] = [
      (m) => m.memory?.allocations?.bytes.push(1n),
      (m) => m.memory?.phase.push(9),
      (m) => m.memory?.phase.push(1),
      (m) => m.memory?.allocations?.scale.fill(7),
      (m) => m.memory?.ops?.name.push(1),
    ];
    for (const change of changes) {
      const message = fromBinary(RecordSchema, unzippedBytes('healthy'));
      change(message);
      await expect(decodeRecord(toBinary(RecordSchema, message))).rejects.toThrow('damaged');
    }
  });

  test.each(DAMAGES)('%s', async (_, sentence, change) => {
    expect(await refusalOf(change)).toContain(sentence);
  });
});

/** Small, repeatable pseudo-random numbers. */
function mulberry(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Everything the panels ask of a record. */
function readAll(record: Record): void {
  outlineRows(record);
  layerRows(record);
  for (const { finding } of problemsOf(record)) fourLinesText(record, finding);
  record.ops.name.forEach((_, id) => opDetails(record, id));
  record.calls.module.forEach((_, id) => callDetails(record, id));
  record.modules.path.forEach((_, id) => moduleDetails(record, id));
  record.tensors.shape.forEach((_, id) => tensorDetails(record, id));
}

test('a thousand records with flipped bytes are each refused in a sentence, or shown whole', async () => {
  const random = mulberry(7);
  const whole = unzippedBytes('problem');
  let shown = 0;
  for (let i = 0; i < 1000; i++) {
    const bytes = Uint8Array.from(whole);
    for (let k = 0; k < 1 + (i % 4); k++) bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
    const read = await decodeRecord(bytes).catch((error: unknown) => error);
    if (read instanceof RecordError) continue;
    if (read instanceof Error) throw read;
    readAll(read as Record);
    shown++;
  }
  expect(shown).toBeGreaterThan(50);
});

test('an empty record of the right draft is read', async () => {
  const record = await decodeRecord(toBinary(RecordSchema, create(RecordSchema, { draft: DRAFT, strings: [''] })));
  readAll(record);
  expect(record.ops.name).toHaveLength(0);
});
