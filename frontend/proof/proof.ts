/** The proof page: draws any of the test models, and one of 5,000 ops fully expanded, and times it. A tool, not part of the product. */

import { layoutGraph } from '../src/layout/nested';
import { measureGraph, remembered } from '../src/layout/text_size';
import { buildGraph } from '../src/model/graph_build';
import { graphIndex } from '../src/model/graph_index';
import { firstOpenCalls } from '../src/model/graph_path';
import { callsToOpen } from '../src/model/findings';
import type { Record } from '../src/model/record';
import { fitted, type Camera } from '../src/render/camera';
import { fontOf, paintCanvas } from '../src/render/canvas';
import { Scene } from '../src/render/scene';
import { highlightShapes } from '../src/render/scene_nodes';
import { THEMES } from '../src/theme';
import { branches, chain, failingCnn, mlp, transformer, unet } from '../tests/models';
import { decodeRecord } from '../src/wire/decode';

const MODELS: Readonly<globalThis.Record<string, () => Record>> = {
  mlp,
  failing: failingCnn,
  vit1: () => transformer(1),
  vit12: () => transformer(12),
  vit350: () => transformer(350),
  unet: () => unet(4),
  branches,
  chain5000: () => chain(5000),
};

interface Timings {
  ops: number;
  nodes: number;
  edges: number;
  groups: number;
  laidOut: number;
  reused: number;
  width: number;
  height: number;
  indexMs: number;
  buildMs: number;
  measureMs: number;
  layoutMs: number;
  sceneMs: number;
}

const canvas = document.querySelector('canvas') ?? document.createElement('canvas');
const context = canvas.getContext('2d');
const ruler = document.createElement('canvas').getContext('2d');
let scene: Scene | null = null;
let camera: Camera = { x: 0, y: 0, zoom: 1 };
let over: ReturnType<typeof highlightShapes> = [];

const measure = remembered((text, style) => {
  if (!ruler) return 0;
  ruler.font = fontOf(style);
  return ruler.measureText(text).width;
});

function timed<T>(work: () => T): [T, number] {
  const start = performance.now();
  const result = work();
  return [result, performance.now() - start];
}

async function open(
  name: string,
  options: { open?: 'all' | 'first'; theme?: 'light' | 'dark'; labels?: boolean; select?: string },
): Promise<Timings> {
  const record = name.endsWith('.bin')
    ? await decodeRecord(new Uint8Array(await (await fetch(name)).arrayBuffer()))
    : MODELS[name]?.();
  if (!record) throw new Error(`no model is called "${name}"; there are ${Object.keys(MODELS).join(', ')}`);
  const [index, indexMs] = timed(() => graphIndex(record));
  const finding = record.findings.find((one) => one.severity === 'error') ?? null;
  const openCalls =
    options.open === 'all'
      ? new Set(record.calls.module.keys())
      : finding
        ? new Set(callsToOpen(record, finding))
        : firstOpenCalls(index);
  const [graph, buildMs] = timed(() => buildGraph(index, { openCalls, revealed: new Set(), finding, dims: true }));
  const [input, measureMs] = timed(() => measureGraph(graph, measure, options.labels === true));
  const [layout, layoutMs] = timed(() => layoutGraph(input));
  const allLabels = options.labels === true;
  const made = timed(() => new Scene({ graph, layout, theme: THEMES[options.theme ?? 'light'], measure, allLabels }));
  scene = made[0];
  over = highlightShapes(
    scene.source,
    graph.nodes.findIndex((node) => node.name === options.select),
    -1,
  );
  return {
    ops: record.ops.name.length,
    nodes: graph.nodes.length,
    edges: graph.edges.length,
    groups: graph.nodes.filter((node) => node.open).length,
    laidOut: layout.laidOut,
    reused: layout.reused,
    width: layout.width,
    height: layout.height,
    indexMs,
    buildMs,
    measureMs,
    layoutMs,
    sceneMs: made[1],
  };
}

/** One frame; the read-back makes the browser finish it. */
function draw(): { ms: number; things: number } {
  if (!scene || !context) return { ms: 0, things: 0 };
  const drawn = scene;
  const size = { width: innerWidth, height: innerHeight, ratio: devicePixelRatio };
  canvas.width = size.width * size.ratio;
  canvas.height = size.height * size.ratio;
  const [things, ms] = timed(() => {
    const count = paintCanvas(context, drawn, camera, size, over);
    context.getImageData(0, 0, 1, 1);
    return count;
  });
  return { ms, things };
}

function look(zoom: number | 'fit', part = 0): { ms: number; things: number } {
  if (!scene) return { ms: 0, things: 0 };
  const size = { width: innerWidth, height: innerHeight };
  const whole = fitted({ x: 0, y: 0, w: scene.width, h: scene.height }, size, 24);
  camera =
    zoom === 'fit'
      ? whole
      : { x: scene.width / 2, y: size.height / 2 / zoom - 24 + part * Math.max(0, scene.height - size.height / zoom), zoom };
  return draw();
}

/** Frames while panning down through the whole at one zoom: all times, sorted. */
function pan(zoom: number, frames: number): number[] {
  const times: number[] = [];
  for (let i = 0; i < frames; i++) times.push(look(zoom, i / frames).ms);
  return times.sort((a, b) => a - b);
}

Object.assign(window, { proof: { open, look, pan } });
