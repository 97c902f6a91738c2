/** What stands left of a node: parameters, which join it by a line, and modules that were never called. */

import { FORM_GHOST, FORM_VALUE, VALUE_OFF, type LayoutInput } from './layout';
import type { WireList } from './wires';

export interface Besides {
  readonly up: Float64Array; // height that what stands beside a node takes, above its middle
  readonly down: Float64Array;
  /** Width of all that stands left of a node whose box reaches `half` to the left, gap included; 0 where there is none. */
  readonly room: (node: number, half: number) => number;
  /** Places it, given the node's anchor and middle, and how far its box reaches to the left. */
  readonly place: (
    node: number,
    anchor: number,
    middle: number,
    half: number,
    at: { readonly x: Float64Array; readonly y: Float64Array; readonly w: Float64Array; readonly h: Float64Array },
    wires: WireList,
  ) => void;
}

const BETWEEN_VALUES = 6;
const OFF_BOX = 22;

export function besidesOf(input: LayoutInput): Besides {
  const lists = new Map<number, number[]>();
  for (let node = 0; node < input.form.length; node++) {
    if (input.form[node] !== FORM_VALUE && input.form[node] !== FORM_GHOST) continue;
    const host = input.host[node] ?? -1;
    lists.set(host, [...(lists.get(host) ?? []), node]);
  }
  const up = new Float64Array(input.form.length);
  const down = new Float64Array(input.form.length);
  const block = (node: number): number => (input.height[node] ?? 0) + (input.above[node] ?? 0);
  for (const [host, nodes] of lists) {
    const total = nodes.reduce((sum, node) => sum + block(node), BETWEEN_VALUES * (nodes.length - 1));
    const lone = nodes.length === 1 ? (nodes[0] ?? 0) : -1;
    up[host] = lone >= 0 ? (input.height[lone] ?? 0) / 2 + (input.above[lone] ?? 0) : total / 2;
    down[host] = lone >= 0 ? (input.height[lone] ?? 0) / 2 : total / 2;
  }
  const off = (node: number, half: number): number => Math.max(VALUE_OFF, half + OFF_BOX + (input.left[node] ?? 0));
  const room = (node: number, half: number): number => {
    const wide = (value: number): number => (input.width[value] ?? 0) + (input.left[value] ?? 0);
    const nodes = lists.get(node);
    return nodes ? off(node, half) - half + nodes.reduce((most, value) => Math.max(most, wide(value)), 0) : 0;
  };
  const place: Besides['place'] = (node, anchor, middle, half, at, wires) => {
    let top = middle - (up[node] ?? 0);
    const end = anchor - off(node, half);
    for (const value of lists.get(node) ?? []) {
      const width = input.width[value] ?? 0;
      const height = input.height[value] ?? 0;
      at.x[value] = end - width;
      at.y[value] = top + (input.above[value] ?? 0);
      at.w[value] = width;
      at.h[value] = height;
      const from = (at.y[value] ?? 0) + height / 2;
      top += block(value) + BETWEEN_VALUES;
      if (input.form[value] !== FORM_VALUE) continue;
      const boxLeft = anchor - half;
      const reach = (at.h[node] ?? 0) / 2 - 3;
      const to = Math.max(middle - reach, Math.min(middle + reach, from));
      const bend = end + OFF_BOX / 2;
      wires.addValue(value, to === from ? [end, from, boxLeft, to] : [end, from, bend, from, bend, to, boxLeft, to]);
    }
  };
  return { up, down, room, place };
}
