/** Records of the models that tests draw: each as its forward would run it. */

import type { Place, Record } from '../src/model/record';
import { RecordBuilder } from './record_builder';

const F = 'torch.nn.functional.';

/** A Linear module's one op. */
function linear(b: RecordBuilder, path: string, x: number, shape: readonly number[], out: number, failed = false): number {
  const width = shape.at(-1) ?? 1;
  return b.call(path, [x], (t = -1) =>
    b.op(
      `${F}linear`,
      [t, b.value(`${path}.weight`, [out, width]), b.value(`${path}.bias`, [out])],
      [...shape.slice(0, -1), out],
      { failed },
    ),
  );
}

/** x → fc1 → relu → fc2 → output */
export function mlp(): Record {
  const b = new RecordBuilder('MLP');
  b.module('fc1', 'Linear', 'in_features=784, out_features=128, bias=True');
  b.module('act', 'ReLU');
  b.module('fc2', 'Linear', 'in_features=128, out_features=10, bias=True');
  const x = b.input('x', [32, 784]);
  const hidden = linear(b, 'fc1', x, [32, 784], 128);
  const active = b.call('act', [hidden], (t = -1) => b.op(`${F}relu`, [t], [32, 128]));
  b.output(linear(b, 'fc2', active, [32, 128], 10), 'logits');
  return b.build();
}

/**
 *  x → conv → relu ×4 → (×) → sum → (/) → output        mask → to ┬───────────→ (×)
 *                                                                └ sum → clamp → (/)
 *  A branch whose value goes on in its column, and also far down past what follows it there.
 */
export function maskedMean(): Record {
  const b = new RecordBuilder('MaskedMean');
  const wide = [2, 16, 64, 64];
  const x = b.input('x', wide);
  const mask = b.input('mask', [2, 1, 64, 64]);
  const cast = b.op('torch.Tensor.to', [mask], [2, 1, 64, 64]);
  let at = x;
  for (let i = 0; i < 8; i++) at = b.op(`${F}relu`, [at], wide);
  const masked = b.op('torch.Tensor.mul', [at, cast], wide);
  const total = b.op('torch.Tensor.sum', [masked], [2, 16]);
  const count = b.op('torch.Tensor.clamp', [b.op('torch.Tensor.sum', [cast], [2, 1])], [2, 1]);
  b.output(b.op('torch.Tensor.div', [total, count], [2, 16]));
  return b.build();
}

/** conv1 → relu → pool → flatten → drop → fc1 ✕ → relu → fc2 → relu → fc3, and aux that never runs. */
export function failingCnn(): Record {
  const b = new RecordBuilder('Net');
  b.module('conv1', 'Conv2d', '1, 6, kernel_size=(5, 5), stride=(1, 1)');
  b.module('pool', 'MaxPool2d', 'kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False');
  b.module('drop', 'Dropout', 'p=0.5, inplace=False');
  b.module('fc1', 'Linear', 'in_features=1176, out_features=120, bias=True');
  b.module('fc2', 'Linear', 'in_features=120, out_features=84, bias=True');
  b.module('fc3', 'Linear', 'in_features=84, out_features=10, bias=True');
  b.module('aux', 'Linear', 'in_features=84, out_features=10, bias=True');
  const x = b.input('x', [4, 1, 28, 28]);
  const conv = b.call('conv1', [x], (t = -1) => b.op(`${F}conv2d`, [t, b.value('conv1.weight', [6, 1, 5, 5])], [4, 6, 24, 24]));
  const relu = b.op(`${F}relu`, [conv], [4, 6, 24, 24]);
  const pool = b.call('pool', [relu], (t = -1) => b.op(`${F}max_pool2d`, [t], [4, 6, 12, 12]));
  const originOp = b.opCount;
  const flat = b.op('torch.flatten', [pool], [4, 864], {
    args: [
      ['input', '%0'],
      ['start_dim', '1'],
    ],
    line: 31,
    viewOf: pool,
  });
  const drop = b.call('drop', [flat], (t = -1) => b.op(`${F}dropout`, [t], [4, 864]));
  const opIndex = b.opCount;
  const weight = b.value('fc1.weight', [120, 1176]);
  const fc1 = b.call('fc1', [drop], (t = -1) =>
    b.op(`${F}linear`, [t, weight, b.value('fc1.bias', [120])], [4, 120], { failed: true, line: 33 }),
  );
  const second = linear(b, 'fc2', b.op(`${F}relu`, [fc1], [4, 120]), [4, 120], 84);
  b.output(linear(b, 'fc3', b.op(`${F}relu`, [second], [4, 84]), [4, 84], 10));
  b.finding({
    severity: 'error',
    message: 'fc1: the last dim of its input is 864, in_features is 1176',
    module: 'fc1',
    moduleType: 'Linear',
    op: `${F}linear`,
    line: 33,
    got: new Map([['last dim of input', 864]]),
    want: new Map([['in_features', 1176]]),
    why: '864 = 6·12·12',
    origin: {
      module: '',
      op: 'torch.flatten',
      file: 'net.py',
      line: 31,
      code: '',
      opIndex: originOp,
      tensor: flat,
      shape: [4, 864],
    },
    marks: [
      { tensor: drop, dim: 1 },
      { tensor: weight, dim: 1 },
    ],
    opIndex,
  });
  b.finding({ severity: 'warning', kind: 'never_called', message: 'aux is never called', module: 'aux', moduleType: 'Linear' });
  return b.build();
}

/** Blocks whose wide gives `width` where narrow wants one more: the same fault in every one; then head, which fails only because of it. */
export function brokenBlocks(depth: number, width = 64): Record {
  const b = new RecordBuilder('Deep');
  b.module('head', 'Linear', `in_features=${width}, out_features=2, bias=True`);
  const paths = Array.from({ length: depth }, (_, i) => `block${i}`);
  for (const path of paths) {
    b.module(path, 'Block');
    b.module(`${path}.wide`, 'Linear');
    b.module(`${path}.narrow`, 'Linear');
  }
  let at = b.input('x', [2, 32]);
  const places: Place[] = [];
  for (const path of paths) {
    at = b.call(path, [at], (x = -1) => {
      const wide = linear(b, `${path}.wide`, x, [2, 32], width);
      const place = { module: `${path}.narrow`, call: 1, op: `${F}linear`, file: 'net.py', line: 9, code: 'self.narrow(x)' };
      places.push({ ...place, opIndex: b.opCount });
      return linear(b, `${path}.narrow`, wide, [2, width], 32, true);
    });
  }
  const headOp = b.opCount;
  b.output(linear(b, 'head', at, [2, 32], 2, true));
  const [first] = places;
  if (first) b.finding({ severity: 'error', message: `${first.module}: too wide`, moduleType: 'Linear', places, ...first });
  b.finding({ severity: 'error', message: 'head: too narrow', module: 'head', call: 1, opIndex: headOp, causedBy: 0 });
  return b.build();
}

/** picture, which has its channels last, → conv ✕; or, where `of` is the table, picture + table ✕. */
export function broughtAlong(of: 'input' | 'parameter'): Record {
  const b = new RecordBuilder('Landmarks');
  b.module('conv', 'Conv2d', '3, 10, kernel_size=(3, 3), stride=(1, 1)');
  const picture = b.input('picture', [1, 36, 42, 3]);
  const other = of === 'input' ? b.value('conv.weight', [10, 3, 3, 3]) : b.value('table', [1, 50, 42, 3]);
  const run = (x = -1): number =>
    b.op(of === 'input' ? `${F}conv2d` : 'torch.Tensor.add', [x, other], [1, 10, 40, 1], { failed: true });
  const out = of === 'input' ? b.call('conv', [picture], run) : run(picture);
  b.output(b.op(`${F}relu`, [out], [1, 10, 40, 1]));
  const brought = of === 'input' ? picture : other;
  b.finding({
    severity: 'error',
    message: 'the sizes differ',
    got: new Map([['size', of === 'input' ? 36 : 50]]),
    want: new Map([['size', of === 'input' ? 3 : 36]]),
    why: `${of} has ${of === 'input' ? 36 : 50}`,
    origin: { module: '', op: '', file: '', line: 0, code: '', opIndex: -1, tensor: brought, shape: [] },
    marks: [
      { tensor: picture, dim: 1 },
      { tensor: other, dim: 1 },
    ],
    opIndex: 0,
  });
  return b.build();
}

/** A block of a transformer: x + attn(norm1(x)), then x + mlp(norm2(x)). */
function block(b: RecordBuilder, path: string, x: number, [n, t, d]: readonly [number, number, number]): number {
  const heads = d / 64;
  const add = 'torch.Tensor.__add__';
  const norm = (name: string, value: number): number =>
    b.call(`${path}.${name}`, [value], (v = -1) =>
      b.op(`${F}layer_norm`, [v, b.value(`${path}.${name}.weight`, [d])], [n, t, d]),
    );
  return b.call(path, [x], (input = -1) => {
    const attended = b.call(`${path}.attn`, [norm('norm1', input)], (v = -1) => {
      const qkv = linear(b, `${path}.attn.qkv`, v, [n, t, d], 3 * d);
      const parted = b.op('torch.Tensor.reshape', [qkv], [n, t, 3, heads, 64], { viewOf: qkv });
      const turned = b.op('torch.Tensor.permute', [parted], [3, n, heads, t, 64], { viewOf: qkv });
      const three = b.opOf(
        'torch.Tensor.unbind',
        [turned],
        Array.from({ length: 3 }, () => [n, heads, t, 64]),
        { viewOf: qkv },
      );
      const out = b.op(`${F}scaled_dot_product_attention`, three, [n, heads, t, 64]);
      const back = b.op('torch.Tensor.transpose', [out], [n, t, heads, 64], { viewOf: out });
      const flat = b.op('torch.Tensor.reshape', [back], [n, t, d], { viewOf: out });
      return linear(b, `${path}.attn.proj`, flat, [n, t, d], d);
    });
    const middle = b.op(add, [input, attended], [n, t, d]);
    const widened = b.call(`${path}.mlp`, [norm('norm2', middle)], (v = -1) => {
      const wide = linear(b, `${path}.mlp.fc1`, v, [n, t, d], 4 * d);
      const active = b.call(`${path}.mlp.act`, [wide], (w = -1) => b.op(`${F}gelu`, [w], [n, t, 4 * d]));
      return linear(b, `${path}.mlp.fc2`, active, [n, t, 4 * d], d);
    });
    return b.op(add, [middle, widened], [n, t, d]);
  });
}

function registerBlock(b: RecordBuilder, path: string, d: number): void {
  const fc = (from: number, to: number): string => `in_features=${from}, out_features=${to}, bias=True`;
  const norm = `(${d},), eps=1e-05, elementwise_affine=True`;
  b.module(path, 'Block');
  b.module(`${path}.norm1`, 'LayerNorm', norm);
  b.module(`${path}.attn`, 'Attention');
  b.module(`${path}.attn.qkv`, 'Linear', fc(d, 3 * d));
  b.module(`${path}.attn.proj`, 'Linear', fc(d, d));
  b.module(`${path}.norm2`, 'LayerNorm', norm);
  b.module(`${path}.mlp`, 'Mlp');
  b.module(`${path}.mlp.fc1`, 'Linear', fc(d, 4 * d));
  b.module(`${path}.mlp.act`, 'GELU', "approximate='none'");
  b.module(`${path}.mlp.fc2`, 'Linear', fc(4 * d, d));
}

/** patch_embed → cat cls_token → + pos_embed → blocks → norm → head, with `depth` blocks. */
export function transformer(depth: number): Record {
  const b = new RecordBuilder('ViT', 'vit.py');
  const [n, t, d] = [8, 197, 768] as const;
  b.module('patch_embed', 'Conv2d', '3, 768, kernel_size=(16, 16), stride=(16, 16)');
  b.module('blocks', 'ModuleList');
  for (let i = 0; i < depth; i++) registerBlock(b, `blocks.${i}`, d);
  b.module('norm', 'LayerNorm', `(${d},), eps=1e-05, elementwise_affine=True`);
  b.module('head', 'Linear', `in_features=${d}, out_features=1000, bias=True`);
  const images = b.input('images', [n, 3, 224, 224]);
  const conv = b.call('patch_embed', [images], (v = -1) =>
    b.op(`${F}conv2d`, [v, b.value('patch_embed.weight', [d, 3, 16, 16])], [n, d, 14, 14]),
  );
  const flat = b.op('torch.Tensor.flatten', [conv], [n, d, 196], { viewOf: conv });
  const patches = b.op('torch.Tensor.transpose', [flat], [n, 196, d], { viewOf: conv });
  const token = b.op('torch.Tensor.expand', [b.value('cls_token', [1, 1, d])], [n, 1, d]);
  const joined = b.op('torch.cat', [token, patches], [n, t, d], {
    args: [
      ['tensors', '[%0, %1]'],
      ['dim', '1'],
    ],
  });
  let x = b.op('torch.Tensor.__add__', [joined, b.value('pos_embed', [1, t, d])], [n, t, d]);
  for (let i = 0; i < depth; i++) x = block(b, `blocks.${i}`, x, [n, t, d]);
  x = b.call('norm', [x], (v = -1) => b.op(`${F}layer_norm`, [v, b.value('norm.weight', [d])], [n, t, d]));
  const first = b.op('torch.Tensor.__getitem__', [x], [n, d], {
    args: [
      ['', '%0'],
      ['', '(slice(None, None, None), 0)'],
    ],
    viewOf: x,
  });
  b.output(linear(b, 'head', first, [n, d], 1000), 'logits');
  return b.build();
}

/** Down, down, …, bottom, up with what was on the way down, up, …: skips nested in each other. */
export function unet(depth: number): Record {
  const b = new RecordBuilder('UNet', 'unet.py');
  const conv = (path: string, x: number, from: number, to: number, size: number): number => {
    b.module(path, 'Conv2d', `${from}, ${to}, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1)`);
    return b.call(path, [x], (v = -1) =>
      b.op(`${F}conv2d`, [v, b.value(`${path}.weight`, [to, from, 3, 3])], [2, to, size, size]),
    );
  };
  let x = b.input('image', [2, 3, 64, 64]);
  const kept: number[] = [];
  for (let i = 0; i < depth; i++) {
    x = conv(`down${i}`, x, i ? 8 << (i - 1) : 3, 8 << i, 64 >> i);
    kept.push(x);
    x = b.op(`${F}max_pool2d`, [x], [2, 8 << i, 32 >> i, 32 >> i], { args: [['kernel_size', '2']] });
  }
  x = conv('bottom', x, 8 << (depth - 1), 8 << depth, 64 >> depth);
  for (let i = depth - 1; i >= 0; i--) {
    x = b.op(`${F}interpolate`, [x], [2, 16 << i, 64 >> i, 64 >> i], { args: [['scale_factor', '2']] });
    x = b.op('torch.cat', [x, kept[i] ?? -1], [2, 24 << i, 64 >> i, 64 >> i], { args: [['dim', '1']] });
    x = conv(`up${i}`, x, 24 << i, 8 << i, 64 >> i);
  }
  b.output(x, 'mask');
  return b.build();
}

/** Four branches side by side that meet in a cat, and two inputs that are used far down. */
export function branches(): Record {
  const b = new RecordBuilder('Branches', 'branches.py');
  const conv = (path: string, x: number, size: number): number => {
    b.module(path, 'Conv2d', `16, 16, kernel_size=(${size}, ${size}), stride=(1, 1), padding=(${size >> 1}, ${size >> 1})`);
    return b.call(path, [x], (v = -1) => b.op(`${F}conv2d`, [v, b.value(`${path}.weight`, [16, 16, size, size])], [2, 16, 8, 8]));
  };
  const x = b.input('x', [2, 16, 8, 8]);
  const mask = b.input('mask', [2, 64], 'bool');
  const a1 = conv('a1', x, 1);
  const b2 = conv('b2', conv('b1', x, 1), 3);
  const c3 = conv('c3', conv('c2', conv('c1', x, 1), 3), 3);
  const d2 = conv('d2', b.op(`${F}avg_pool2d`, [x], [2, 16, 8, 8], { args: [['kernel_size', '3']] }), 1);
  const all = b.op('torch.cat', [a1, b2, c3, d2], [2, 64, 8, 8], { args: [['dim', '1']] });
  const mean = b.op('torch.Tensor.mean', [all], [2, 64]);
  const masked = b.op('torch.Tensor.masked_fill', [mean, mask], [2, 64], { args: [['value', '0.0']] });
  b.output(b.op('torch.Tensor.softmax', [masked], [2, 64], { args: [['dim', '-1']] }), "out['weights']");
  b.output(b.op('torch.Tensor.sum', [masked], [2], { args: [['dim', '-1']] }), "out['sum']");
  return b.build();
}

/** One op after another, `length` of them, in a plain function. */
export function chain(length: number): Record {
  const b = new RecordBuilder('chain');
  let x = b.input('x', [4, 4]);
  for (let i = 0; i < length; i++) x = b.op(i % 7 ? 'torch.tanh' : 'torch.Tensor.__add__', [x], [4, 4]);
  b.output(x);
  return b.build();
}

/** One module in the other, `depth` deep; each has an op before the call and one after it. */
export function nested(depth: number): Record {
  const b = new RecordBuilder('Nested');
  const paths = Array.from({ length: depth }, (_, i) => Array.from({ length: i + 1 }, (_level, k) => `m${k}`).join('.'));
  for (const path of paths) b.module(path, 'Layer');
  const run = (level: number, x: number): number => {
    const path = paths[level];
    const before = b.op('torch.tanh', [x], [4]);
    const middle = path === undefined ? before : b.call(path, [before], (t = -1) => run(level + 1, t));
    return b.op('torch.tanh', [middle], [4]);
  };
  b.output(run(0, b.input('x', [4])));
  return b.build();
}

/** A chain each of whose ops takes the mask, too. */
export function fan(length: number): Record {
  const b = new RecordBuilder('Fan');
  let x = b.input('x', [4]);
  const mask = b.input('mask', [4]);
  for (let i = 0; i < length; i++) x = b.op('torch.maximum', [x, mask], [4]);
  b.output(x);
  return b.build();
}

/** Four sums side by side, each far narrower than the shape that leaves it. */
export function narrow(): Record {
  const b = new RecordBuilder('Narrow');
  const x = b.input('x', [2, 1024]);
  const sums = [1, 2, 3, 4].map((k) => b.op('torch.Tensor.__add__', [x, x], [2, 1024, 1024, k]));
  b.output(b.op('torch.cat', sums, [2, 1024, 1024, 10], { args: [['dim', '-1']] }));
  return b.build();
}

/**
 *  image → see → relu ┐
 *                     ├ merged → scale (a value that was read) → head → logits
 *  text → embed → gru ┘
 *  Two cases: each has a way of its own into what both run; the block differs inside, aux never runs, the text is of other sizes.
 */
export function twoWays(): Record {
  const b = new RecordBuilder('TwoWays', 'ways.py', ['image', 'text']);
  b.module('see', 'Conv2d', '3, 8, kernel_size=(3, 3), stride=(1, 1)');
  b.module('embed', 'Embedding', '100, 8');
  b.module('block', 'Block');
  b.module('block.wide', 'Linear', 'in_features=8, out_features=16, bias=True');
  b.module('block.long', 'Linear', 'in_features=8, out_features=16, bias=True');
  b.module('head', 'Linear', 'in_features=16, out_features=4, bias=True');
  b.module('aux', 'Linear', 'in_features=8, out_features=4, bias=True');
  const seen = b.only(['image'], () => {
    const image = b.input('image', [2, 3, 8, 8]);
    const conv = b.call('see', [image], (t = -1) => b.op(`${F}conv2d`, [t, b.value('see.weight', [8, 3, 3, 3])], [2, 8, 6, 6]));
    return b.op('torch.Tensor.mean', [b.op(`${F}relu`, [conv], [2, 8, 6, 6])], [2, 8]);
  });
  const said = b.only(['text'], () => {
    const text = b.input('text', [3, 12], 'int64');
    const words = b.call('embed', [text], (t = -1) =>
      b.op(`${F}embedding`, [t, b.value('embed.weight', [100, 8])], [3, 12, 8], { dtype: 'float32' }),
    );
    return b.op('torch.Tensor.sum', [words], [3, 8]);
  });
  const scaled = b.op('torch.Tensor.__mul__', [seen, said, b.value('scale', [1], 'buffer')], [2, 8]);
  b.shapeIn('text', scaled, [3, 8]);
  const inside = b.call('block', [scaled], (t = -1) => {
    const wide = b.only(['image'], () => linear(b, 'block.wide', t, [2, 8], 16));
    const long = b.only(['text'], () => linear(b, 'block.long', t, [3, 8], 16));
    const both = b.op(`${F}gelu`, [wide, long], [2, 16]);
    b.shapeIn('text', both, [3, 16]);
    return both;
  });
  const norm = b.op('torch.Tensor.norm', [inside], []);
  b.reads(norm, 'read', '37.5');
  const noise = b.only(['image'], () => b.op('torch.rand', [], [1]));
  b.only(['image'], () => b.reads(noise, 'random', '0.3'));
  const logits = linear(b, 'head', inside, [2, 16], 4);
  b.shapeIn('text', logits, [3, 4]);
  b.only(['image'], () => b.reads(0, 'assumed'));
  b.neverRan(
    { line: 20, endLine: 22, code: 'if self.training:', function: 'TwoWays.forward' },
    { line: 41, endLine: 41, code: 'else:', function: 'Block.forward', modules: Int32Array.of(3) },
  );
  b.output(logits, 'logits');
  return b.build();
}
