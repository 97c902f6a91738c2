/** The graph of a union: who ran each node, what steps back where one case is picked, and whose contents were read. */

import { describe, expect, test } from 'vitest';
import { flagsOf, flagWidth } from '../../src/layout/flags';
import { caseView } from '../../src/model/case_view';
import { labelText, type Graph, type GraphNode } from '../../src/model/graph';
import { besideProblem, legendLines, legendOf } from '../../src/model/graph_legend';
import { nodeText } from '../../src/model/graph_names';
import type { Record } from '../../src/model/record';
import { graphOf, sceneOf } from '../drawn';
import { failingCnn, mlp, twoWays } from '../models';
import { RecordBuilder } from '../record_builder';

const nodeNamed = (graph: Graph, name: string): GraphNode => {
  const node = graph.nodes.find((each) => each.name === name);
  if (!node) throw new Error(`there is no node ${name}`);
  return node;
};
const edgeBetween = (graph: Graph, from: string, to: string): Graph['edges'][number] | undefined =>
  graph.edges.find(({ source, target }) => graph.nodes[source]?.name === from && graph.nodes[target]?.name === to);

describe('all cases', () => {
  const record = twoWays();
  const graph = graphOf(record);
  const marks = Object.fromEntries(graph.nodes.map(({ name, cases }) => [name, cases.join()]));

  test('only what not every case ran bears their marks, ends and groups included', () => {
    const all = { scale: '', block: '', gelu: '', norm: '', head: '', logits: '', aux: '' };
    expect(marks).toMatchObject({ image: '0', see: '0', relu: '0', text: '1', embed: '1', wide: '0', long: '1', ...all });
    expect(graph.nodes.some(({ absent }) => absent)).toBe(false);
  });

  test('an edge is of the only case that runs both its ends', () => {
    expect(edgeBetween(graph, 'see', 'relu')?.onlyCase).toBe(0);
    expect(edgeBetween(graph, 'embed', 'sum')?.onlyCase).toBe(1);
    expect(edgeBetween(graph, 'gelu', 'head')?.onlyCase).toBe(-1);
  });
});

describe('labels of all cases', () => {
  const record = twoWays();
  const graph = graphOf(record);

  test('edges that all run tell how far shapes vary, others the shape of their case', () => {
    expect(labelText(edgeBetween(graph, 'gelu', 'head')?.label ?? [])).toBe('2…3×16');
    expect(labelText(edgeBetween(graph, 'wide', 'gelu')?.label ?? [])).toBe('2×16');
    expect(labelText(edgeBetween(graph, 'long', 'gelu')?.label ?? [])).toBe('3×16');
  });

  test('a label counts as new against what the case itself brought', () => {
    const b = new RecordBuilder('Net', 'net.py', ['a', 'b']);
    const x = b.only(['a'], () => b.op('torch.exp', [b.input('x', [2, 5])], [2, 5]));
    const y = b.only(['b'], () => b.op('torch.sin', [b.input('y', [3, 5])], [3, 5]));
    const same = b.op('torch.relu', [x, y], [2, 5]);
    b.shapeIn('b', same, [3, 5]);
    b.op('torch.abs', [same], [2, 5]);
    const wider = b.only(['b'], () => b.op('torch.outer', [same], [3, 7]));
    b.only(['b'], () => b.op('torch.neg', [wider], [3, 7]));
    const merged = graphOf(b.build());
    expect(edgeBetween(graphOf(caseView(b.build(), 1)), 'relu', 'abs')).toMatchObject({ labelled: false });
    expect(edgeBetween(merged, 'relu', 'abs')).toMatchObject({ labelled: false });
    expect(edgeBetween(merged, 'relu', 'outer')).toMatchObject({ labelled: false });
    expect(edgeBetween(merged, 'outer', 'neg')?.label.map(({ tone }) => tone)).toEqual(['muted', 'muted', 'changed']);
  });
});

describe('closed groups of all cases', () => {
  const record = twoWays();
  const graph = graphOf(record);

  test('a closed group sums up what is in it: one set as that set, several as a difference', () => {
    const closed = graphOf(record, { openCalls: new Set([0]) });
    expect(nodeNamed(closed, 'block')).toMatchObject({ cases: [], differs: true });
    expect(graph.nodes.some(({ differs }) => differs)).toBe(false);
    const b = new RecordBuilder('Net', 'net.py', ['a', 'b']);
    b.module('part', 'Part');
    const x = b.input('x', [2]);
    b.only(['a'], () => b.call('part', [x], (t = -1) => b.op('torch.relu', [b.op('torch.tanh', [t], [2])], [2])));
    b.op('torch.exp', [x], [2]);
    expect(nodeNamed(graphOf(b.build(), { openCalls: new Set([0]) }), 'part')).toMatchObject({ cases: [0], differs: false });
  });

  test('one line stands for what several cases take from one group', () => {
    const b = new RecordBuilder('Net', 'net.py', ['a', 'b']);
    b.module('part', 'Part');
    const x = b.input('x', [2]);
    let ends: number[] = [];
    b.call('part', [x], (t = -1) => {
      const before = b.op('torch.abs', [t], [2]);
      ends = [
        b.only(['a'], () => b.op('torch.tanh', [before], [2, 7])),
        b.only(['b'], () => b.op('torch.exp', [before], [2, 9])),
      ];
      return ends[0] ?? -1;
    });
    b.op('torch.sum', ends, [1]);
    const view = { openCalls: new Set([0]) };
    const label = (record: Record): string => labelText(edgeBetween(graphOf(record, view), 'part', 'sum')?.label ?? []);
    const record = b.build();
    expect([-1, 0, 1].map((picked) => label(caseView(record, picked)))).toEqual(['2×7…9', '2×7', '2×9']);
  });
});

describe('one case', () => {
  const text = caseView(twoWays(), 1);
  const graph = graphOf(text);

  test('what it did not run steps back with all that hangs on it; nothing else does', () => {
    const absent = graph.nodes.filter((node) => node.absent).map(({ name }) => name);
    expect(absent).toEqual(['image', 'see', 'relu', 'mean', 'wide', 'rand']);
    expect(graph.nodes.filter(({ dimmed }) => dimmed).map(({ name }) => name)).toEqual(absent);
    expect(edgeBetween(graph, 'see', 'relu')?.dimmed).toBe(true);
    expect(edgeBetween(graph, 'long', 'gelu')?.dimmed).toBe(false);
  });

  test('a label that is told once is told where it ran', () => {
    const b = new RecordBuilder('Net', 'net.py', ['a', 'b']);
    const made = b.op('torch.outer', [b.input('x', [2]), b.input('y', [4])], [2, 4]);
    b.only(['a'], () => b.op('torch.exp', [made], [2, 4]));
    b.only(['b'], () => b.op('torch.sin', [made], [2, 4]));
    const labelled = (picked: number): boolean[] =>
      ['exp', 'sin'].map((name) => edgeBetween(graphOf(caseView(b.build(), picked)), 'outer', name)?.labelled === true);
    expect([-1, 0, 1].map(labelled)).toEqual([
      [true, false],
      [true, false],
      [false, true],
    ]);
  });

  test('is said in words', () => {
    const words = (name: string): string =>
      nodeText(
        text,
        graph,
        graph.nodes.findIndex((node) => node.name === name),
      );
    expect(words('see')).toContain('not run in text');
    expect(words('embed')).toContain('only in text');
    expect(words('norm')).toMatch(/value read$/);
  });
});

test('the way to a failure leads through what the failing case ran', () => {
  const b = new RecordBuilder('Net', 'net.py', ['a', 'b']);
  const made = b.op('torch.exp', [b.input('x', [2])], [2]);
  const one = b.only(['a'], () => b.op('torch.sin', [made], [2]));
  const other = b.only(['b'], () => b.op('torch.cos', [made], [2]));
  b.op('torch.matmul', [one, other], [2], { failed: true });
  const origin = { module: '', op: 'exp', file: '', line: 0, code: '', opIndex: 0, tensor: made, shape: [2] };
  b.finding({ severity: 'error', message: 'fails', opIndex: 3, origin, cases: ['b'] });
  b.fails('b');
  const record = b.build();
  const guilty = (view: Record): string[] => graphOf(view).nodes.flatMap((node) => (node.guilty ? [node.name] : []));
  expect(guilty(record)).toEqual(['x', 'exp', 'cos', 'matmul']);
  expect(guilty(caseView(record, 1))).toEqual(['x', 'exp', 'cos', 'matmul']);
});

describe('contents that were read', () => {
  const values = (record: Record, openCalls?: ReadonlySet<number>): object =>
    Object.fromEntries(
      graphOf(record, openCalls ? { openCalls } : {}).nodes.flatMap(({ name, value }) => (value ? [[name, value]] : [])),
    );

  test('are marked where they come from: an op, an input', () => {
    expect(values(twoWays())).toEqual({ norm: 'read', rand: 'random', image: 'assumed' });
    expect(values(caseView(twoWays(), 1))).toEqual({ norm: 'read' });
  });

  test('views count as what they view, buffers have their box, a closed group bears the gravest', () => {
    const b = new RecordBuilder('Net');
    b.module('part', 'Part');
    const mask = b.value('mask', [2], 'buffer');
    const out = b.call('part', [b.input('x', [2])], (x = -1) => {
      const sum = b.op('torch.sum', [x], [1]);
      b.reads(b.op('torch.Tensor.reshape', [sum], [1, 1], { viewOf: sum }), 'read', '2.0');
      const noise = b.op('torch.rand_like', [sum], [1]);
      b.reads(noise, 'random');
      return b.op('torch.add', [sum, noise], [1]);
    });
    b.op('torch.masked_select', [out, mask], [1]);
    b.reads(mask, 'assumed', '', 4);
    expect(values(b.build())).toEqual({ sum: 'read', rand_like: 'random', mask: 'assumed' });
    expect(values(b.build(), new Set([0]))).toEqual({ part: 'random', mask: 'assumed' });
  });
});

test('a buffer that no op takes is marked at the module that holds it', () => {
  const b = new RecordBuilder('Net');
  b.module('part', 'Part');
  b.call('part', [b.input('x', [2])], (x = -1) => b.op('torch.relu', [b.op('torch.tanh', [x], [2])], [2]));
  b.reads(b.value('part.enabled', [], 'buffer'), 'read', 'True');
  const record = b.build();
  for (const openCalls of [new Set([0]), new Set([0, 1])])
    expect(nodeNamed(graphOf(record, { openCalls }), 'part').value).toBe('read');
});

test('flags name up to four cases, then count the rest', () => {
  const texts = (cases: readonly number[], differs = false): string[] => flagsOf({ cases, differs }).map(({ text }) => text);
  expect(texts([0, 2])).toEqual(['A', 'C']);
  expect(texts([0, 1, 2, 3])).toEqual(['A', 'B', 'C', 'D']);
  expect(texts([0, 1, 2, 3, 4])).toEqual(['A', 'B', 'C', '+2']);
  expect(texts([], true)).toEqual(['≈']);
  expect(flagWidth({ cases: [], differs: false })).toBe(0);
});

test('the legend tells the signs that are there and no others', () => {
  const legend = legendOf(graphOf(twoWays()));
  expect(legend).toMatchObject({ cases: [0, 1], differs: false, absent: false, values: ['read', 'assumed', 'random'] });
  expect(legendLines(legend)).toBe(legend.families.length + 2 + 3);
  expect(legendOf(graphOf(caseView(twoWays(), 0)))).toMatchObject({ absent: true });
  expect(legendOf(graphOf(twoWays(), { openCalls: new Set([0]) })).differs).toBe(true);
  expect(legendOf(graphOf(mlp()))).toEqual({
    families: [1, 3],
    cases: [],
    differs: false,
    absent: false,
    values: [],
    assumed: false,
  });
});

test('a line is coloured from where the other cases have left it', () => {
  const scene = sceneOf(twoWays());
  const { graph, layout, theme } = scene.source;
  const wide = graph.edges.findIndex(({ target }) => graph.nodes[target]?.name === 'wide');
  const lines = scene.wires.items
    .filter(({ index }) => layout.wires.edge[index] === wide)
    .flatMap((item) => scene.shapesOf(item))
    .flatMap((shape) => (shape.kind === 'line' ? [shape] : []));
  expect(lines.slice(-2).map(({ stroke }) => stroke.colour)).toEqual([theme.edge, theme.hues[1]]);
  const [trunk, rest] = lines.slice(-2).map(({ points }) => points);
  expect(trunk?.slice(-2)).toEqual(rest?.slice(0, 2));
});

test('beside a problem only what is assumed needs a word: the card has the others', () => {
  const legend = legendOf(graphOf(failingCnn()));
  expect(legend).toMatchObject({ assumed: true });
  expect(besideProblem(legend)).toEqual({ families: [], cases: [], differs: false, absent: false, values: [], assumed: true });
  expect([legendLines(besideProblem(legend)), legendLines(besideProblem(legendOf(graphOf(mlp()))))]).toEqual([1, 0]);
});
