/** Models with memory for tests: one small enough to add up by hand, one as large as a vision transformer, and random ones. */

import type { Record, Term } from '../src/model/record';
import type { MemoryRows, StorageRow, WhatIfRows } from './memory_rows';
import { RecordBuilder } from './record_builder';
import { visionMemory } from './vision_memory';

/**
 *  x ── fc1 ── act ── fc2 ── loss        forward 0–2, loss 3, backward 4–6, step 7
 *
 * Parameters 100 + 50, optimizer 300, inputs 40; fc1 keeps 80 to op 5, act 60 to op 4; a gradient of 100 from op 6; 20 for a moment at op 4.
 */
export function smallRecord(more: Partial<MemoryRows> = {}): Record {
  return smallBuilder(more).build();
}

export const SMALL_PEAK = { op: 4, bytes: 100 + 50 + 300 + 40 + 80 + 60 + 20 };

export const SMALL_WHAT_IF: WhatIfRows = {
  sizes: [{ name: 'batch', logged: 4, least: 1, step: 1, axes: ['x[0]'] }],
  scales: [[[1]], [[0, 0.25]]],
};

export function smallBuilder(more: Partial<MemoryRows> = {}, whatIf: WhatIfRows | null = null): RecordBuilder {
  const net = new RecordBuilder('Net');
  net.module('fc1', 'Linear', 'in_features=10, out_features=20');
  net.module('act', 'ReLU');
  net.module('fc2', 'Linear', 'in_features=20, out_features=5');
  const x = net.input('x', [4, 10]);
  const calls = ['fc1', 'act', 'fc2'];
  let y = x;
  for (const path of calls) y = net.call(path, [y], (value) => net.op(path, [value], [4, 20]));
  net.output(y);
  const [fc1, act, fc2] = calls.map((path) => net.callOf(path)) as [number, number, number];
  const storages: readonly StorageRow[] = [
    { bytes: 100, term: 'parameters', owner: 'fc1', name: 'fc1.weight' },
    { bytes: 50, term: 'parameters', owner: 'fc2', name: 'fc2.weight' },
    { bytes: 300, term: 'optimizer', owner: 'fc1', name: 'fc1.weight.exp_avg' },
    { bytes: 40, term: 'inputs', name: 'x', scale: 1 },
    { bytes: 80, term: 'activations', born: 0, life: 6, keptBy: 1, scale: 1, shape: [4, 20] },
    { bytes: 60, term: 'activations', born: 1, life: 4, keptBy: 1, scale: 1, shape: [4, 20] },
    { bytes: 20, term: 'temporaries', born: 4, life: 1, scale: 1 },
    { bytes: 100, term: 'gradients', born: 6, owner: 'fc1', name: 'fc1.weight' },
  ];
  const memory: MemoryRows = {
    ops: [
      ['aten.addmm.default', fc1],
      ['aten.relu.default', act],
      ['aten.addmm.default', fc2],
      ['aten.sum.default', -1],
      ['aten.mm.default', fc2],
      ['aten.threshold_backward.default', act],
      ['aten.mm.default', fc1],
      ['aten._foreach_add_.Scalar', -1],
    ],
    phases: [
      ['forward', 3],
      ['loss', 4],
      ['backward', 7],
      ['step', 8],
    ],
    storages,
    ...more,
  };
  net.memory(memory, whatIf, { peakBytes: SMALL_PEAK.bytes, peakFirstBytes: SMALL_PEAK.bytes - 300 });
  return net;
}

/** A vision transformer of `blocks` equal blocks, trained with Adam; bytes are those of a batch. */
export function visionRecord(blocks = 12, batch = 256, withWhatIf = true): Record {
  const net = new RecordBuilder('VisionTransformer');
  const inside = ['norm1', 'attn', 'attn.qkv', 'attn.proj', 'norm2', 'mlp', 'mlp.fc1', 'mlp.act', 'mlp.fc2'];
  const types = ['LayerNorm', 'Attention', 'Linear', 'Linear', 'LayerNorm', 'Mlp', 'Linear', 'GELU', 'Linear'];
  net.module('patch_embed', 'Conv2d');
  net.module('blocks', 'Sequential');
  for (let i = 0; i < blocks; i++) {
    net.module(`blocks.${i}`, 'Block');
    inside.forEach((path, k) => net.module(`blocks.${i}.${path}`, types[k] ?? ''));
  }
  net.module('norm', 'LayerNorm');
  net.module('head', 'Linear');
  const images = net.input('images', [batch, 3, 224, 224]);
  let x = net.call('patch_embed', [images], (value) => net.op('conv2d', [value], [batch, 197, 768]));
  for (let i = 0; i < blocks; i++) {
    const at = (path: string, body: (value: number) => number): void =>
      void (x = net.call(`blocks.${i}${path && `.${path}`}`, [x], body));
    const leaf = (path: string, op: string): number =>
      net.call(`blocks.${i}.${path}`, [x], (value) => net.op(op, [value], [batch, 197, 768]));
    at('', () => {
      x = leaf('norm1', 'layer_norm');
      at('attn', () => {
        x = leaf('attn.qkv', 'linear');
        x = net.op('scaled_dot_product_attention', [x], [batch, 197, 768]);
        return leaf('attn.proj', 'linear');
      });
      x = net.op('add', [x], [batch, 197, 768]);
      x = leaf('norm2', 'layer_norm');
      at('mlp', () => {
        x = leaf('mlp.fc1', 'linear');
        x = leaf('mlp.act', 'gelu');
        return leaf('mlp.fc2', 'linear');
      });
      return net.op('add', [x], [batch, 197, 768]);
    });
  }
  x = net.call('norm', [x], (value) => net.op('layer_norm', [value], [batch, 197, 768]));
  net.output(net.call('head', [x], (value) => net.op('linear', [value], [batch, 1000])));
  const rows = visionMemory(net, blocks, batch, 1);
  const whatIf: WhatIfRows = {
    sizes: [{ name: 'batch', logged: batch, least: 1, step: 1, axes: ['images[0]'] }],
    scales: [[[1]], [[0, 1 / batch]]],
    variants: [
      ['dtype', 'bfloat16', visionMemory(net, blocks, batch, 0.5)],
      ['optimizer', 'SGD', { ...rows, storages: rows.storages.filter(({ term }) => term !== 'optimizer') }],
    ],
    unknown: { checkpointing: 'a block reads a value' },
  };
  net.memory(rows, withWhatIf ? whatIf : null, { peakFirstBytes: 28.94 * 2 ** 30 });
  return net.build();
}

/** So many ops and storages at random. */
export function randomRecord(seed: number, ops: number, storages: number): Record {
  let state = seed + 1;
  const random = (below: number): number => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return Math.floor((state / 2147483648) * below);
  };
  const net = smallBuilder();
  const terms: readonly Term[] = ['parameters', 'buffers', 'inputs', 'activations', 'gradients', 'optimizer', 'temporaries'];
  const owners = ['fc1', 'act', 'fc2', undefined];
  net.memory(
    {
      ops: Array.from({ length: ops }, () => ['aten.mm.default', random(5) - 1] as const),
      phases: [
        ['forward', Math.floor(ops / 3)],
        ['backward', ops],
      ],
      storages: Array.from({ length: storages }, (): StorageRow => {
        const born = random(ops + 1) - 1;
        const owner = owners[random(4)];
        return {
          bytes: 1 + random(1000),
          term: terms[random(7)] ?? 'activations',
          born,
          life: random(ops - Math.max(0, born) + 1),
          keptBy: random(ops + 1) - 1,
          scale: random(3),
          ...(owner === undefined ? {} : { owner }),
        };
      }),
    },
    {
      sizes: [
        { name: 'batch', logged: 4, least: 1, step: 1, axes: ['x[0]'] },
        { name: 'sequence', logged: 16, least: 8, step: 8, axes: ['x[1]'] },
      ],
      scales: [
        [[1], [1]],
        [[0, 0.25], [1]],
        [
          [0, 0.25],
          [0.5, 0, 0.5 / 256],
        ],
      ],
    },
  );
  return net.build();
}
