/** Records of random models: ops with one to three inputs in modules nested at random, the same for the same seed. */

import type { Record } from '../src/model/record';
import { RecordBuilder } from './record_builder';

/** Numbers from 0 up to 1 (Park and Miller's generator). */
export function numbersFrom(seed: number): () => number {
  let state = (seed % 2147483646) + 1;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}

const OPS = [
  'torch.tanh',
  'torch.nn.functional.linear',
  'torch.Tensor.__add__',
  'torch.cat',
  'torch.Tensor.view',
  'torch.matmul',
];

export function randomModel(seed: number, length: number): Record {
  const random = numbersFrom(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const b = new RecordBuilder(`Random${seed}`);
  const made = [b.input('x', [4, 8])];
  if (random() < 0.5) made.push(b.input('mask', [4, 8], 'bool'));
  let modules = 0;
  const step = (): number => {
    const count = 1 + below(3);
    const near = (): number => made[Math.max(0, made.length - 1 - below(random() < 0.2 ? made.length : 3))] ?? 0;
    const inputs = Array.from({ length: count }, near);
    if (random() < 0.15) inputs.push(b.value(`w${below(5)}`, [8, 8]));
    const output = b.op(OPS[below(OPS.length)] ?? '', inputs, [4, 1 + below(9)]);
    made.push(output);
    return output;
  };
  const run = (path: string, left: number): number => {
    let output = step();
    for (let i = 1; i < left; i++) {
      if (random() > 0.15 || left - i < 3) {
        output = step();
        continue;
      }
      const inner = `${path}${path && '.'}m${modules++}`;
      b.module(inner, 'Part');
      const size = 1 + below(left - i - 1);
      output = b.call(inner, [output], () => run(inner, size));
      i += size;
    }
    return output;
  };
  b.output(run('', length));
  b.output(made[below(made.length)] ?? 0, 'aux');
  return b.build();
}
