/** The forms of nodes and groups, as look.md's table says. */

import { grown, type Box } from '../base/geometry';
import { mix } from '../base/colour';
import { flagWidth } from '../layout/flags';
import { asideStyle, CHEVRON_ROOM, NAME_GAP, type Measure } from '../layout/text_size';
import type { Graph, GraphNode } from '../model/graph';
import type { Theme } from '../theme/tokens';
import { flagShapes } from './scene_flags';
import { labelRuns } from './scene_wires';
import { nodeBox, type SceneSource } from './scene_source';
import type { MarkName } from './marks';
import type { CircleShape, LineShape, MarkRun, RectShape, Run, Shape, Stroke, TextRun, TextShape } from './shapes';

/** Zooms below which a thing isn't drawn. */
export const SEEN = { always: 0, box: 0.3, name: 0.5, detail: 0.75 } as const;

const RADIUS = 4;
const RADIUS_GROUP = 6;
const MARK_SIZE = 14;
const BESIDE = 4;
const LINE_HEIGHT = 14;
const ASIDE_GAP = 12;
const REMARK_GAP = 14;

/** From this step of the ramp on the surface's colour is read on it, below it the text's. */
const DARK_STEP = 3;

/** A theme's colours for one node: as they are, or half gone into the ground; dotted where it didn't run; on a step of the ramp. */
class Ink {
  constructor(
    readonly theme: Theme,
    private readonly dimmed: boolean,
    private readonly dotted = false,
    private readonly heat = -1,
  ) {}

  /** What fills the node: its step of the ramp, where it has one. */
  ground(colour: string): string {
    return this.of(this.theme.ramp[this.heat] ?? colour);
  }

  /** Text that is read on it. */
  on(colour: string): string {
    if (this.heat < 0) return this.of(colour);
    return this.of(this.heat >= DARK_STEP ? this.theme.surface : this.theme.text);
  }

  of(colour: string): string {
    return this.dimmed ? mix(colour, this.theme.surface, 0.5) : colour;
  }

  stroke(colour: string, width: number, dash: readonly number[] = []): Stroke {
    return this.dotted ? { colour: this.of(this.theme.ghost), width, dash: [1.5, 3] } : { colour: this.of(colour), width, dash };
  }
}

export function rect(box: Box, radius: number, fill: string | null, stroke: Stroke | null, from: number): RectShape {
  return { kind: 'rect', ...box, radii: [radius, radius, radius, radius], fill, stroke, from };
}

/** The height of an open group's head: nested ones have a lower one. */
export function headHeight(graph: Graph, index: number): number {
  return graph.nodes[index]?.parent === -1 ? 24 : 20;
}

/** An open group: its border and its head. */
export function groupShapes({ graph, layout, theme, measure }: SceneSource, index: number): Shape[] {
  const node = graph.nodes[index];
  if (!node) return [];
  const box = nodeBox(layout, index);
  const ink = new Ink(theme, node.absent, node.absent);
  const head = headHeight(graph, index);
  const border = ink.stroke(theme.lines, 1.25);
  const top: RectShape = {
    ...rect({ ...box, h: head }, RADIUS_GROUP, theme.sunken, null, SEEN.always),
    radii: [RADIUS_GROUP, RADIUS_GROUP, 0, 0],
  };
  const ground = rect(box, RADIUS_GROUP, theme.surface, null, SEEN.always);
  const under: LineShape = line([box.x, box.y + head, box.x + box.w, box.y + head], ink.stroke(theme.line, 1), SEEN.box);
  const runs = [
    chevron('open', ink, SEEN.name),
    ...markRuns(node, ink),
    ...nameRuns(node, ink, measure, SEEN.always),
    ...valueRuns(node, ink),
  ];
  const end = { x: box.x, y: box.y + 1, w: box.w - 1, h: head - 2 };
  return [
    ground,
    top,
    under,
    rect(box, RADIUS_GROUP, null, border, SEEN.always),
    textLine(box.x + 8, box.y + head / 2, 'start', runs, box.w - 16 - flagWidth(node)),
    ...flagShapes(node, end, [RADIUS_GROUP - 1, 0], theme, measure),
  ];
}

function line(points: readonly number[], stroke: Stroke, from: number): LineShape {
  return { kind: 'line', points, radius: 0, stroke, from };
}

function textLine(x: number, y: number, align: TextShape['align'], runs: readonly Run[], room = Infinity): TextShape {
  return { kind: 'text', x, y, align, runs, room, ground: null, from: SEEN.always };
}

/** A node that is no open group. */
export function nodeShapes(source: SceneSource, index: number): Shape[] {
  const { graph, layout, theme, measure } = source;
  const node = graph.nodes[index];
  if (!node) return [];
  const box = nodeBox(layout, index);
  const step = node.state === 'plain' ? (source.heat?.steps[index] ?? -1) : -1;
  const ink = new Ink(theme, node.dimmed, node.absent, step);
  switch (node.kind) {
    case 'input':
    case 'output':
      return [...pill(node, box, ink, measure), ...flags(node, box, box.h / 2, ink, measure), ...words(source, index, ink)];
    case 'value':
      return [...value(node, box, ink, measure), ...words(source, index, ink)];
    case 'ghost':
      return ghost(node, box, ink, measure);
    case 'group':
      return [...closedGroup(node, box, ink, measure), ...flags(node, box, RADIUS, ink, measure)];
    case 'op':
      return [...(node.sign ? circle(node, box, ink, measure) : opShapes(node, box, ink, measure)), ...words(source, index, ink)];
  }
}

function opShapes(node: GraphNode, box: Box, ink: Ink, measure: Measure): Shape[] {
  const text = opText(node, box, ink, measure);
  return [...opBox(node, box, ink), ...flags(node, box, RADIUS, ink, measure), ...text];
}

/** The flags of a node's cases, within its border. */
function flags(node: GraphNode, box: Box, radius: number, { theme }: Ink, measure: Measure): Shape[] {
  const inset = node.state === 'failed' || node.state === 'origin' ? 2 : 1;
  const end = { x: box.x, y: box.y + inset, w: box.w - inset, h: box.h - 2 * inset };
  return flagShapes(node, end, [radius - inset, radius - inset], theme, measure);
}

function pill(node: GraphNode, box: Box, ink: Ink, measure: Measure): Shape[] {
  const { theme } = ink;
  const assumed = node.state === 'assumed';
  const border = ink.stroke(theme.muted, assumed ? 1 : 1.25, assumed ? [4, 3] : []);
  const name = textRun(node.name, 'plain', ink.of(assumed ? theme.muted : theme.text), measure, SEEN.name);
  const text = centred(node, box, [...markRuns(node, ink), { ...name, gap: 6 }, ...valueRuns(node, ink)]);
  return [grounded(node, box, box.h / 2, ink, ink.of(theme.surface), border), text];
}

/** Text in the middle of what a node's flags leave of it. */
function centred(node: GraphNode, box: Box, runs: readonly Run[]): TextShape {
  const free = box.w - flagWidth(node);
  return textLine(box.x + free / 2, box.y + box.h / 2, 'middle', runs, free - 8);
}

/** A box as it is where nothing is told of it, or as the origin of a number. */
function grounded(node: GraphNode, box: Box, radius: number, ink: Ink, fill: string, border: Stroke): RectShape {
  const { theme } = ink;
  return node.state === 'origin'
    ? rect(box, radius, theme.warnTint, ink.stroke(theme.origin, 2.5), SEEN.always)
    : rect(box, radius, fill, border, SEEN.box);
}

function value(node: GraphNode, box: Box, ink: Ink, measure: Measure): Shape[] {
  const { theme } = ink;
  const ground = grounded(node, box, RADIUS, ink, ink.of(theme.sunken), ink.stroke(theme.lines, 1));
  const mark = markRuns(node, ink);
  const label = labelRuns(node.label, ink.theme, node.dimmed, false, measure, SEEN.name);
  if (!node.caption) {
    const name = textRun(node.name, 'detail', ink.of(theme.text), measure, SEEN.name);
    const spaced = label.map((run, i) => (i ? run : { ...run, gap: NAME_GAP }));
    const runs = [...mark, mark.length ? { ...name, gap: 6 } : name, ...spaced, ...valueRuns(node, ink)];
    return [ground, centred(node, box, runs)];
  }
  const caption = textRun(node.caption, 'detail', theme.text, measure, SEEN.detail);
  // Zoomed out, text keeps its size: it grows to the left, away from the node that takes the value.
  const shape = [...mark, ...(mark.length ? label.map((run, i) => (i ? run : { ...run, gap: 6 })) : label)];
  return [ground, textLine(box.x + box.w, box.y - 9, 'end', [caption]), centred(node, box, shape)];
}

function ghost(node: GraphNode, box: Box, ink: Ink, measure: Measure): Shape[] {
  const { theme } = ink;
  const mark = node.mark === 'warn' ? markRun('warn', theme.warn, ink) : markRun('ghost', theme.ghost, ink);
  const name = textRun(node.name, 'name', theme.ghost, measure, SEEN.name);
  const told = textRun(node.detail, 'detail', theme.ghost, measure, SEEN.detail, NAME_GAP);
  return [
    rect(box, RADIUS, null, ink.stroke(theme.ghost, 1, [1.5, 3]), SEEN.box),
    centred(node, box, [mark, { ...name, gap: 6 }, told]),
  ];
}

function closedGroup(node: GraphNode, box: Box, ink: Ink, measure: Measure): Shape[] {
  const { theme } = ink;
  const assumed = node.state === 'assumed';
  const border = assumed ? ink.stroke(theme.muted, 1, [4, 3]) : ink.stroke(theme.lines, 1);
  const sign = textLine(box.x + 8, box.y + box.h / 2, 'start', [chevron('closed', ink, SEEN.name)]);
  const runs = [...markRuns(node, ink), ...nameRuns(node, ink, measure, SEEN.name), ...valueRuns(node, ink)];
  const free = box.w - flagWidth(node);
  return [
    rect(box, RADIUS, ink.ground(assumed ? theme.surface : theme.sunken), border, SEEN.always),
    sign,
    textLine(box.x + free / 2 + CHEVRON_ROOM / 2, box.y + box.h / 2, 'middle', runs, free - CHEVRON_ROOM - 12),
  ];
}

function circle(node: GraphNode, box: Box, ink: Ink, measure: Measure): Shape[] {
  const { theme } = ink;
  const x = box.x + box.w / 2;
  const y = box.y + box.h / 2;
  const assumed = node.state === 'assumed';
  const colour = node.state === 'origin' ? theme.origin : assumed ? theme.muted : theme.text;
  const ring: CircleShape = {
    kind: 'circle',
    x,
    y,
    radius: box.w / 2 - 0.5,
    fill: ink.of(node.state === 'origin' ? theme.warnTint : theme.surface),
    stroke: ink.stroke(colour, node.state === 'origin' ? 2.5 : 1.25, assumed ? [4, 3] : []),
    from: SEEN.box,
  };
  const arms = ink.stroke(colour, 1.5);
  const cross =
    node.sign === '×'
      ? [line([x - 3, y - 3, x + 3, y + 3], arms, SEEN.name), line([x - 3, y + 3, x + 3, y - 3], arms, SEEN.name)]
      : [line([x - 4, y, x + 4, y], arms, SEEN.name), line([x, y - 4, x, y + 4], arms, SEEN.name)];
  return [ring, ...cross, ...besideCircle(node, box, ink, measure)];
}

/** A circle has no room for flags and marks: they stand to its right. */
function besideCircle(node: GraphNode, box: Box, ink: Ink, measure: Measure): Shape[] {
  const width = flagWidth(node);
  const at = box.x + box.w + BESIDE;
  const shapes = flagShapes(node, { ...box, x: at, w: width }, [RADIUS, RADIUS], ink.theme, measure);
  const value = valueRuns(node, ink);
  return value.length ? [...shapes, textLine(at + width + (width ? BESIDE : 0), box.y + box.h / 2, 'start', value)] : shapes;
}

function opBox(node: GraphNode, box: Box, ink: Ink): Shape[] {
  const { theme } = ink;
  const hue = theme.hues[node.family] ?? theme.muted;
  switch (node.state) {
    case 'failed':
      return [rect(box, RADIUS, theme.errorTint, ink.stroke(theme.error, 2), SEEN.always)];
    case 'origin':
      return [rect(box, RADIUS, theme.warnTint, ink.stroke(theme.origin, 2.5), SEEN.always)];
    case 'assumed': {
      const short = { x: box.x + 5, y: box.y + 5, w: 3, h: box.h - 10 };
      return [
        rect(box, RADIUS, theme.surface, ink.stroke(theme.muted, 1, [4, 3]), SEEN.box),
        rect(short, 0, mix(hue, theme.surface, 0.6), null, SEEN.box),
      ];
    }
    case 'plain': {
      const stripe: RectShape = { ...rect({ ...box, w: 4 }, 0, ink.of(hue), null, SEEN.box), radii: [RADIUS, 0, 0, RADIUS] };
      return [
        rect(box, RADIUS, ink.ground(theme.tints[node.family] ?? theme.sunken), null, SEEN.always),
        rect(box, RADIUS, null, ink.stroke(theme.mids[node.family] ?? theme.lines, 1), SEEN.box),
        stripe,
      ];
    }
  }
}

/** What glows round a failed node, under the lines that lead into it. */
export function haloShapes({ layout, theme }: SceneSource, index: number): Shape[] {
  return [rect(grown(nodeBox(layout, index), 5), RADIUS + 5, mix(theme.error, theme.surface, 0.18), null, SEEN.always)];
}

function opText(node: GraphNode, box: Box, ink: Ink, measure: Measure): Shape[] {
  return [centred(node, box, [...markRuns(node, ink), ...nameRuns(node, ink, measure, SEEN.name), ...valueRuns(node, ink)])];
}

/** What stands beside a node: where the number comes from, or what happened below. Drawn from the zoom on at which it meets nothing. */
function words(source: SceneSource, index: number, ink: Ink): Shape[] {
  const node = source.graph.nodes[index];
  if (!node || node.aside.length + node.remark.length === 0) return [];
  const { theme } = ink;
  const box = nodeBox(source.layout, index);
  const beside = (lines: readonly string[], side: 'left' | 'right', gap: number, isOrigin: boolean): Shape[] => {
    const x = side === 'left' ? box.x - gap : box.x + box.w + gap;
    const middle = box.y + box.h / 2 - ((lines.length - 1) * LINE_HEIGHT) / 2;
    const runs = lines.map((text, i) =>
      isOrigin
        ? textRun(text, asideStyle(i), theme.warn, source.measure, SEEN.name)
        : { ...textRun(text, 'detail', theme.muted, source.measure, SEEN.name), italic: true },
    );
    const widest = Math.max(...runs.map(({ width }) => width));
    const fits = Math.min(1, widest / Math.max(1, clearance(source, index, side) - gap));
    // Text keeps its size: zoomed out, a second line would lie on the first.
    const from = (line: number): number => Math.max(line ? SEEN.detail : SEEN.name, fits);
    const align = side === 'left' ? 'end' : 'start';
    return runs.map((run, i) => textLine(x, middle + i * LINE_HEIGHT, align, [{ ...run, from: from(i) }]));
  };
  const side = node.asideRight ? 'right' : 'left';
  return [
    ...(node.aside.length ? beside(node.aside, side, node.asideRight ? REMARK_GAP : ASIDE_GAP, true) : []),
    ...(node.remark.length ? beside(node.remark, 'right', REMARK_GAP, false) : []),
  ];
}

/** How far it is from a node to the next one beside it, or to the border of the group that it stands in. */
function clearance({ graph, layout }: SceneSource, index: number, side: 'left' | 'right'): number {
  const box = nodeBox(layout, index);
  const end = box.x + box.w;
  let clear = Infinity;
  graph.nodes.forEach((node, other) => {
    if (other === index || (node.open && !isAround(graph, other, index))) return;
    const theirs = nodeBox(layout, other);
    if (node.open) clear = Math.min(clear, side === 'left' ? box.x - theirs.x : theirs.x + theirs.w - end);
    else if (theirs.y < box.y + box.h && theirs.y + theirs.h > box.y) {
      const distance = side === 'left' ? box.x - (theirs.x + theirs.w) : theirs.x - end;
      if (distance >= 0) clear = Math.min(clear, distance);
    }
  });
  return clear;
}

function isAround(graph: Graph, group: number, inside: number): boolean {
  let at = graph.nodes[inside]?.parent ?? -1;
  while (at >= 0 && at !== group) at = graph.nodes[at]?.parent ?? -1;
  return at === group;
}

function nameRuns(node: GraphNode, ink: Ink, measure: Measure, from: number): TextRun[] {
  const { theme } = ink;
  const style = node.state === 'failed' ? 'failed' : 'name';
  const colour = node.state === 'assumed' ? theme.muted : theme.text;
  const name = { ...textRun(node.name, style, ink.on(colour), measure, from), gap: 6 };
  if (!node.detail) return [name];
  return [name, textRun(node.detail, 'detail', ink.on(theme.muted), measure, SEEN.detail, NAME_GAP)];
}

function markRuns(node: GraphNode, ink: Ink): MarkRun[] {
  const { theme } = ink;
  if (node.mark === '') return [];
  const colours = { error: theme.error, warn: theme.warn, origin: theme.origin } as const;
  return [markRun(node.mark, colours[node.mark], ink)];
}

/** Contents of it were read: whose they were. */
function valueRuns(node: GraphNode, ink: Ink): MarkRun[] {
  if (node.value === '') return [];
  return [{ ...markRun(node.value, ink.on(ink.theme.text), ink), keeps: false, from: SEEN.name }];
}

function markRun(mark: MarkName, colour: string, ink: Ink): MarkRun {
  return { kind: 'mark', mark, colour, ground: ink.theme.surface, size: MARK_SIZE, gap: 6, keeps: true, from: SEEN.always };
}

function chevron(mark: 'open' | 'closed', ink: Ink, from: number): MarkRun {
  return { kind: 'mark', mark, colour: ink.on(ink.theme.muted), ground: '', size: 14, gap: 0, keeps: false, from };
}

function textRun(text: string, style: TextRun['style'], colour: string, measure: Measure, from: number, gap = 0): TextRun {
  const bold = style === 'name' || style === 'failed' || style === 'monoBold';
  return { kind: 'text', text, style, bold, italic: false, colour, width: measure(text, style), gap, box: null, from };
}

/** The ring of what is selected, and the border of what the pointer is over: neither moves anything. */
export function highlightShapes({ graph, layout, theme }: SceneSource, selected: number, hovered: number): Shape[] {
  const shapes: Shape[] = [];
  const radiusOf = (index: number): number => {
    const node = graph.nodes[index];
    if (node?.sign) return 8;
    if (node?.kind === 'input' || node?.kind === 'output') return 10;
    return node?.open ? RADIUS_GROUP : RADIUS;
  };
  if (graph.nodes[hovered] && hovered !== selected) {
    shapes.push(rect(nodeBox(layout, hovered), radiusOf(hovered), null, { colour: theme.text, width: 1.25, dash: [] }, 0));
  }
  if (graph.nodes[selected]) {
    const ring = { colour: theme.accent, width: 2, dash: [] };
    shapes.push(rect(grown(nodeBox(layout, selected), 4), radiusOf(selected) + 4, null, ring, 0));
  }
  return shapes;
}
