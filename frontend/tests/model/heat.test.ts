/** Costs of calls, and the magnitudes that fill the graph's nodes. */

import { expect, test } from 'vitest';
import { flopsOfCall, flopsOfOp, savedBytesOf, tellsFlops, tellsSavedBytes } from '../../src/model/costs';
import { buildGraph } from '../../src/model/graph_build';
import { graphIndex } from '../../src/model/graph_index';
import { heatMap, heatOf } from '../../src/model/heat';
import { aliveByModule } from '../../src/model/memory_alive';
import { layerRows } from '../../src/model/rows';
import type { Record } from '../../src/model/record';
import { smallRecord } from '../memory_models';

function counted(flops: readonly number[]): Record {
  const record = smallRecord();
  const saved = Float64Array.of(140, 80, 60, 0);
  return { ...record, ops: { ...record.ops, flops: Float64Array.from(flops) }, calls: { ...record.calls, savedBytes: saved } };
}

test('flops of a call are those of its ops, at least those where one is unknown, and none where all are', () => {
  const record = counted([800, -1, 400]);
  expect(flopsOfCall(record, 0)).toEqual({ amount: 1200, complete: false });
  expect([1, 2, 3].map((call) => flopsOfCall(record, call))).toEqual([
    { amount: 800, complete: true },
    null,
    { amount: 400, complete: true },
  ]);
  expect([0, 1].map((op) => flopsOfOp(record, op))).toEqual([800, null]);
  expect([0, 3].map((call) => savedBytesOf(record, call))).toEqual([140, 0]);
  expect([tellsFlops(record), tellsSavedBytes(record)]).toEqual([true, true]);
  expect([tellsFlops(smallRecord()), tellsSavedBytes(smallRecord())]).toEqual([false, false]);
});

test('the table of layers tells both', () => {
  const rows = layerRows(counted([800, -1, 400]));
  expect(rows.map(({ name, flops, flopsComplete, savedBytes }) => [name, flops, flopsComplete, savedBytes])).toEqual([
    ['Net', 1200, false, 140],
    ['fc1', 800, true, 80],
    ['act', null, true, 60],
    ['fc2', 400, true, 0],
  ]);
});

test('a map has six steps of equal ratios; what is 0 or unknown has none', () => {
  const { steps, ends } = heatMap([1, 10, 1e6, 0, null, 999]);
  expect(Array.from(steps)).toEqual([0, 1, 5, -1, -1, 2]);
  expect(ends.map((end) => Math.round(end))).toEqual([10, 100, 1000, 10000, 100000, 1000000]);
  expect(heatMap([5, 5])).toEqual({ steps: Int8Array.of(5, 5), ends: [5] });
  expect(heatMap([null, 0]).ends).toEqual([]);
});

test('a node has the magnitude of its module, an op that of itself', () => {
  const record = counted([800, 20, 400]);
  const { nodes } = buildGraph(graphIndex(record), { openCalls: new Set([0]), revealed: new Set(), finding: null, dims: false });
  const live = record.memory ? aliveByModule(record, record.memory, 4) : new Float64Array();
  const of = (heat: Parameters<typeof heatOf>[2]): (number | null)[] =>
    ['fc1', 'act', 'fc2'].map((name) => {
      const node = nodes.find((each) => each.name === name);
      return node ? heatOf(record, node, heat, live) : NaN;
    });
  expect(of('flops')).toEqual([800, 20, 400]);
  expect(of('savedBytes')).toEqual([80, 60, 0]);
  expect(of('outputBytes')).toEqual([320, 320, 320]);
  expect(of('live')).toEqual([480, 60, 70]);
  expect(of('params')).toEqual([0, 0, 0]);
});
