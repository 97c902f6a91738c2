/** What layout takes and gives: numbers in typed arrays, so that a worker can do it. Units are px at 100 %, y downward. */

/** Forms that are laid out differently: the numbers in `LayoutInput.form`. */
export const FORM_BOX = 0;
export const FORM_CIRCLE = 1;
export const FORM_GROUP = 2; // an open one: its size comes from what is in it
export const FORM_FIRST = 3; // in the first row: an input
export const FORM_LAST = 4; // in the last row: an output
export const FORM_VALUE = 5; // stands left of its host and joins it by a line
export const FORM_GHOST = 6; // stands left of its host without a line

/** A graph to lay out. Nodes stand in execution order, groups before what is in them; edges lead from earlier to later. */
export interface LayoutInput {
  readonly form: Uint8Array;
  readonly parent: Int32Array; // the open group around a node, -1 at the top
  readonly host: Int32Array; // of values and ghosts, else -1
  readonly width: Float64Array; // of groups: of their head's text
  readonly height: Float64Array; // of groups: of their head
  readonly above: Float64Array; // room for a caption above
  readonly left: Float64Array; // room for words beside
  readonly right: Float64Array;
  readonly weight: Float64Array; // how heavy a path through the node is
  readonly source: Int32Array; // edges
  readonly target: Int32Array;
  readonly label: Float64Array; // width of an edge's label, 0 for none
  readonly words: Float64Array; // width of the words left of an edge, 0 for none
}

/** Bits of `Wires.ends`. */
export const END_ARROW = 1;
export const END_DOT = 2; // joins by a dot: a value
export const START_DOT = 4; // leaves another line

/** Lines to draw. Line i has the points `points[2 * from[i]]` up to `points[2 * from[i + 1]]`, x and y in turn. */
export interface Wires {
  readonly from: Int32Array;
  readonly points: Float64Array;
  readonly ends: Uint8Array;
  readonly edge: Int32Array; // the edge whose label it bears, or the first that runs along it; -1 for a value's line
  readonly value: Int32Array; // the value node of a value's line, else -1
  readonly alongFrom: Int32Array; // all edges that run along line i: along[alongFrom[i]] up to along[alongFrom[i + 1]]
  readonly along: Int32Array;
  readonly labelX: Float64Array; // left end of the label; NaN where it has none
  readonly labelY: Float64Array; // its middle
  readonly wordsX: Float64Array; // right end of the words; NaN where it has none
}

/** Where everything stands. */
export interface Layout {
  readonly x: Float64Array; // upper left corners
  readonly y: Float64Array;
  readonly w: Float64Array;
  readonly h: Float64Array;
  readonly width: number;
  readonly height: number;
  readonly wires: Wires;
  /** How many groups were laid out, and how many took over the layout of an identical one. */
  readonly laidOut: number;
  readonly reused: number;
}

/** The buffers to hand over with a layout rather than to copy. */
export function buffersOf(layout: Layout): ArrayBuffer[] {
  const { wires } = layout;
  const floats = [layout.x, layout.y, layout.w, layout.h, wires.points, wires.labelX, wires.labelY, wires.wordsX];
  const ints = [wires.from, wires.ends, wires.edge, wires.value, wires.alongFrom, wires.along];
  return [...floats, ...ints].map((array) => array.buffer as ArrayBuffer);
}

/** Distances, px. */
export const GAP = 16; // between two rows
export const GAP_LABEL = 24; // between two rows with a label
export const TRACK = 8; // between two lines that run side by side
export const LABEL_OFF = 14; // from an edge to its label
export const BETWEEN = 24; // between two nodes of a row
export const LANE = 16; // from a node or line to the lane right of it
export const PADDING = 16; // inside a group, left and right
export const VALUE_OFF = 120; // from the spine to a value's right end
