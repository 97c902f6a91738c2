/** What a scene is made from. */

import type { Box } from '../base/geometry';
import type { Layout } from '../layout/layout';
import type { Measure } from '../layout/text_size';
import type { Graph } from '../model/graph';
import type { HeatMap } from '../model/heat';
import type { Theme } from '../theme/tokens';

/** Everything a painter needs to know of the graph. */
export interface SceneSource {
  readonly graph: Graph;
  readonly layout: Layout;
  readonly theme: Theme;
  readonly measure: Measure;
  readonly allLabels: boolean;
  readonly heat?: HeatMap | null; // fills nodes by a magnitude; absent: by the family of their op
}

/** The box of a node, words beside it left out. */
export function nodeBox(layout: Layout, node: number): Box {
  return { x: layout.x[node] ?? 0, y: layout.y[node] ?? 0, w: layout.w[node] ?? 0, h: layout.h[node] ?? 0 };
}
