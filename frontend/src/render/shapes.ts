/** What a scene is made of: plain forms that a painter puts on a canvas or into SVG. */

import type { Box } from '../base/geometry';
import type { TextStyle } from '../layout/text_size';
import type { MarkName } from './marks';

/** Zoom below which a form isn't drawn; 0: always. */
export interface Seen {
  readonly from: number;
}

export interface Stroke {
  readonly colour: string;
  readonly width: number; // px at 100 %
  readonly dash: readonly number[];
}

/** A box with its corner radii: upper left, upper right, lower right, lower left. */
export interface RectShape extends Seen, Box {
  readonly kind: 'rect';
  readonly radii: readonly [number, number, number, number];
  readonly fill: string | null;
  readonly stroke: Stroke | null;
}

export interface CircleShape extends Seen {
  readonly kind: 'circle';
  readonly x: number;
  readonly y: number;
  readonly radius: number;
  readonly fill: string | null;
  readonly stroke: Stroke | null;
}

/** A polyline, x and y in turn, its corners rounded. */
export interface LineShape extends Seen {
  readonly kind: 'line';
  readonly points: readonly number[];
  readonly radius: number;
  readonly stroke: Stroke;
}

/** An arrow's head, 6 px, its tip at x, y, pointing along dx, dy. */
export interface HeadShape extends Seen {
  readonly kind: 'head';
  readonly x: number;
  readonly y: number;
  readonly dx: number;
  readonly dy: number;
  readonly fill: string;
}

/** A piece of a line of text, or a mark within it. Widths are at 100 %. */
export type Run = TextRun | MarkRun;

export interface TextRun extends Seen {
  readonly kind: 'text';
  readonly text: string;
  readonly style: TextStyle;
  readonly bold: boolean;
  readonly italic: boolean;
  readonly colour: string;
  readonly width: number;
  readonly gap: number; // before it
  readonly box: { readonly fill: string; readonly stroke: string } | null; // of a clash
}

export interface MarkRun extends Seen {
  readonly kind: 'mark';
  readonly mark: MarkName;
  readonly colour: string;
  readonly ground: string;
  readonly size: number;
  readonly gap: number;
  readonly keeps: boolean; // stays 12 px on screen
}

/** A line of text, y its middle; x its left end, middle or right end. Of what is wider than `room`, the last pieces go, then the end of the first. */
export interface TextShape extends Seen {
  readonly kind: 'text';
  readonly x: number;
  readonly y: number;
  readonly align: 'start' | 'middle' | 'end';
  readonly runs: readonly Run[];
  readonly room: number;
  readonly ground: string | null; // laid under it, so that no line that happens to pass runs through its letters
}

export type Shape = RectShape | CircleShape | LineShape | HeadShape | TextShape;

/** Font size of each style, px at 100 %. */
export const FONT_SIZES: Readonly<Record<TextStyle, number>> = {
  name: 12,
  plain: 12,
  failed: 14,
  detail: 11,
  mono: 11,
  monoBold: 11,
};

/** Text is 11 to 14 px on the screen, whatever the zoom. */
export function screenSize(style: TextStyle, zoom: number): number {
  return Math.max(11, Math.min(14, FONT_SIZES[style] * zoom));
}

interface Sized {
  run: Run;
  readonly size: number;
  width: number;
}

/** Fewer px than this hold no piece of a name that one could read. */
const LEAST_TEXT_PX = 24;

/** Cuts the only text of a line to the room with …, or leaves it out; gives the width that's left. */
function shortened(sized: Sized[], width: number, room: number, zoom: number): number {
  const at = sized.findIndex(({ run }) => run.kind === 'text');
  const piece = sized[at];
  if (width <= room || piece?.run.kind !== 'text') return width;
  const left = piece.width - (width - room);
  const letters = Math.floor((piece.run.text.length * left) / piece.width) - 1;
  if (left * zoom < LEAST_TEXT_PX || letters < 2) {
    sized.splice(at, 1);
    return sized.reduce((sum, { width: own }) => sum + own, 0);
  }
  sized[at] = { ...piece, run: { ...piece.run, text: `${piece.run.text.slice(0, letters)}…` }, width: left };
  return room;
}

/** What is laid under a line of text whose pieces are placed so. */
export function groundBox(shape: TextShape, placed: ReturnType<typeof placedRuns>): Box | null {
  const [first, last] = [placed[0], placed.at(-1)];
  if (shape.ground === null || !first || !last) return null;
  const end = last.x + (last.run.kind === 'mark' ? last.size : last.run.width * (last.size / FONT_SIZES[last.run.style]));
  return { x: first.x - 2, y: shape.y - last.size * 0.6, w: end - first.x + 4, h: last.size * 1.2 };
}

/** What of a line of text is drawn at a zoom, and where each piece begins: in graph units, so that painters agree. */
export function placedRuns(
  shape: TextShape,
  zoom: number,
): readonly { readonly run: Run; readonly x: number; readonly size: number }[] {
  const runs = shape.runs.filter((run) => zoom >= run.from);
  const sized: Sized[] = runs.map((run) => {
    const size =
      run.kind === 'mark'
        ? (run.keeps ? Math.max(12, run.size * Math.min(zoom, 1)) : run.size * zoom) / zoom
        : screenSize(run.style, zoom) / zoom;
    const width = run.kind === 'mark' ? size : run.width * (size / FONT_SIZES[run.style]);
    return { run, size, width };
  });
  const width = (): number => sized.reduce((sum, piece, i) => sum + piece.width + (i ? piece.run.gap : 0), 0);
  const texts = (): number => sized.filter(({ run }) => run.kind === 'text').length;
  while (width() > shape.room && texts() > 1)
    sized.splice(
      sized.findLastIndex(({ run }) => run.kind === 'text'),
      1,
    );
  const whole = shortened(sized, width(), shape.room, zoom);
  let x = shape.x - (shape.align === 'middle' ? whole / 2 : shape.align === 'end' ? whole : 0);
  return sized.map(({ run, size, width }, i) => {
    if (i) x += run.gap;
    const placed = { run, x, size };
    x += width;
    return placed;
  });
}
