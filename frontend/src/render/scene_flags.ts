/** The forms of a node's flags: the hue and the letter of each case that ran it, at the node's right end. */

import type { Box } from '../base/geometry';
import { mix } from '../base/colour';
import { flagsOf, flagWidth } from '../layout/flags';
import type { Measure } from '../layout/text_size';
import type { GraphNode } from '../model/graph';
import { caseHue, type Theme } from '../theme/tokens';
import type { RectShape, Shape, TextShape } from './shapes';

const EDGE = 3;
const SEEN = { flag: 0.15, letter: 0.5 } as const;

type Corners = readonly [upper: number, lower: number];

/** `end`: the box at whose right end they stand, within its border; `corners`: the radii there. */
export function flagShapes(node: GraphNode, end: Box, corners: Corners, theme: Theme, measure: Measure): Shape[] {
  const ink = (colour: string): string => (node.dimmed ? mix(colour, theme.surface, 0.5) : colour);
  const flags = flagsOf(node);
  let x = end.x + end.w - flagWidth(node);
  return flags.flatMap(({ text, of, width }, i) => {
    const hue = of < 0 ? 0 : caseHue(of);
    const round: Corners = i === flags.length - 1 ? corners : [0, 0];
    const box = { x, y: end.y, w: width, h: end.h };
    x += width;
    return [
      flat(box, round, ink(theme.fills[hue] ?? theme.sunken)),
      flat({ ...box, x: box.x + width - EDGE, w: EDGE }, round, ink(theme.hues[hue] ?? theme.muted)),
      letter(text, { ...box, w: width - EDGE }, ink(theme.text), measure),
    ];
  });
}

function flat(box: Box, [upper, lower]: Corners, fill: string): RectShape {
  return { kind: 'rect', ...box, radii: [0, upper, lower, 0], fill, stroke: null, from: SEEN.flag };
}

function letter(text: string, box: Box, colour: string, measure: Measure): TextShape {
  const run = { text, colour, width: measure(text, 'monoBold'), bold: true, italic: false, gap: 0, box: null };
  return {
    kind: 'text',
    x: box.x + box.w / 2,
    y: box.y + box.h / 2,
    align: 'middle',
    runs: [{ kind: 'text', style: 'monoBold', from: SEEN.letter, ...run }],
    room: box.w + EDGE,
    ground: null,
    from: SEEN.letter,
  };
}
