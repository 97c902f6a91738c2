/** What lies over the graph's lower right corner: zoom, fit and labels. */

import type { VNode } from 'preact';
import { TEXTS } from '../../base/texts';
import type { Stage } from '../../render/stage';
import { fit, toggleLabels } from '../../state/actions';
import * as app from '../../state/app_state';

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
