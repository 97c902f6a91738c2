/** What every layout keeps, whatever the model: proven on drawn models and on random ones. */

import { describe, expect, test } from 'vitest';
import { overlaps, type Box } from '../../src/base/geometry';
import { ChainOrder } from '../../src/layout/chain_order';
import { buffersOf, type Layout } from '../../src/layout/layout';
import { layoutGraph } from '../../src/layout/nested';
import { labelWidth, measureGraph, remembered, wordsText } from '../../src/layout/text_size';
import type { Graph } from '../../src/model/graph';
import type { Record } from '../../src/model/record';
import { nodeBox } from '../../src/render/scene_source';
import { graphOf, layoutOf, measure } from '../drawn';
import { branches, chain, failingCnn, fan, maskedMean, mlp, narrow, nested, transformer, unet } from '../models';
import { randomModel } from '../random_models';

const MODELS: readonly (readonly [string, Record])[] = [
  ['mlp', mlp()],
  ['failing CNN', failingCnn()],
  ['transformer', transformer(2)],
  ['U-Net', unet(4)],
  ['branches', branches()],
  ['narrow', narrow()],
  ['masked mean', maskedMean()],
  ['chain', chain(40)],
  ...Array.from({ length: 60 }, (_, seed) => [`random ${seed}`, randomModel(seed, 6 + (seed % 50))] as const),
];

const shrunk = ({ x, y, w, h }: Box): Box => ({ x: x + 0.5, y: y + 0.5, w: w - 1, h: h - 1 });

function segments(layout: Layout, wire: number): Box[] {
  const { from, points } = layout.wires;
  const boxes: Box[] = [];
  for (let i = from[wire] ?? 0; i + 1 < (from[wire + 1] ?? 0); i++) {
    const [ax, ay, bx, by] = [0, 1, 2, 3].map((k) => points[2 * i + k] ?? NaN) as [number, number, number, number];
    boxes.push({ x: Math.min(ax, bx), y: Math.min(ay, by), w: Math.abs(bx - ax), h: Math.abs(by - ay) });
  }
  return boxes;
}

function groupsAround(graph: Graph, node: number): Set<number> {
  const around = new Set<number>();
  for (let at = graph.nodes[node]?.parent ?? -1; at >= 0; at = graph.nodes[at]?.parent ?? -1) around.add(at);
  return around;
}

function labelBoxes(graph: Graph, { wires }: Layout): Box[] {
  return Array.from(wires.edge).flatMap((e, wire): Box[] => {
    const edge = graph.edges[e];
    const [x, y, wordsX] = [wires.labelX[wire] ?? NaN, wires.labelY[wire] ?? NaN, wires.wordsX[wire] ?? NaN];
    if (!edge || Number.isNaN(x)) return [];
    const words = measure(wordsText(edge), 'detail');
    const label = edge.labelled ? [{ x, y: y - 6, w: labelWidth(edge.label, measure), h: 12 }] : [];
    return Number.isNaN(wordsX) ? label : [...label, { x: wordsX - words, y: y - 6, w: words, h: 12 }];
  });
}

describe.each(MODELS)('%s', (_, record) => {
  const graph = graphOf(record);
  const layout = layoutOf(graph);
  const boxes = graph.nodes.map((_node, id) => nodeBox(layout, id));

  test('no two nodes of a group overlap, and each lies within its group', () => {
    graph.nodes.forEach((node, a) => {
      const box = boxes[a];
      const around = boxes[node.parent];
      if (!box) return;
      if (around)
        expect(
          box.x >= around.x && box.y >= around.y && box.x + box.w <= around.x + around.w && box.y + box.h <= around.y + around.h,
        ).toBe(true);
      for (let b = a + 1; b < boxes.length; b++) {
        const other = boxes[b];
        if (other && graph.nodes[b]?.parent === node.parent) expect([a, b, overlaps(box, other)]).toEqual([a, b, false]);
      }
    });
  });

  test('no line crosses a node, nor a group that it neither enters nor leaves', () => {
    layout.wires.ends.forEach((_ends, wire) => {
      const edge = graph.edges[layout.wires.edge[wire] ?? -1];
      const host = graph.nodes[layout.wires.value[wire] ?? -1]?.host ?? -1;
      const allowed = new Set([...groupsAround(graph, edge?.source ?? host), ...groupsAround(graph, edge?.target ?? host)]);
      for (const segment of segments(layout, wire)) {
        boxes.forEach((box, id) => {
          if (!graph.nodes[id]?.open) expect([wire, id, overlaps(segment, shrunk(box))]).toEqual([wire, id, false]);
          else if (!allowed.has(id)) expect([wire, id, overlaps(segment, shrunk(box))]).toEqual([wire, id, false]);
        });
      }
    });
  });

  test('lines are level or upright, and end where their nodes are', () => {
    layout.wires.ends.forEach((_ends, wire) => {
      for (const segment of segments(layout, wire)) expect(Math.min(segment.w, segment.h)).toBeLessThan(1e-6);
    });
  });

  test('every edge leads downward', () => {
    for (const { source, target } of graph.edges) {
      const [from, to] = [boxes[source], boxes[target]];
      if (from && to) expect(from.y + from.h).toBeLessThanOrEqual(to.y);
    }
  });

  test('every edge is a way of lines from its source to its target', () => {
    const { wires } = layout;
    const lines = new Map<number, number[]>();
    wires.ends.forEach((_ends, wire) => {
      for (let i = wires.alongFrom[wire] ?? 0; i < (wires.alongFrom[wire + 1] ?? 0); i++) {
        const edge = wires.along[i] ?? -1;
        lines.set(edge, [...(lines.get(edge) ?? []), wire]);
      }
    });
    graph.edges.forEach(({ source, target }, e) => {
      const crossed = new Set([...groupsAround(graph, source)].filter((group) => !groupsAround(graph, target).has(group)));
      const entered = [...groupsAround(graph, target)].filter((group) => !groupsAround(graph, source).has(group));
      expect(lines.get(e)?.length).toBe(1 + crossed.size + entered.length);
    });
  });

  test('labels and words lie on no node', () => {
    for (const label of labelBoxes(graph, layout)) {
      boxes.forEach((box, id) => {
        if (!graph.nodes[id]?.open) expect([id, overlaps(label, box)]).toEqual([id, false]);
      });
    }
  });

  test('is the same each time', () => {
    expect(layoutOf(graphOf(record))).toEqual(layout);
  });
});

// Random models are denser than real ones: there a line may pass behind a label, which is drawn on a ground of its own.
describe.each(MODELS.filter(([name]) => !name.startsWith('random')))('%s', (_, record) => {
  const graph = graphOf(record);
  const layout = layoutOf(graph);

  test('no line runs through a label or through words', () => {
    const segmentsOf = Array.from(layout.wires.ends.keys()).map((wire) => segments(layout, wire));
    for (const label of labelBoxes(graph, layout)) {
      segmentsOf.forEach((all, wire) => {
        for (const segment of all) expect([wire, overlaps(label, segment)]).toEqual([wire, false]);
      });
    }
  });

  test('no two labels overlap', () => {
    const labels = labelBoxes(graph, layout);
    labels.forEach((label, a) => labels.slice(a + 1).forEach((other) => expect(overlaps(label, other)).toBe(false)));
  });
});

describe('the spine', () => {
  test('of a transformer is one straight vertical through all its groups', () => {
    const graph = graphOf(transformer(3));
    const layout = layoutOf(graph);
    const spine = graph.nodes.flatMap((node, id) =>
      node.host < 0 && !node.open ? [Math.round(nodeBox(layout, id).x + nodeBox(layout, id).w / 2)] : [],
    );
    expect(new Set(spine).size).toBe(1);
  });

  test('skips run right of it, nested ones outside inner ones', () => {
    const graph = graphOf(unet(4));
    const { wires } = layoutOf(graph);
    const skips = graph.edges.flatMap((edge, e) => {
      const wire = wires.edge.indexOf(e);
      const points = wires.points.subarray(2 * (wires.from[wire] ?? 0), 2 * (wires.from[wire + 1] ?? 0));
      return graph.nodes[edge.target]?.name === 'cat' && points.length > 4
        ? [Math.max(...points.filter((_, i) => i % 2 === 0))]
        : [];
    });
    expect(skips).toHaveLength(4);
    expect(skips).toEqual([...new Set(skips)].sort((a, b) => a - b)); // the innermost joins first
  });
});

describe('columns', () => {
  test('a branch that goes on and is needed again far below takes two columns, and stays beside the spine', () => {
    expect(layoutOf(graphOf(maskedMean())).width).toBeLessThan(700);
  });

  test('keep their side in every row, however they are pushed', () => {
    const order = new ChainOrder(0);
    for (let chain = 1; chain <= 200; chain++) order.insertAfter(0, chain);
    const sorted = Array.from({ length: 201 }, (_, chain) => chain).sort((a, b) => order.compare(a, b));
    expect(sorted).toEqual([0, ...Array.from({ length: 200 }, (_, i) => 200 - i)]);
  });
});

describe('identical groups', () => {
  test('are laid out once', () => {
    const layout = layoutOf(graphOf(transformer(30)));
    expect(layout.laidOut).toBeLessThan(10);
    expect(layout.reused).toBeGreaterThan(80);
  });
});

describe('large graphs', () => {
  test('a chain of 5,000 ops overflows no stack and stands in one column', () => {
    const graph = graphOf(chain(5000));
    const layout = layoutOf(graph);
    expect(layout.height).toBeGreaterThan(100_000);
    expect(layout.width).toBeLessThan(200);
  });

  test('modules nested 300 deep overflow no stack', () => {
    const graph = graphOf(nested(300));
    const layout = layoutOf(graph);
    expect(graph.nodes.filter((node) => node.open).length).toBe(300);
    expect(layout.width).toBeGreaterThan(300 * 32);
  });

  test('one value that goes to every op takes one gutter, not one for each', () => {
    const graph = graphOf(fan(500));
    expect(layoutOf(graph).width).toBeLessThan(400);
  });
});

test('an empty graph has no size', () => {
  const layout = layoutGraph(measureGraph({ nodes: [], edges: [] }, measure, false));
  expect([layout.height, layout.wires.ends.length]).toEqual([0, 0]);
});

test('the buffers to hand over are those of all columns, each once', () => {
  const layout = layoutOf(graphOf(mlp()));
  expect(new Set(buffersOf(layout)).size).toBe(14);
  expect(structuredClone(layout, { transfer: buffersOf(layout) }).height).toBe(layout.height);
});

test('a remembered measure asks for each text once', () => {
  let asked = 0;
  const measured = remembered((text) => {
    asked++;
    return text.length;
  });
  expect([measured('abc', 'name'), measured('abc', 'name'), measured('abc', 'mono'), asked]).toEqual([3, 3, 3, 2]);
});
