/** Blocks as rectangles: parts are slices, what is inside them is squarified, every area as large as its bytes. */

import { hierarchy, treemap, treemapSquarify, type HierarchyRectangularNode } from 'd3-hierarchy';
import type { Box } from '../base/geometry';
import type { Block } from '../model/memory_blocks';

/** A block in its place; `head` is that of a ×N, which stands above what is inside it. */
export interface Cell {
  readonly block: Block;
  readonly box: Box;
  readonly head: boolean;
  readonly around: readonly Block[]; // the ×N around it, outermost first
}

export const GAP_PX = 2;
export const HEAD_PX = 18;
/** A ×N smaller than this has no head: its name goes into the names of its cells. */
const HEAD_LEAST = { w: 110, h: 64 };
/** Slices smaller than this say more as one cell than as crumbs. */
const INSIDE_LEAST = { w: 48, h: 90 };
const SLICE_LEAST_PX = 18;

/** The cells of the parts in `width` × `height` px: the largest part on top, the others side by side below it. */
export function treemapCells(parts: readonly Block[], width: number, height: number): readonly Cell[] {
  if (width < 1 || height < 1) return [];
  return slices(parts, width, height).flatMap(({ block, box }) => cellsIn(block, box));
}

function slices(parts: readonly Block[], width: number, height: number): readonly { readonly block: Block; readonly box: Box }[] {
  const [largest, ...others] = parts;
  if (!largest) return [];
  const rest = others.reduce((sum, { bytes }) => sum + bytes, 0);
  const whole = largest.bytes + rest;
  // A strip too low for a word would be lost: it gets the height of one.
  const low = rest === 0 ? 0 : Math.max(SLICE_LEAST_PX, (height * rest) / whole);
  const high = Math.max(0, height - low);
  const placed = [{ block: largest, box: { x: 0, y: 0, w: width, h: high - (rest ? GAP_PX : 0) } }];
  let x = 0;
  for (const block of others) {
    const w = (width * block.bytes) / rest;
    const gap = block === others.at(-1) ? 0 : GAP_PX;
    placed.push({ block, box: { x, y: high, w: Math.max(0, w - gap), h: low } });
    x += w;
  }
  return placed;
}

function cellsIn(part: Block, box: Box): readonly Cell[] {
  if (box.h < INSIDE_LEAST.h || box.w < INSIDE_LEAST.w || part.inside.length === 0)
    return [{ block: part, box, head: false, around: [] }];
  const root = hierarchy(part, ({ inside }) => inside)
    .sum((block) => (block.inside.length ? 0 : block.bytes))
    .sort((a, b) => (b.value ?? 0) - (a.value ?? 0));
  const hasHead = ({ data, x0, x1, y0, y1 }: HierarchyRectangularNode<Block>): boolean =>
    data.kind === 'times' && x1 - x0 >= HEAD_LEAST.w && y1 - y0 >= HEAD_LEAST.h;
  const placed = treemap<Block>()
    .tile(treemapSquarify)
    .size([box.w, box.h])
    .paddingInner(GAP_PX)
    .paddingTop((node) => (hasHead(node) ? HEAD_PX : 0))(root);
  return placed.descendants().flatMap((node): readonly Cell[] => {
    const head = hasHead(node);
    if (node.children && !head) return [];
    const around = node
      .ancestors()
      .slice(1)
      .map(({ data }) => data)
      .filter(({ kind }) => kind === 'times')
      .reverse();
    const { x0, y0, x1, y1 } = node;
    return [{ block: node.data, box: { x: box.x + x0, y: box.y + y0, w: x1 - x0, h: y1 - y0 }, head, around }];
  });
}
