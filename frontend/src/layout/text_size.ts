/** How large things must be to hold their text: a graph, measured, becomes the layout's input. */

import type { Graph, GraphEdge, GraphNode } from '../model/graph';
import { flagWidth } from './flags';
import { FORM_BOX, FORM_CIRCLE, FORM_FIRST, FORM_GHOST, FORM_GROUP, FORM_LAST, FORM_VALUE, type LayoutInput } from './layout';

/** The fonts of the graph, by their job. */
export type TextStyle = 'name' | 'plain' | 'failed' | 'detail' | 'mono' | 'monoBold';

/** The width of a text, px. */
export type Measure = (text: string, style: TextStyle) => number;

/** A measure that asks for each text of each style once. */
export function remembered(measure: Measure): Measure {
  const known = new Map<TextStyle, Map<string, number>>();
  return (text, style) => {
    const widths = known.get(style) ?? new Map<string, number>();
    known.set(style, widths);
    let width = widths.get(text);
    if (width === undefined) widths.set(text, (width = measure(text, style)));
    return width;
  };
}

/** Space between a name and what stands beside it. */
export const NAME_GAP = 8;
/** A mark and the space after it. */
export const MARK_ROOM = 20;
export const CHEVRON_ROOM = 20;
/** What a clash's box adds to the text of a dim: the sign ≠ and the border. */
export const CLASH_ROOM = 6;

const GRID = 8;

/** Whether a node bears a mark before its name. */
export function hasMark(node: GraphNode): boolean {
  return node.mark !== '' || node.kind === 'ghost';
}

/** Room right of a node's text: for the mark of contents that were read, and the flags of its cases. */
export function roomAfter(node: GraphNode): number {
  return (node.value === '' ? 0 : MARK_ROOM) + flagWidth(node);
}

/** Width of a label, with the boxes of what clashes. */
export function labelWidth(label: GraphEdge['label'], measure: Measure): number {
  let width = 0;
  for (const part of label) {
    width += measure(part.tone === 'clash' ? `≠${part.text}` : part.text, part.tone === 'muted' ? 'mono' : 'monoBold');
    if (part.tone === 'clash') width += CLASH_ROOM;
  }
  return width;
}

/** The text left of an edge. */
export function wordsText(edge: GraphEdge): string {
  return edge.words.join(', ');
}

/** Measures a graph for its layout. `allLabels`: edges whose label tells nothing new are labelled, too. */
export function measureGraph({ nodes, edges }: Graph, measure: Measure, allLabels: boolean): LayoutInput {
  const depth = depths(nodes);
  return {
    form: Uint8Array.from(ints(nodes, formOf)),
    parent: ints(nodes, (node) => node.parent),
    host: ints(nodes, (node) => node.host),
    width: floats(nodes, (node) => Math.ceil(widthOf(node, measure))),
    height: floats(nodes, (node, i) => heightOf(node, depth[i] ?? 0)),
    above: floats(nodes, (node) => (node.caption ? 18 : 0)),
    left: floats(nodes, (node) => roomLeft(node, measure)),
    right: floats(nodes, (node) => roomRight(node, measure) + (node.sign && roomAfter(node) ? roomAfter(node) + 8 : 0)),
    weight: floats(nodes, (node) => node.weight),
    source: ints(edges, (edge) => edge.source),
    target: ints(edges, (edge) => edge.target),
    label: floats(edges, (edge) => (edge.labelled || allLabels ? Math.ceil(labelWidth(edge.label, measure)) : 0)),
    words: floats(edges, (edge) => (edge.words.length ? Math.ceil(measure(wordsText(edge), 'detail')) : 0)),
  };
}

/** A column: `Float64Array.from` with a function walks an iterator, which takes ten times as long. */
function floats<T>(rows: readonly T[], value: (row: T, i: number) => number): Float64Array {
  const column = new Float64Array(rows.length);
  rows.forEach((row, i) => (column[i] = value(row, i)));
  return column;
}

function ints<T>(rows: readonly T[], value: (row: T) => number): Int32Array {
  const column = new Int32Array(rows.length);
  rows.forEach((row, i) => (column[i] = value(row)));
  return column;
}

function formOf(node: GraphNode): number {
  switch (node.kind) {
    case 'input':
      return FORM_FIRST;
    case 'output':
      return FORM_LAST;
    case 'value':
      return FORM_VALUE;
    case 'ghost':
      return FORM_GHOST;
    case 'group':
      return node.open ? FORM_GROUP : FORM_BOX;
    case 'op':
      return node.sign ? FORM_CIRCLE : FORM_BOX;
  }
}

function depths(nodes: readonly GraphNode[]): Int32Array {
  const depth = new Int32Array(nodes.length);
  nodes.forEach((node, i) => (depth[i] = node.parent < 0 ? 0 : (depth[node.parent] ?? 0) + 1));
  return depth;
}

/** The room that the words left of a node take at 100 %, with the gap before them; 0 for none. */
export function roomLeft(node: GraphNode, measure: Measure): number {
  return node.asideRight ? 0 : asideRoom(node, measure);
}

/** The room that the words right of a node take. Without `remarks` those that tell of a failure don't count. */
export function roomRight(node: GraphNode, measure: Measure, remarks = true): number {
  if (node.asideRight) return asideRoom(node, measure);
  return remarks ? roomOf(node.remark.map((line) => measure(line, 'detail'))) : 0;
}

function asideRoom(node: GraphNode, measure: Measure): number {
  return roomOf(node.aside.map((line, i) => measure(line, asideStyle(i))));
}

/** The first line of what stands beside an origin is bold. */
export const asideStyle = (line: number): TextStyle => (line ? 'detail' : 'name');

function roomOf(widths: readonly number[]): number {
  return widths.length ? Math.ceil(Math.max(...widths)) + 16 : 0;
}

const markWidth = (node: GraphNode): number => (hasMark(node) ? MARK_ROOM : 0);

/** A node's text alone: mark, name, type. */
export function textWidth(node: GraphNode, measure: Measure): number {
  const mark = markWidth(node);
  const name = measure(node.name, node.state === 'failed' ? 'failed' : 'name');
  return mark + name + (node.detail ? NAME_GAP + measure(node.detail, 'detail') : 0);
}

function widthOf(node: GraphNode, measure: Measure): number {
  const onGrid = (width: number, least: number): number => Math.max(least, Math.ceil(width / GRID) * GRID);
  switch (node.kind) {
    case 'input':
    case 'output':
      return onGrid(markWidth(node) + measure(node.name, 'plain') + 32 + roomAfter(node), 64);
    case 'value': {
      const label = labelWidth(node.label, measure);
      const mark = markWidth(node);
      if (node.caption) return Math.max(onGrid(mark + label + 24, 96), measure(node.caption, 'detail'));
      return onGrid(mark + measure(node.name, 'detail') + NAME_GAP + label + 20 + roomAfter(node), 80);
    }
    case 'ghost':
      return onGrid(textWidth(node, measure) + 24, 96);
    case 'group':
      if (node.open) return CHEVRON_ROOM + textWidth(node, measure) + 24 + roomAfter(node);
      return onGrid(CHEVRON_ROOM + textWidth(node, measure) + 36 + roomAfter(node), 112);
    case 'op':
      if (node.sign) return 16;
      return onGrid(
        textWidth(node, measure) + (node.state === 'failed' ? 64 : 40) + roomAfter(node),
        node.state === 'failed' ? 168 : 96,
      );
  }
}

function heightOf(node: GraphNode, depth: number): number {
  switch (node.kind) {
    case 'input':
    case 'output':
      return 20;
    case 'value':
      return node.caption ? 24 : 20;
    case 'ghost':
      return 24;
    case 'group':
      return node.open && depth > 0 ? 20 : 24;
    case 'op':
      if (node.sign) return 16;
      if (node.state === 'failed') return 32;
      return node.keepsShape && node.state !== 'origin' ? 20 : 24;
  }
}
