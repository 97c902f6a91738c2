/** The visible graph is what look.md's section "Graph" says of a record. */

import { describe, expect, test } from 'vitest';
import { labelText, type Graph } from '../../src/model/graph';
import { graphIndex } from '../../src/model/graph_index';
import { nodeText, placeKey } from '../../src/model/graph_names';
import { firstOpenCalls } from '../../src/model/graph_path';
import { graphOf } from '../drawn';
import { goldenRecord } from '../golden/records';
import { branches, brokenBlocks, broughtAlong, chain, failingCnn, mlp, transformer, unet } from '../models';
import { RecordBuilder } from '../record_builder';

function names(graph: Graph): string[] {
  return graph.nodes.map((node) => node.name);
}

function named(graph: Graph, name: string): Graph['nodes'][number] {
  const node = graph.nodes.find((one) => one.name === name);
  if (!node) throw new Error(`no node is called ${name}; there are ${names(graph).join(', ')}`);
  return node;
}

/** `from > to : words | label` of each edge. */
function edges(graph: Graph): string[] {
  return graph.edges.map(({ source, target, words, label, labelled }) => {
    const told = [words.join(', '), labelled ? labelText(label) : ''].filter(Boolean).join(' | ');
    return `${graph.nodes[source]?.name ?? ''} > ${graph.nodes[target]?.name ?? ''}${told && ` : ${told}`}`;
  });
}

describe('nodes', () => {
  test('a module whose call is one op is one node with its last name, type and settings', () => {
    const graph = graphOf(mlp());
    expect(graph.nodes.map(({ kind, name, detail }) => `${kind} ${name} ${detail}`.trim())).toEqual([
      'input x',
      'op fc1 Linear 784→128',
      'op act ReLU',
      'op fc2 Linear 128→10',
      'output logits',
    ]);
    expect(graph.nodes.map((node) => node.family)).toEqual([0, 1, 3, 1, 0]);
  });

  test('a closed group hides what is in it, an open one holds it', () => {
    const record = transformer(2);
    const closed = graphOf(record, { openCalls: new Set() });
    expect(names(closed)).toEqual([
      'images',
      'patch_embed',
      'cat',
      'cls_token',
      'add',
      'pos_embed',
      'blocks.0',
      'blocks.1',
      'norm',
      'head',
      'logits',
    ]);
    const call = named(closed, 'blocks.0').call;
    const open = graphOf(record, { openCalls: new Set([call]) });
    const group = open.nodeOfCall[call];
    expect(open.nodes.filter((node) => node.parent === group).map((node) => node.name)).toEqual([
      'norm1',
      'attn',
      'add',
      'norm2',
      'mlp',
      'add',
    ]);
    expect(named(open, 'attn').kind).toBe('group');
  });
});

describe('beside and around ops', () => {
  test('parameters are shown where the module that uses them does not stand for them', () => {
    const values = graphOf(transformer(1)).nodes.filter((node) => node.kind === 'value');
    expect(values.map(({ name, label }) => `${name} ${labelText(label)}`)).toEqual(['cls_token 1×1×768', 'pos_embed 1×197×768']);
  });

  test('adding is a circle, and its family is told by none', () => {
    const graph = graphOf(transformer(1));
    expect(graph.nodes.filter((node) => node.sign === '+').length).toBe(3);
  });
});

describe('calls, inputs and outputs', () => {
  test('several calls of one module are several nodes that say which call they are', async () => {
    const graph = graphOf(await goldenRecord('twice'));
    expect(names(graph)).toEqual([
      'x',
      'blocks.0',
      '0',
      '1',
      'shared',
      'blocks.1',
      '0',
      '1',
      'shared, call 2',
      'cat',
      "output['both']",
    ]);
  });

  test('ops outside any module stand at the top', () => {
    const graph = graphOf(chain(20));
    expect(graph.nodes.length).toBe(22);
    expect(graph.nodes.every((node) => node.parent === -1)).toBe(true);
  });

  test('many inputs and outputs are told by their number', () => {
    const b = new RecordBuilder('Many');
    const all = Array.from({ length: 12 }, (_, i) => b.input(`x${i}`, [2]));
    const sum = b.op('torch.stack', all, [12, 2]);
    for (let i = 0; i < 12; i++) b.output(b.op('torch.tanh', [sum], [12, 2]), `y${i}`);
    const graph = graphOf(b.build());
    expect(graph.nodes.filter((node) => node.kind === 'input').map((node) => node.name)).toEqual([
      'x0',
      'x1',
      'x2',
      'x3',
      'x4',
      '+7 inputs',
    ]);
    expect(graph.nodes.filter((node) => node.kind === 'output').at(-1)?.name).toBe('+7 outputs');
    expect(edges(graph).filter((edge) => edge.startsWith('+7 inputs'))).toHaveLength(1);
  });
});

describe('views', () => {
  test('ops that only view are words on the edge', () => {
    const told = edges(graphOf(transformer(1)));
    expect(told).toContain('qkv > scaled_dot_product_attention : reshape, permute, unbind | 3 of 8×12×197×64');
    expect(told).toContain('patch_embed > cat : flatten, transpose | 8×196×768');
    expect(told).toContain('norm > head : [:, 0] | 8×768');
  });

  test('a view that is selected is a node', () => {
    const record = transformer(1);
    const op = graphIndex(record).viewOnly.indexOf(1);
    const graph = graphOf(record, { revealed: new Set([op]) });
    expect(graph.nodes[graph.nodeOfOp[op] ?? -1]?.name).toBe('flatten');
    expect(edges(graph)).toContain('flatten > cat : transpose | 8×196×768');
  });

  test('an index that is itself a tensor is no view', () => {
    const b = new RecordBuilder('Lookup');
    const x = b.input('x', [10, 4]);
    b.output(b.op('torch.Tensor.__getitem__', [x, b.input('rows', [3], 'int64')], [3, 4]));
    expect(names(graphOf(b.build()))).toEqual(['x', 'rows', 'index', 'output']);
  });
});

describe('labels', () => {
  test('say the shape that arrives where it changed, and only there', () => {
    expect(edges(graphOf(mlp()))).toEqual(['x > fc1 : 32×784', 'fc1 > act : 32×128', 'act > fc2', 'fc2 > logits : 32×10']);
  });

  test('tell changed dims from unchanged ones', () => {
    const [, first] = graphOf(mlp()).edges;
    expect(first?.label).toEqual([
      { text: '32', tone: 'muted' },
      { text: '×', tone: 'muted' },
      { text: '128', tone: 'changed' },
    ]);
  });

  test('have dtype in front where it changes', () => {
    const b = new RecordBuilder('Embed');
    b.output(
      b.op('torch.nn.functional.embedding', [b.input('ids', [2, 7], 'int64'), b.value('table', [50, 8])], [2, 7, 8], {
        dtype: 'float32',
      }),
    );
    expect(edges(graphOf(b.build())).at(-1)).toBe('embedding > output : f32 2×7×8');
  });

  test('of one value that goes to several places stand once', () => {
    const told = edges(graphOf(unet(2)));
    expect(told.filter((edge) => edge.startsWith('down0 >'))).toEqual(['down0 > max_pool2d : 2×8×64×64', 'down0 > cat']);
  });
});

describe('a failure', () => {
  const graph = graphOf(failingCnn());

  test('has its op, its origin and what was assumed in their states', () => {
    expect(graph.nodes.filter((node) => node.kind !== 'value').map((node) => `${node.name} ${node.state}`)).toEqual([
      'x plain',
      'conv1 plain',
      'relu plain',
      'pool plain',
      'flatten origin',
      'drop plain',
      'fc1 failed',
      'relu assumed',
      'fc2 assumed',
      'relu assumed',
      'fc3 assumed',
      'output assumed',
      'aux plain',
    ]);
    expect(named(graph, 'flatten').aside).toEqual(['makes 864', '= 6·12·12']);
    expect(named(graph, 'fc1').remark).toEqual(['nothing below ran', 'shapes assumed']);
  });

  test('shows the parameter that clashes, so that the dims face each other', () => {
    expect(named(graph, 'fc1.weight').caption).toBe('fc1.weight, transposed');
    expect(labelText(named(graph, 'fc1.weight').label)).toBe('≠1176×120');
    expect(edges(graph)).toContain('drop > fc1 : 4×≠864');
  });

  test('dims all that is not on the way to it', () => {
    expect(graph.nodes.filter((node) => node.dimmed).map((node) => node.name)).toEqual(['x', 'conv1', 'relu']);
    expect(graph.edges.filter((edge) => edge.guilty).map((edge) => graph.nodes[edge.source]?.name)).toEqual([
      'pool',
      'flatten',
      'drop',
    ]);
    expect(graph.edges.filter((edge) => edge.clash)).toHaveLength(1);
    expect(graphOf(failingCnn(), { dims: false }).nodes.some((node) => node.dimmed)).toBe(false);
  });
});

describe('a number that was there before the run', () => {
  test('is marked at the input that brought it along', () => {
    const graph = graphOf(broughtAlong('input'));
    expect(named(graph, 'picture')).toMatchObject({
      state: 'origin',
      mark: 'origin',
      aside: ['brings 36'],
      guilty: true,
      dimmed: false,
    });
    expect(named(graph, 'conv')).toMatchObject({ state: 'failed' });
    expect(graph.edges.find((edge) => edge.clash)?.guilty).toBe(true);
  });

  test('is marked at the box of the parameter that brought it along', () => {
    const graph = graphOf(broughtAlong('parameter'));
    expect(named(graph, 'table')).toMatchObject({ kind: 'value', state: 'origin', mark: 'origin', aside: ['brings 50'] });
    expect(named(graph, 'picture').state).toBe('plain');
  });

  test('is no number where the reason is none', () => {
    const record = broughtAlong('input');
    const on = (why: string): readonly string[] =>
      named(graphOf({ ...record, findings: record.findings.map((finding) => ({ ...finding, why })) }), 'picture').aside;
    expect([on(''), on('picture has 36 at dim 1'), on('picture is on cpu'), on('picture is f36')]).toEqual([
      ['brings 36'],
      ['brings 36'],
      ['brings it along'],
      ['brings it along'],
    ]);
  });

  test('is marked there also where no dim clashes and no number is known, and the box is drawn for that', () => {
    const record = broughtAlong('parameter');
    const findings = record.findings.map((finding) => ({ ...finding, marks: [], got: new Map<string, number>() }));
    const graph = graphOf({ ...record, findings });
    expect(named(graph, 'table')).toMatchObject({ state: 'origin', caption: '', aside: ['brings it along'] });
  });
});

test('the words of an origin stand to its right where a parameter stands to its left', () => {
  const b = new RecordBuilder('Net');
  const made = b.op('torch.Tensor.add', [b.input('x', [2, 8]), b.value('table', [5, 2, 8])], [5, 2, 8]);
  b.output(b.op('torch.matmul', [made], [5], { failed: true }));
  const origin = { module: '', op: '', file: '', line: 0, code: '', opIndex: 0, tensor: made, shape: [] };
  b.finding({ severity: 'error', message: 'no', got: new Map([['size', 5]]), opIndex: 1, origin });
  const graph = graphOf(b.build());
  expect(graph.nodes.find((node) => node.state === 'origin')).toMatchObject({ aside: ['makes 5'], asideRight: true });
  expect(named(graphOf(failingCnn()), 'flatten').asideRight).toBe(false);
});

test('every place of a fault is marked, folded or not', () => {
  const marks = (open: ReadonlySet<number>): string[] =>
    graphOf(brokenBlocks(3), { openCalls: open })
      .nodes.filter(({ mark }) => mark === 'error')
      .map(({ name }) => name);
  expect(marks(new Set())).toEqual(['block0', 'block1', 'block2', 'head']);
  expect(marks(new Set([1]))).toEqual(['narrow', 'block1', 'block2', 'head']);
});

describe('around a failure', () => {
  const graph = graphOf(failingCnn());

  test('shows modules that were never called, with their warning', () => {
    const ghost = named(graph, 'aux');
    expect([ghost.kind, ghost.mark, graph.nodes[ghost.host]?.name]).toEqual(['ghost', 'warn', 'fc3']);
  });

  test('inside a closed group marks the group', () => {
    const b = new RecordBuilder('Outer');
    b.module('body', 'Body');
    b.output(
      b.call('body', [b.input('x', [2])], (x = -1) =>
        b.op('torch.tanh', [b.op('torch.matmul', [b.op('torch.tanh', [x], [2])], [3], { failed: true })], [3]),
      ),
    );
    const closed = graphOf(b.build(), { openCalls: new Set() });
    expect([named(closed, 'body').kind, named(closed, 'body').mark]).toEqual(['group', 'error']);
  });

  test('recorded by Python is drawn like the one built here', async () => {
    const recorded = graphOf(await goldenRecord('problem'));
    expect(recorded.nodes.map((node) => `${node.kind} ${node.name} ${node.state}`)).toEqual(
      graph.nodes.map((node) => `${node.kind} ${node.name} ${node.state}`),
    );
    expect(edges(recorded)).toEqual(edges(graph));
  });
});

describe('modules that never ran', () => {
  test('are no ghosts where some op used their parameters all the same, nor where they only hold others', () => {
    const b = new RecordBuilder('Tied');
    b.module('list', 'ModuleList');
    b.module('list.0', 'Linear');
    b.module('out', 'Linear');
    b.module('idle', 'Tower');
    b.module('idle.inner', 'Linear');
    const x = b.call('list.0', [b.input('x', [2, 4])], (t = -1) => b.op('torch.nn.functional.linear', [t], [2, 4]));
    b.output(b.op('torch.nn.functional.linear', [x, b.value('out.weight', [4, 4])], [2, 4]));
    const ghosts = graphOf(b.build()).nodes.filter((node) => node.kind === 'ghost');
    expect(ghosts.map((node) => node.name)).toEqual(['idle']);
  });
});

describe('first view', () => {
  test('opens a small model whole and a large one not at all', () => {
    const small = transformer(1);
    expect(firstOpenCalls(graphIndex(small)).size).toBeGreaterThan(3);
    const large = transformer(100);
    expect([...firstOpenCalls(graphIndex(large))]).toEqual([]);
  });
});

test('a node has the same key in every view, and words for those who hear it', () => {
  const record = failingCnn();
  const keys = graphOf(record).nodes.map(placeKey);
  expect(new Set(keys).size).toBe(keys.length);
  const graph = graphOf(record);
  expect(
    nodeText(
      record,
      graph,
      graph.nodes.findIndex((node) => node.name === 'fc1'),
    ),
  ).toBe('fc1, Linear 1176→120, input 4×≠864 → output 4×120, failed');
});

test('every op of every model is found on its graph, or is words on an edge', () => {
  for (const record of [mlp(), failingCnn(), transformer(2), unet(3), branches()]) {
    const { viewOnly } = graphIndex(record);
    const graph = graphOf(record, { openCalls: new Set(), finding: null });
    graph.nodeOfOp.forEach((node, op) => expect(node >= 0 || viewOnly[op] === 1).toBe(true));
  }
});

test('100,000 ops in a chain, one through the other, need no deep stack', { timeout: 60_000 }, () => {
  const graph = graphOf(chain(100_000));
  expect(graph.edges.length).toBe(100_001);
});
