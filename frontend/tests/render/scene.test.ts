/** Scenes as SVG, beside their goldens (renew them with `vitest -u`), and what is seen of them at each zoom. */

import { describe, expect, test } from 'vitest';
import { hitTest } from '../../src/render/hit';
import { highlightShapes } from '../../src/render/scene_nodes';
import { placedRuns, screenSize, type Shape, type TextShape } from '../../src/render/shapes';
import { reachOf, type Item, type Scene } from '../../src/render/scene';
import { nodeBox } from '../../src/render/scene_source';
import { paintSvg } from '../../src/render/svg';
import { nextNode } from '../../src/render/walk';
import { sceneOf } from '../drawn';
import { caseView } from '../../src/model/case_view';
import { branches, brokenBlocks, broughtAlong, failingCnn, mlp, transformer, twoWays, unet } from '../models';

const idOf = (scene: Scene, name: string): number => scene.source.graph.nodes.findIndex((node) => node.name === name);
const shapes = (scene: Scene): Shape[] =>
  scene.layers.flatMap((layer) => layer.items.flatMap((item) => [...scene.shapesOf(item)]));

describe.each(['light', 'dark'] as const)('%s', (theme) => {
  test.each([
    ['mlp', mlp()],
    ['failing', failingCnn()],
    ['transformer', transformer(1)],
    ['unet', unet(2)],
    ['brought-by-input', broughtAlong('input')],
    ['brought-by-parameter', broughtAlong('parameter')],
    ['branches', branches()],
    ['cases', twoWays()],
    ['cases-text', caseView(twoWays(), 1)],
  ])('%s', async (name, record) => {
    const scene = sceneOf(record, theme);
    const over = highlightShapes(scene.source, idOf(scene, 'norm1'), idOf(scene, 'fc2'));
    await expect(paintSvg(scene, over)).toMatchFileSnapshot(`golden/${name}-${theme}.svg`);
  });
});

test('a closed group is drawn with its mark, dims in a box where they clash', async () => {
  const scene = sceneOf(transformer(1), 'light', { openCalls: new Set() });
  await expect(paintSvg(scene)).toMatchFileSnapshot('golden/closed-light.svg');
});

const TEXTS = shapes(sceneOf(failingCnn())).filter((shape): shape is TextShape => shape.kind === 'text');

describe('text', () => {
  const texts = TEXTS;
  const seenAt = (zoom: number): string[] =>
    texts.flatMap((text) =>
      zoom < text.from ? [] : placedRuns(text, zoom).map(({ run }) => (run.kind === 'text' ? run.text : `(${run.mark})`)),
    );

  test('is 11 to 14 px on the screen at every zoom', () => {
    for (const zoom of [0.05, 0.3, 0.5, 0.75, 1, 2, 4]) {
      for (const text of texts) {
        for (const { run, size } of placedRuns(text, zoom)) {
          if (run.kind === 'text') expect(size * zoom).toBeCloseTo(screenSize(run.style, zoom));
          if (run.kind === 'text') expect(size * zoom).toBeGreaterThanOrEqual(11);
        }
      }
    }
  });

  test('goes step by step as one zooms out; marks stay', () => {
    expect(seenAt(1)).toEqual(expect.arrayContaining(['conv1', 'Conv2d 1→6, 5×5', '(error)', '(origin)', '(warn)']));
    expect(seenAt(0.7)).not.toContain('Conv2d 1→6, 5×5');
    expect(seenAt(0.7)).toContain('conv1');
    expect(seenAt(0.45)).not.toContain('conv1');
    expect(seenAt(0.45)).toContain('864');
    expect(seenAt(0.1)).toEqual(expect.arrayContaining(['(error)', '(origin)', '(warn)']));
    expect(seenAt(0.1).every((text) => text.startsWith('('))).toBe(true);
  });
});

describe('a line of text', () => {
  test('marks keep 12 px', () => {
    for (const zoom of [0.02, 0.4, 1]) {
      const marks = TEXTS.flatMap((text) => placedRuns(text, zoom).filter(({ run }) => run.kind === 'mark'));
      for (const { size } of marks) expect(size * zoom).toBeGreaterThanOrEqual(12);
    }
  });

  test('that is too long is cut with … rather than left to run over', () => {
    const long: TextShape = {
      kind: 'text',
      x: 0,
      y: 0,
      align: 'middle',
      room: 60,
      ground: null,
      from: 0,
      runs: [
        {
          kind: 'text',
          text: 'scaled_dot_product',
          style: 'name',
          bold: true,
          italic: false,
          colour: '#000000',
          width: 120,
          gap: 0,
          box: null,
          from: 0,
        },
      ],
    };
    const [piece] = placedRuns(long, 1);
    expect(piece?.run.kind === 'text' && piece.run.text).toBe('scaled_d…');
    expect(piece?.x).toBe(-30);
    expect(placedRuns({ ...long, room: 20 }, 1)).toEqual([]);
  });
});

test('only what touches the window is visited', () => {
  const scene = sceneOf(transformer(20));
  const window = { x: -1000, y: 3000, w: 4000, h: 500 };
  const seen: Item[] = [];
  for (const layer of scene.layers) layer.within(window, (item) => seen.push(item));
  const touching = scene.layers.flatMap((layer) => layer.items).filter(({ box }) => box.y <= 3500 && box.y + box.h >= 3000);
  expect(new Set(seen)).toEqual(new Set(touching));
  expect(seen.length).toBeLessThan(60);
});

describe('pointing', () => {
  const scene = sceneOf(transformer(1));
  const { graph, layout } = scene.source;
  const middle = (id: number): { x: number; y: number } => {
    const box = nodeBox(layout, id);
    return { x: box.x + box.w / 2, y: box.y + box.h / 2 };
  };

  test('at a node finds it, at a head its group, inside a group nothing', () => {
    const [qkv, attn] = [idOf(scene, 'qkv'), idOf(scene, 'attn')];
    expect(hitTest(scene, middle(qkv), 1)).toEqual({ kind: 'node', node: qkv, chevron: false });
    const box = nodeBox(layout, attn);
    expect(hitTest(scene, { x: box.x + 10, y: box.y + 8 }, 1)).toEqual({ kind: 'node', node: attn, chevron: true });
    expect(hitTest(scene, { x: box.x + 60, y: box.y + 8 }, 1)).toEqual({ kind: 'node', node: attn, chevron: false });
    expect(hitTest(scene, { x: box.x + 4, y: box.y + box.h - 6 }, 1)).toBeNull();
  });

  test('near a line finds its edge, the nearer the more one zooms in', () => {
    const [from, to] = [idOf(scene, 'head'), idOf(scene, 'logits')];
    const point = { x: middle(from).x + 3, y: (middle(from).y + middle(to).y) / 2 };
    const edge = graph.edges.findIndex(({ source, target }) => source === from && target === to);
    expect(hitTest(scene, point, 1)).toEqual({ kind: 'edge', edge });
    expect(hitTest(scene, point, 4)).toBeNull();
  });
});

test('arrow keys follow the data, and step into and out of groups', () => {
  const scene = sceneOf(transformer(1));
  const { graph, layout } = scene.source;
  const walk = (from: string, direction: 'up' | 'down' | 'left' | 'right'): string =>
    graph.nodes[nextNode(graph, layout, idOf(scene, from), direction) ?? -1]?.name ?? 'nowhere';
  expect(walk('images', 'down')).toBe('patch_embed');
  expect(walk('qkv', 'down')).toBe('scaled_dot_product_attention');
  expect(walk('qkv', 'up')).toBe('norm1');
  expect(walk('cat', 'left')).toBe('cls_token');
  expect(walk('cls_token', 'down')).toBe('cat');
  expect(walk('attn', 'down')).toBe('qkv');
  expect(walk('logits', 'down')).toBe('nowhere');
  expect(nextNode(graph, layout, -1, 'down')).toBe(0);
});

describe('words beside a node', () => {
  const runFrom = (scene: Scene, text: string): number => {
    for (const shape of shapes(scene)) {
      if (shape.kind !== 'text') continue;
      for (const run of shape.runs) if (run.kind === 'text' && run.text === text) return run.from;
    }
    throw new Error(`nothing says ${text}`);
  };

  test('are drawn from the zoom on at which they meet no border; a second line only where it has room', () => {
    expect(runFrom(sceneOf(failingCnn()), 'makes 864')).toBe(0.5);
    expect(runFrom(sceneOf(failingCnn()), '= 6·12·12')).toBe(0.75);
    const inGroup = sceneOf(brokenBlocks(2));
    const from = runFrom(inGroup, 'nothing below ran');
    const { graph, layout } = inGroup.source;
    const node = nodeBox(
      layout,
      graph.nodes.findIndex(({ remark }) => remark.length > 0),
    );
    const border = nodeBox(
      layout,
      graph.nodes.findIndex(({ name }) => name === 'block0'),
    );
    const width = 'nothing below ran'.length * 5.8;
    expect(from).toBeGreaterThan(0.5);
    expect(node.x + node.w + 14 + width / from).toBeLessThanOrEqual(border.x + border.w + 1e-6);
  });

  test('reach farther the smaller the graph is seen; a remark only where it is asked for', () => {
    const { source } = sceneOf(failingCnn());
    const at = (name: string): number => source.graph.nodes.findIndex((node) => node.name === name);
    const left = (zoom: number): number => nodeBox(source.layout, at('flatten')).x - reachOf(source, at('flatten'), zoom).x;
    expect(left(0.5)).toBeCloseTo(2 * left(1));
    expect(left(0.1)).toBe(left(0.5)); // nothing is written there
    expect(reachOf(source, at('fc1'), 1).w).toBeGreaterThan(reachOf(source, at('fc1'), 1, false).w + 90);
    const caption = at('fc1.weight');
    expect(reachOf(source, caption, 0.7).w).toBeLessThan(reachOf(source, caption, 0.76).w);
  });
});
