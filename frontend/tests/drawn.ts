/** A record drawn without a browser: text is measured by its length, so that goldens are the same on every machine. */

import type { Layout } from '../src/layout/layout';
import { layoutGraph } from '../src/layout/nested';
import { measureGraph, type Measure } from '../src/layout/text_size';
import type { Graph, GraphPlaces } from '../src/model/graph';
import { buildGraph, type GraphView } from '../src/model/graph_build';
import { graphIndex } from '../src/model/graph_index';
import type { Record } from '../src/model/record';
import { Scene } from '../src/render/scene';
import { THEMES } from '../src/theme';

export const measure: Measure = (text, style) => text.length * (style === 'failed' ? 8 : style === 'detail' ? 5.8 : 6.6);

export const allCalls = (record: Record): ReadonlySet<number> => new Set(record.calls.module.keys());

export const firstError = (record: Record): GraphView['finding'] =>
  record.findings.find(({ severity }) => severity === 'error') ?? null;

/** The graph with every group open, or as `view` says. */
export function graphOf(record: Record, view: Partial<GraphView> = {}): Graph & GraphPlaces {
  const usual = { openCalls: allCalls(record), revealed: new Set<number>(), finding: firstError(record), dims: true };
  return buildGraph(graphIndex(record), { ...usual, ...view });
}

export function layoutOf(graph: Graph, allLabels = false): Layout {
  return layoutGraph(measureGraph(graph, measure, allLabels));
}

export function sceneOf(record: Record, theme: 'light' | 'dark' = 'light', view: Partial<GraphView> = {}): Scene {
  const graph = graphOf(record, view);
  return new Scene({ graph, layout: layoutOf(graph), theme: THEMES[theme], measure, allLabels: false });
}
