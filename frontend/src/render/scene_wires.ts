/** The forms of edges: lines with their heads and dots, the shapes that arrive, and the words of views. */

import { grown, type Box } from '../base/geometry';
import { mix } from '../base/colour';
import { END_ARROW, END_DOT, START_DOT } from '../layout/layout';
import { CLASH_ROOM, labelWidth, wordsText, type Measure } from '../layout/text_size';
import type { GraphEdge, LabelPart } from '../model/graph';
import { caseHue, type Theme } from '../theme/tokens';
import type { SceneSource } from './scene_source';
import { edgesAlong, pointsOf, trunkOf, type Trunk } from './scene_trunks';
import type { Shape, Stroke, TextRun } from './shapes';

const HEAD = 6;
const DOT = 3;
const CORNER = 6;

interface Look {
  readonly stroke: Stroke;
  readonly from: number;
  readonly dimmed: boolean;
}

/** How a line looks: as the loudest of the edges that run along it. */
function lookOf(source: SceneSource, wire: number): Look {
  const { graph, layout, theme } = source;
  const { wires } = layout;
  const value = wires.value[wire] ?? -1;
  if (value >= 0) {
    const node = graph.nodes[value];
    if (node?.caption) return { stroke: { colour: theme.error, width: 2, dash: [] }, from: 0, dimmed: false };
    return plainLook(theme, node?.dimmed === true, false);
  }
  return lookOfEdges(theme, edgesAlong(source, wire));
}

function lookOfEdges(theme: Theme, edges: readonly GraphEdge[]): Look {
  if (edges.some((edge) => edge.clash)) return { stroke: { colour: theme.error, width: 2, dash: [] }, from: 0, dimmed: false };
  if (edges.some((edge) => edge.guilty)) return { stroke: { colour: theme.text, width: 1.75, dash: [] }, from: 0, dimmed: false };
  const only = edges[0]?.onlyCase ?? -1;
  return plainLook(
    theme,
    edges.every((edge) => edge.dimmed),
    edges.every((edge) => edge.assumed),
    edges.every((edge) => edge.onlyCase === only) ? only : -1,
  );
}

/** `onlyCase`: all that runs along it is that case's, which gives its hue; -1 where it isn't so. */
function plainLook(theme: Theme, dimmed: boolean, assumed: boolean, onlyCase = -1): Look {
  const full = onlyCase < 0 ? theme.edge : (theme.hues[caseHue(onlyCase)] ?? theme.edge);
  const colour = dimmed ? mix(full, theme.surface, 0.5) : full;
  return { stroke: { colour, width: onlyCase < 0 ? 1.25 : 1.75, dash: assumed ? [4, 3] : [] }, from: 0.3, dimmed };
}

/** What a line covers, its label and words included. */
export function wireBox(source: SceneSource, wire: number): Box {
  const points = pointsOf(source, wire);
  let [x0, y0, x1, y1] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let i = 0; i < points.length; i += 2) {
    x0 = Math.min(x0, points[i] ?? 0);
    x1 = Math.max(x1, points[i] ?? 0);
    y0 = Math.min(y0, points[i + 1] ?? 0);
    y1 = Math.max(y1, points[i + 1] ?? 0);
  }
  const { wires } = source.layout;
  const edge = source.graph.edges[wires.edge[wire] ?? -1];
  const labelX = wires.labelX[wire] ?? NaN;
  const wordsX = wires.wordsX[wire] ?? NaN;
  if (edge && !Number.isNaN(labelX)) {
    const words = edge.words.length ? source.measure(wordsText(edge), 'detail') + 8 : 0;
    x1 = Math.max(x1, labelX + labelWidth(edge.label, source.measure) + (Number.isNaN(wordsX) ? words : 0));
    if (!Number.isNaN(wordsX)) x0 = Math.min(x0, wordsX - words);
  }
  return grown({ x: x0, y: y0, w: x1 - x0, h: y1 - y0 }, HEAD);
}

/** The forms of one line. */
export function wireShapes(source: SceneSource, wire: number): Shape[] {
  const { wires } = source.layout;
  const look = lookOf(source, wire);
  const points = pointsOf(source, wire);
  const ends = wires.ends[wire] ?? 0;
  const shapes: Shape[] = [];
  const [sx, sy] = [points[0] ?? 0, points[1] ?? 0];
  const [x, y] = [points.at(-2) ?? 0, points.at(-1) ?? 0];
  const [px, py] = [points.at(-4) ?? x, points.at(-3) ?? y];
  const length = Math.hypot(x - px, y - py) || 1;
  const [dx, dy] = [(x - px) / length, (y - py) / length];
  if (ends & END_ARROW) {
    const back = Math.min(HEAD - 1, length - 1);
    points.splice(-2, 2, x - dx * back, y - dy * back);
    shapes.push({ kind: 'head', x, y, dx, dy, fill: look.stroke.colour, from: look.from });
  }
  const drawn = (along: readonly number[], { stroke, from }: Look): Shape => ({
    kind: 'line',
    points: along,
    radius: CORNER,
    stroke,
    from,
  });
  const edges = edgesAlong(source, wire);
  const trunk = edges.some(({ onlyCase }) => onlyCase >= 0) ? trunkOf(source, wire) : null;
  if (trunk)
    shapes.unshift(drawn(trunk.before, lookOfEdges(source.theme, [...edges, ...trunk.edges])), drawn(rest(trunk, points), look));
  else shapes.unshift(drawn(points, look));
  const dot = (cx: number, cy: number): Shape => ({
    kind: 'circle',
    x: cx,
    y: cy,
    radius: DOT,
    fill: look.stroke.colour,
    stroke: null,
    from: Math.max(look.from, 0.5),
  });
  if (ends & START_DOT) shapes.push(dot(sx, sy));
  if (ends & END_DOT) shapes.push(dot(x - dx * DOT, y - dy * DOT));
  return shapes;
}

/** What follows on a trunk, up to where the arrow's head begins. */
function rest({ after }: Trunk, points: readonly number[]): readonly number[] {
  return [...after.slice(0, -2), ...points.slice(-2)];
}

/** The label and the words of one line. */
export function labelShapes(source: SceneSource, wire: number): Shape[] {
  const { graph, theme, measure, allLabels } = source;
  const { wires } = source.layout;
  const edge = graph.edges[wires.edge[wire] ?? -1];
  const labelX = wires.labelX[wire] ?? NaN;
  if (!edge || Number.isNaN(labelX)) return [];
  const y = wires.labelY[wire] ?? 0;
  const wordsX = wires.wordsX[wire] ?? NaN;
  const shapes: Shape[] = [];
  const dimmed = lookOf(source, wire).dimmed && edge.dimmed;
  const ground = theme.surface;
  const muted = dimmed ? mix(theme.muted, theme.surface, 0.5) : theme.muted;
  let x = labelX;
  if (edge.words.length) {
    const width = measure(wordsText(edge), 'detail');
    const run: TextRun = {
      kind: 'text',
      text: wordsText(edge),
      style: 'detail',
      bold: false,
      italic: false,
      colour: muted,
      width,
      gap: 0,
      box: null,
      from: 0.75,
    };
    const beside = Number.isNaN(wordsX);
    shapes.push({
      kind: 'text',
      x: beside ? x : wordsX,
      y,
      align: beside ? 'start' : 'end',
      runs: [run],
      room: Infinity,
      ground,
      from: 0.75,
    });
    if (beside) x += width + 8;
  }
  if (!edge.labelled && !allLabels) return shapes;
  const from = edge.label.some((part) => part.tone !== 'muted') ? 0.3 : 0.5;
  const runs = labelRuns(edge.label, theme, dimmed, edge.assumed, measure, from);
  return [...shapes, { kind: 'text', x, y, align: 'start', runs, room: Infinity, ground, from }];
}

/** A label's pieces: what changed bold, what clashes red in a box with ≠ before it. */
export function labelRuns(
  label: readonly LabelPart[],
  theme: Theme,
  dimmed: boolean,
  italic: boolean,
  measure: Measure,
  from: number,
): TextRun[] {
  const tones = { muted: theme.muted, changed: theme.text, clash: theme.error } as const;
  return label.map(({ text, tone }) => {
    const clash = tone === 'clash';
    const said = clash ? `≠${text}` : text;
    const style = tone === 'muted' ? 'mono' : 'monoBold';
    return {
      kind: 'text',
      text: said,
      style,
      bold: tone !== 'muted',
      italic,
      colour: dimmed ? mix(tones[tone], theme.surface, 0.5) : tones[tone],
      width: measure(said, style) + (clash ? CLASH_ROOM : 0),
      gap: 0,
      box: clash ? { fill: theme.errorTint, stroke: theme.error } : null,
      from,
    };
  });
}
