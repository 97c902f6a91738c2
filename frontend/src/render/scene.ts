/** A graph, its layout and a theme become a scene: what to draw, back to front, each thing made when it is first seen. */

import { grown, type Box } from '../base/geometry';
import { roomAfter, roomLeft, roomRight } from '../layout/text_size';
import { groupShapes, haloShapes, nodeShapes, SEEN } from './scene_nodes';
import { labelShapes, wireBox, wireShapes } from './scene_wires';
import { nodeBox, type SceneSource } from './scene_source';
import type { Shape } from './shapes';

/** One thing of a scene: a node, what glows round it, a line or its label; by the index of node or line. */
export interface Item {
  readonly kind: 'group' | 'halo' | 'wire' | 'label' | 'node';
  readonly index: number;
  readonly box: Box; // what it covers, words beside it included
}

const MAKERS: Readonly<Record<Item['kind'], (source: SceneSource, index: number) => readonly Shape[]>> = {
  group: groupShapes,
  halo: haloShapes,
  wire: wireShapes,
  label: labelShapes,
  node: nodeShapes,
};

export class Scene {
  readonly groups: Layer;
  private readonly halos: Layer;
  readonly wires: Layer;
  readonly nodes: Layer;
  private readonly labels: Layer;
  private readonly made = new Map<Item, readonly Shape[]>();

  constructor(readonly source: SceneSource) {
    const { graph, layout } = source;
    const groups: Item[] = [];
    const nodes: Item[] = [];
    const halos: Item[] = [];
    graph.nodes.forEach((node, index) => {
      const box = nodeBox(layout, index);
      if (node.open) groups.push({ kind: 'group', index, box });
      else nodes.push({ kind: 'node', index, box: reachOf(source, index, 1) });
      if (node.state === 'failed' && !node.open) halos.push({ kind: 'halo', index, box: grown(box, 5) });
    });
    this.groups = new Layer(groups);
    this.halos = new Layer(halos);
    this.nodes = new Layer(nodes);
    const wires = Array.from(layout.wires.ends, (_, index): Item => ({ kind: 'wire', index, box: wireBox(source, index) }));
    this.wires = new Layer(wires);
    this.labels = new Layer(
      wires.flatMap((wire) => (Number.isNaN(layout.wires.labelX[wire.index]) ? [] : [{ ...wire, kind: 'label' }])),
    );
  }

  get width(): number {
    return this.source.layout.width;
  }

  get height(): number {
    return this.source.layout.height;
  }

  /** The layers, back to front. */
  get layers(): readonly Layer[] {
    return [this.groups, this.halos, this.wires, this.labels, this.nodes];
  }

  /** The forms of one thing. */
  shapesOf(item: Item): readonly Shape[] {
    const known = this.made.get(item);
    if (known) return known;
    const shapes = MAKERS[item.kind](this.source, item.index);
    this.made.set(item, shapes);
    return shapes;
  }
}

/** Things of one layer by their upper end, so that those within a window are found without a look at all others. */
export class Layer {
  readonly items: readonly Item[];
  private readonly reach: Float64Array; // the lowest end of an item and all before it

  constructor(items: Item[]) {
    this.items = items.sort((a, b) => a.box.y - b.box.y || a.index - b.index);
    this.reach = new Float64Array(items.length);
    let lowest = -Infinity;
    items.forEach((item, i) => (this.reach[i] = lowest = Math.max(lowest, item.box.y + item.box.h)));
  }

  /** Calls back for each thing that touches the window, in order. */
  within(window: Box, visit: (item: Item) => void): void {
    for (let i = this.firstReaching(window.y); i < this.items.length; i++) {
      const item = this.items[i];
      if (!item || item.box.y > window.y + window.h) break;
      if (item.box.y + item.box.h >= window.y && item.box.x <= window.x + window.w && item.box.x + item.box.w >= window.x)
        visit(item);
    }
  }

  private firstReaching(y: number): number {
    let low = 0;
    let high = this.reach.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.reach[middle] ?? 0) < y) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** What a node covers with the words beside it. They keep their size: seen smaller, they reach farther. Without `remarks` those that tell of a failure don't count. */
export function reachOf({ graph, layout, measure }: SceneSource, index: number, zoom: number, remarks = true): Box {
  const box = nodeBox(layout, index);
  const node = graph.nodes[index];
  if (!node) return box;
  const scale = Math.min(1, Math.max(SEEN.name, zoom));
  const caption = node.caption && zoom >= SEEN.detail ? measure(node.caption, 'detail') / scale - box.w : 0;
  const left = Math.max(6, caption, roomLeft(node, measure) / scale);
  const signs = node.sign ? roomAfter(node) + 8 : 0;
  const right = Math.max(6 + signs, roomRight(node, measure, remarks) / scale);
  const above = node.caption ? 18 : 6;
  return { x: box.x - left, y: box.y - above, w: box.w + left + right, h: box.h + above + 6 };
}
