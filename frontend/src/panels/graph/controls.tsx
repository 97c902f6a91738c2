/** What lies over the graph's corners: zoom, fit and labels; the legend of the families that are there. */

import type { VNode } from 'preact';
import { TEXTS } from '../../base/texts';
import type { Graph } from '../../model/graph';
import type { Stage } from '../../render/stage';
import { fit, toggleLabels } from '../../state/actions';
import * as app from '../../state/app_state';
import { FAMILIES } from '../../theme/tokens';

const STEP = 1.25;

export function GraphControls({ stage, percent }: { readonly stage: Stage; readonly percent: number }): VNode {
  return (
    <div class="graph-controls">
      <button type="button" aria-label={TEXTS.zoomOut} onClick={() => stage.zoom(1 / STEP, undefined, true)}>
        −
      </button>
      <button
        type="button"
        class="graph-percent"
        title={TEXTS.zoomReset}
        onClick={() => stage.zoom(1 / stage.camera.zoom, undefined, true)}
      >
        {TEXTS.percent(percent)}
      </button>
      <button type="button" aria-label={TEXTS.zoomIn} onClick={() => stage.zoom(STEP, undefined, true)}>
        +
      </button>
      <button type="button" onClick={fit}>
        {TEXTS.fit} <kbd>f</kbd>
      </button>
      <button type="button" aria-pressed={app.allLabels.value} onClick={toggleLabels}>
        {TEXTS.labels} <kbd>l</kbd>
      </button>
    </div>
  );
}

/** The families in the order of their hues, grey last. */
export function GraphLegend({ graph }: { readonly graph: Graph }): VNode | null {
  const present = new Set(graph.nodes.filter((node) => node.kind === 'op' && !node.sign).map((node) => node.family));
  const families = FAMILIES.map((name, family) => ({ name, family })).filter(({ family }) => FAMILIES[family] !== undefined);
  const shown = [...families.slice(1), ...families.slice(0, 1)].filter(({ family }) =>
    [...present].some((one) => one === family),
  );
  if (!shown.length) return null;
  return (
    <ul class="graph-legend" aria-label={TEXTS.families}>
      {shown.map(({ name, family }) => (
        <li key={name}>
          <i style={{ background: `var(--c${family})` }} />
          {name}
        </li>
      ))}
    </ul>
  );
}
