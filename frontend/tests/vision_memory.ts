/** What a vision transformer has alive over a training step: what each layer keeps, and gives back on the way back. */

import type { Term } from '../src/model/record';
import type { MemoryRows, StorageRow } from './memory_rows';
import type { RecordBuilder } from './record_builder';

const LAYERS = [
  ['norm1', 1536],
  ['attn.qkv', 1771776],
  ['attn.proj', 590592],
  ['norm2', 1536],
  ['mlp.fc1', 2362368],
  ['mlp.fc2', 2360064],
] as const;

/** What an op keeps: of which layer, which op, times the tokens, and for which op after it. */
const KEPT = [
  ['norm1', 'native_layer_norm.default', 1, 4],
  ['attn.qkv', 'addmm.default', 3, 4],
  ['attn', '_scaled_dot_product_flash_attention.default', 1, 0],
  ['attn.proj', 'addmm.default', 0.02, 4],
  ['', 'add.Tensor', 1, 4],
  ['norm2', 'native_layer_norm.default', 1, 4],
  ['mlp.fc1', 'addmm.default', 4, 4],
  ['mlp.act', 'gelu.default', 4, 4],
  ['', 'add.Tensor', 1, 4],
] as const;

/** Trained with Adam; `bytesPer` is 0.5 for half precision. */
export function visionMemory(net: RecordBuilder, blocks: number, batch: number, bytesPer: number): MemoryRows {
  return new Step(net, blocks, batch, bytesPer).run();
}

class Step {
  private readonly ops: [string, number][] = [];
  private readonly storages: StorageRow[] = [];
  private readonly kept: { readonly at: number; readonly path: string }[] = [];
  private readonly weights: ReadonlyMap<string, number>;
  private readonly token: number;

  constructor(
    private readonly net: RecordBuilder,
    private readonly blocks: number,
    private readonly batch: number,
    private readonly bytesPer: number,
  ) {
    this.token = batch * 197 * 768 * 4 * bytesPer;
    const inside = Array.from({ length: blocks }, (_, i) =>
      LAYERS.map(([path, count]) => [`blocks.${i}.${path}`, count] as const),
    );
    this.weights = new Map([['patch_embed', 590592], ['norm', 1536], ['head', 769000], ...inside.flat()]);
  }

  run(): MemoryRows {
    this.before();
    this.forward();
    const forward = this.ops.length;
    this.op('_log_softmax.default', '');
    this.op('nll_loss_forward.default', '');
    const loss = this.ops.length;
    this.backward();
    const backward = this.ops.length;
    for (let i = 0; i < this.weights.size * 3; i++) this.op('_foreach_addcdiv_.ScalarList', '');
    const isOutside = (i: number): boolean => (i >= forward && i < loss) || i >= backward;
    return {
      storages: this.storages,
      ops: this.ops.map(([name, call], i) => [name, isOutside(i) ? -1 : call]),
      phases: [
        ['forward', forward],
        ['loss', loss],
        ['backward', backward],
        ['step', this.ops.length],
      ],
    };
  }

  /** What is there before the step. */
  private before(): void {
    const { batch, bytesPer } = this;
    for (const [owner, count] of this.weights) {
      this.steady(owner, count, 'parameters', 1, 'weight');
      this.steady(owner, count, 'optimizer', 2, 'weight.exp_avg');
    }
    const shape = [batch, 3, 224, 224];
    this.storages.push({ bytes: batch * 3 * 224 * 224 * 4 * bytesPer, term: 'inputs', name: 'images', shape, scale: 1 });
  }

  private steady(owner: string, count: number, term: Term, times: number, name: string): void {
    const bytes = Math.round(count * 4 * this.bytesPer * times);
    this.storages.push({ bytes, term, owner, name: `${owner}.${name}`, shape: [count] });
  }

  private forward(): void {
    this.keep('patch_embed', 'convolution.default', 1, 4);
    for (let i = 0; i < this.blocks; i++)
      for (const [path, name, times, keeper] of KEPT)
        this.keep(path ? `blocks.${i}.${path}` : `blocks.${i}`, name, times, keeper);
    this.keep('norm', 'native_layer_norm.default', 1, 4);
    this.keep('head', 'addmm.default', 0.01, 0);
  }

  private op(name: string, path: string): number {
    return this.ops.push([`aten.${name}`, this.net.callOf(path)]) - 1;
  }

  private keep(path: string, name: string, times: number, keeper: number): void {
    this.op('view.default', path);
    this.op('t.default', path);
    const born = this.op(name, path);
    this.op('view.default', path);
    this.kept.push({ at: this.storages.length, path });
    const shape = [this.batch, 197, 768 * times];
    const bytes = Math.round(this.token * times);
    this.storages.push({ bytes, term: 'activations', born, keptBy: born + keeper, scale: 1, shape });
  }

  private backward(): void {
    const grown = new Set<string>();
    for (const { at, path } of this.kept.toReversed()) {
      const storage = this.storages[at];
      const first = this.op('view.default', path);
      this.op('t.default', path);
      const bytes = Math.round(Math.min(storage?.bytes ?? 0, 1.3 * this.token));
      this.storages.push({ bytes, term: 'temporaries', born: first, life: 5, scale: 1, shape: [this.batch, 197, 768] });
      this.op('mm.default', path);
      const end = this.op('sum.dim_IntList', path);
      const count = this.weights.get(path);
      if (count && !grown.has(path)) this.gradient(path, count, end);
      grown.add(path);
      this.op('detach.default', path);
      if (storage) this.storages[at] = { ...storage, life: end - (storage.born ?? 0) };
    }
  }

  private gradient(owner: string, count: number, born: number): void {
    const bytes = Math.round(count * 4 * this.bytesPer);
    this.storages.push({ bytes, term: 'gradients', born, owner, name: `${owner}.weight`, shape: [count] });
  }
}
