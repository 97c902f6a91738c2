/** Ties the graph's stage to the state: what is shown, what is selected, where one looks. */

import { computed, signal, untracked } from '@preact/signals';
import { grown, overlaps, unionOf, type Box } from '../../base/geometry';
import { measureGraph, remembered } from '../../layout/text_size';
import type { Graph, GraphPlaces } from '../../model/graph';
import { buildGraph } from '../../model/graph_build';
import { besideProblem, legendLines, legendOf } from '../../model/graph_legend';
import { placesByKey, placeKey } from '../../model/graph_names';
import { graphIndex, type GraphIndex } from '../../model/graph_index';
import { firstOpenCalls } from '../../model/graph_path';
import { problemsOf } from '../../model/findings';
import { heatMap, heatOf, RAMP_STEPS, type HeatMap } from '../../model/heat';
import { aliveByModule } from '../../model/memory_alive';
import { peakOf, totalLine } from '../../model/memory_lines';
import type { Record } from '../../model/record';
import { framed, showing, toGraph, type Camera, type Size } from '../../render/camera';
import { fontOf } from '../../render/canvas';
import { hitTest } from '../../render/hit';
import { LayoutClient } from '../../render/layout_client';
import { reachOf, Scene, type Item } from '../../render/scene';
import { nodeBox } from '../../render/scene_source';
import { Stage } from '../../render/stage';
import { openCalls, setView, toggleCall } from '../../state/actions';
import * as app from '../../state/app_state';
import { THEMES } from '../../theme';
import { callsHiding, nodeOf } from './subjects';

type Built = Graph & GraphPlaces;

/** Of a healthy model one sees the beginning, readable, rather than the whole as a line. */
const LEAST_ZOOM = 0.5;
/** From here on types and settings are written beside names. */
const FULL_TEXT_ZOOM = 0.75;
/** The card of four lines lies over the graph's right side: its width and margins. */
const CARD_PX = 432;
const CARD_LEAVES_PX = 200;
/** The legend and the controls stand in the lower corners: a graph that would meet them keeps clear of both. */
const LEGEND_PX = 176;
const LEGEND_BESIDE_PROBLEM_PX = 112;
const LEGEND_LINE_PX = 20;
const LEGEND_SPARE_PX = 32;
const CONTROLS_PX = 48;
const CONTROLS_WIDE_PX = 260;

const index = computed<GraphIndex | null>(() => (app.record.value ? graphIndex(app.record.value) : null));

/** The problem that is told: an error always, a warning while its card is open. */
const told = computed(() => {
  const problem = app.record.value ? problemsOf(app.record.value)[app.problemIndex.value] : undefined;
  return problem && (problem.severity === 'error' || app.problemShown.value) ? problem.finding : null;
});

/** Ops that only view and are nodes all the same, as they are selected; as text, so that other selections change nothing. */
const revealed = computed(() => {
  const at = index.value;
  const selection = app.selection.value;
  if (!at || !selection) return '';
  if (selection.kind === 'op') return at.viewOnly[selection.id] ? String(selection.id) : '';
  if (selection.kind !== 'call') return '';
  const { calls } = at.record;
  const [first, end] = [calls.firstOp[selection.id] ?? 0, calls.endOp[selection.id] ?? 0];
  if ((at.nodesBefore[end] ?? 0) > (at.nodesBefore[first] ?? 0)) return '';
  return Array.from({ length: end - first }, (_, i) => first + i).join();
});

/** The last wish to bring the selection into sight that a stage has heard of; none did before the first is closed. */
let answered: number | null = null;

/** Something was selected while the memory was looked at: where the graph was left is no place to see it from. */
function isUnanswered(): boolean {
  return answered !== null && answered !== app.revealRequest.peek() && app.view.peek() !== null;
}

export class GraphController {
  readonly stage: Stage;
  readonly scene = signal<Scene | null>(null);
  readonly selected = computed(() => (this.built.value ? nodeOf(this.built.value, app.selection.value) : -1));
  private readonly built = signal<Built | null>(null);
  private readonly layouts = new LayoutClient(new URL('static/layout_worker.js', import.meta.url));
  private readonly measure = remembered(ruler());
  private readonly sizes: ResizeObserver;
  private hovered = -1;
  private fits = app.fitRequest.peek();
  private reveals = app.revealRequest.peek();
  private shownRecord: typeof app.logged.value = null;
  private wantsView = true; // no camera was chosen for what is shown yet
  private wantsReveal = isUnanswered(); // the selection is to be brought into sight once it's laid out

  constructor(
    private readonly room: HTMLElement,
    canvas: HTMLCanvasElement,
  ) {
    const calm = matchMedia('(prefers-reduced-motion: reduce)');
    this.stage = new Stage(
      canvas,
      (camera) => this.moved(camera),
      () => calm.matches,
    );
    this.sizes = new ResizeObserver(() => this.resized());
    this.sizes.observe(room);
    this.resized();
  }

  close(): void {
    answered = app.revealRequest.peek();
    this.sizes.disconnect();
    this.layouts.close();
    this.stage.close();
  }

  /** Builds the graph anew whenever what decides it changes. */
  followGraph(): void {
    const at = index.value;
    const theme = THEMES[app.theme.value];
    const allLabels = app.allLabels.value;
    if (!at) {
      this.show(null, null);
      return;
    }
    this.openFirst(at);
    const view = {
      openCalls: app.openCalls.value,
      revealed: new Set(revealed.value ? revealed.value.split(',').map(Number) : []),
      finding: told.value,
      dims: app.problemShown.value,
    };
    const graph = buildGraph(at, view);
    const heat = heatIn(at.record, graph);
    this.layouts.ask(measureGraph(graph, this.measure, allLabels), (layout) => {
      this.show(graph, new Scene({ graph, layout, theme, measure: this.measure, allLabels, heat }));
    });
  }

  followSelection(): void {
    this.stage.highlight(this.selected.value, this.hovered);
  }

  /** Answers the wishes to fit everything and to bring the selection into sight. */
  followRequests(): void {
    const [fits, reveals] = [app.fitRequest.value, app.revealRequest.value];
    untracked(() => {
      if (fits !== this.fits) this.lookAt(this.whole(), 0, true);
      if (reveals !== this.reveals) this.reveal();
    });
    this.fits = fits;
    this.reveals = reveals;
  }

  hover(point: { readonly x: number; readonly y: number } | null): void {
    const { stage } = this;
    const hit = point && stage.scene ? hitTest(stage.scene, toGraph(stage.camera, stage.size, point), stage.camera.zoom) : null;
    this.hovered = hit?.kind === 'node' ? hit.node : -1;
    stage.highlight(this.selected.peek(), this.hovered);
  }

  /** Opens or closes a group. */
  toggle(node: number): void {
    const group = this.built.value?.nodes[node];
    if (group?.kind === 'group') toggleCall(group.call);
  }

  private openFirst(at: GraphIndex): void {
    if (app.logged.value === this.shownRecord) return;
    this.shownRecord = app.logged.value;
    this.wantsView = true;
    const nothingAsked = untracked(() => !app.openCalls.value.size && !app.view.value && told.value?.severity !== 'error');
    if (nothingAsked) openCalls(firstOpenCalls(at));
  }

  /** Puts a new scene on the stage without moving what is looked at. */
  private show(built: Built | null, scene: Scene | null): void {
    const before = { built: this.built.peek(), scene: this.stage.scene };
    this.built.value = built;
    this.scene.value = scene;
    this.stage.show(scene);
    if (!scene || !built) return;
    if (this.wantsView) this.firstView();
    else if (before.built && before.scene) this.keepPlace(before.built, before.scene, built, scene);
    if (this.wantsReveal) this.reveal();
    this.stage.highlight(this.selected.peek(), this.hovered);
  }

  private firstView(): void {
    const { stage } = this;
    if (stage.size.width === 0) return;
    this.wantsView = false;
    const view = app.view.peek();
    if (view) {
      stage.lookFrom(view, false);
      return;
    }
    const [path, whole] = [this.path(), this.whole()];
    const isReadable = (box: BoxAt): boolean => (framedAt(box, this.free(), 0)?.zoom ?? 0) >= LEAST_ZOOM;
    if (!path(1) || isReadable(whole)) this.lookAt(whole, LEAST_ZOOM, false);
    else {
      this.lookAt(path, LEAST_ZOOM, false);
      if (!isReadable(path)) this.reveal(); // what failed, rather than the upper end
    }
  }

  private keepPlace(before: Built, scene: Scene, built: Built, next: Scene): void {
    const { camera, size } = this.stage;
    if (before.edges === built.edges) return;
    const nodes = placesByKey(built);
    const pairs = before.nodes.flatMap((node, id) => {
      const other = nodes.get(placeKey(node)) ?? -1;
      if (other < 0) return [];
      const from = nodeBox(scene.source.layout, id);
      const [dx, dy] = [from.x + from.w / 2 - camera.x, from.y + (node.open ? 0 : from.h / 2) - camera.y];
      const onScreen = Math.abs(dx) * camera.zoom < size.width / 2 && Math.abs(dy) * camera.zoom < size.height / 2;
      const opened = onScreen && node.open !== built.nodes[other]?.open; // what was just opened or closed is looked at
      return [{ from, other, distance: opened ? -1 : Math.hypot(dx, dy) }];
    });
    const [nearest, ...rest] = pairs;
    if (!nearest) return;
    const anchor = rest.reduce((best, pair) => (pair.distance < best.distance ? pair : best), nearest);
    this.stage.keepInPlace(anchor.from, nodeBox(next.source.layout, anchor.other));
  }

  /** Opens what hides the selection, then moves the camera no more than needed. */
  private reveal(): void {
    const selection = app.selection.peek();
    const record = app.record.peek();
    this.wantsReveal = false;
    // The graph of another record is still on the stage: its successor gets a view of its own.
    if (!selection || !record || app.logged.peek() !== this.shownRecord) return;
    const around = callsHiding(record, selection).filter((call) => !app.openCalls.peek().has(call));
    const seen = this.built.peek();
    if (around.some((call) => seen?.nodes[seen.nodeOfCall[call] ?? -1]?.kind === 'group')) {
      this.wantsReveal = true;
      openCalls(around);
      return;
    }
    const { stage } = this;
    const node = this.selected.peek();
    if (node < 0 || !stage.scene || stage.size.width === 0 || this.wantsView) return;
    const box = nodeBox(stage.scene.source.layout, node);
    const free = this.free();
    const shift = (stage.size.width - free.width) / 2 / stage.camera.zoom;
    const part = stage.scene.source.graph.nodes[node]?.open ? { ...box, h: Math.min(box.h, 200) } : box;
    const near = showing({ ...stage.camera, x: stage.camera.x - shift }, free, part);
    stage.lookFrom({ ...near, x: near.x + (stage.size.width - free.width) / 2 / near.zoom }, true);
  }

  private moved(camera: Camera): void {
    setView(camera);
  }

  private resized(): void {
    const { width, height } = this.room.getBoundingClientRect();
    this.stage.resize({ width, height });
    if (this.wantsView && this.built.peek()) this.firstView();
  }

  /** What the card leaves of the graph's room. */
  private free(): Size {
    const { width, height } = this.stage.size;
    const card = app.problemShown.peek() && width >= CARD_PX + CARD_LEAVES_PX ? CARD_PX : 0;
    return { width: width - card, height };
  }

  /** Looks at what `boxAt` a zoom covers, beside the card, and clear of the legend and the controls where they would be met. */
  private lookAt(boxAt: BoxAt, least: number, animated: boolean): void {
    const { size } = this.stage;
    if (size.width === 0) return;
    const free = this.free();
    const beside = size.width - free.width;
    const plain = framedAt(boxAt, free, least);
    if (!plain) return;
    const placed = { ...plain, x: plain.x + beside / 2 / plain.zoom };
    if (!this.meetsCorners(placed)) {
      this.stage.lookFrom(placed, animated);
      return;
    }
    const [wide, high] = beside ? [0, this.legendHeight()] : [LEGEND_PX, CONTROLS_PX];
    const inner = framedAt(boxAt, { width: free.width - wide, height: free.height - high }, least) ?? plain;
    const shift = { x: (beside - wide) / 2 / inner.zoom, y: high / 2 / inner.zoom };
    this.stage.lookFrom({ ...inner, x: inner.x + shift.x, y: inner.y + shift.y }, animated);
  }

  private legendHeight(): number {
    const { scene } = this.stage;
    if (!scene) return 0;
    const legend = legendOf(scene.source.graph);
    const heat = scene.source.heat && !app.problemShown.peek() ? RAMP_STEPS + 1 : 0;
    const lines = heat + legendLines(app.problemShown.peek() ? besideProblem(legend) : legend);
    return lines ? LEGEND_LINE_PX * lines + LEGEND_SPARE_PX : 0;
  }

  /** Would a node stand under the legend or the controls, seen from there? */
  private meetsCorners({ x, y, zoom }: Camera): boolean {
    const { size, scene } = this.stage;
    const high = this.legendHeight();
    const wide = app.problemShown.peek() ? LEGEND_BESIDE_PROBLEM_PX : LEGEND_PX;
    const legend = { x: 0, y: size.height - high, w: wide, h: high };
    const controls = { x: size.width - CONTROLS_WIDE_PX, y: size.height - CONTROLS_PX, w: CONTROLS_WIDE_PX, h: CONTROLS_PX };
    const seen = (box: Box): Box => ({
      x: (box.x - x) * zoom + size.width / 2,
      y: (box.y - y) * zoom + size.height / 2,
      w: box.w * zoom,
      h: box.h * zoom,
    });
    return (scene?.nodes.items ?? []).some((item) => {
      const box = seen(item.box);
      return overlaps(box, legend) || overlaps(box, controls);
    });
  }

  /** All there is. */
  private whole(): BoxAt {
    return this.toldIn((item) => item.kind !== 'halo');
  }

  /** The way from the origin to the failure, with what joins it and all edges that clash. */
  private path(): BoxAt {
    const { nodes, edges } = this.stage.scene?.source.graph ?? { nodes: [], edges: [] };
    const box = this.toldIn(({ kind, index }) => {
      if (kind === 'wire') return edges[index]?.guilty === true || edges[index]?.clash === true;
      const node = nodes[index];
      return kind === 'node' && (node?.guilty === true || (node?.kind === 'value' && nodes[node.host]?.guilty === true));
    });
    return (zoom) => {
      const all = box(zoom);
      return all && grown(all, 16);
    };
  }

  /** What these things cover; the words right of a failure count where they cost little: else they run under the card. */
  private toldIn(counts: (item: Item) => boolean): BoxAt {
    const free = this.free();
    const [told, bare] = [this.boxOf(counts, true), this.boxOf(counts, false)];
    const [toldZoom, bareZoom] = [told, bare].map((box) => framedAt(box, free, 0)?.zoom ?? 0);
    return (toldZoom ?? 0) >= Math.min(bareZoom ?? 0, FULL_TEXT_ZOOM) ? told : bare;
  }

  /** What things cover at a zoom. */
  private boxOf(counts: (item: Item) => boolean, remarks: boolean): BoxAt {
    const scene = this.stage.scene;
    const items = scene ? [scene.groups, scene.wires, scene.nodes].flatMap((layer) => layer.items).filter(counts) : [];
    return (zoom) =>
      unionOf(items.map((item) => (scene && item.kind === 'node' ? reachOf(scene.source, item.index, zoom, remarks) : item.box)));
  }
}

type BoxAt = (zoom: number) => Box | null;

/** What fills the nodes that are seen whole. */
function heatIn(record: Record, { nodes }: Graph): HeatMap | null {
  const heat = app.heat.value;
  if (heat === null) return null;
  const { memory } = record;
  const cursor = memory && heat === 'live' ? (app.memoryCursor.value ?? peakOf(totalLine(memory)).op) : -1;
  const live = memory && cursor >= 0 ? aliveByModule(record, memory, cursor) : new Float64Array();
  return heatMap(nodes.map((node) => (node.open ? null : heatOf(record, node, heat, live))));
}

/** The camera that shows a box: words keep their size, so what is seen smaller covers more. */
function framedAt(boxAt: BoxAt, size: Size, least: number): Camera | null {
  let camera: Camera | null = null;
  for (let i = 0; i < 3 && (camera === null || camera.zoom < 1); i++) {
    const box = boxAt(camera?.zoom ?? 1);
    if (!box) return null;
    camera = framed(box, size, least);
  }
  return camera;
}

/** Measures text in the fonts that the canvas draws it with. */
function ruler(): (text: string, style: Parameters<typeof fontOf>[0]) => number {
  const context = document.createElement('canvas').getContext('2d');
  return (text, style) => {
    if (!context) return text.length * 6;
    context.font = fontOf(style);
    return context.measureText(text).width;
  };
}
