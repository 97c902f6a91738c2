/** What lies over the graph's lower right corner: zoom, fit and labels. */

import type { VNode } from 'preact';
import { TEXTS } from '../../base/texts';
import { tellsFlops, tellsSavedBytes } from '../../model/costs';
import { HEATS, type Heat } from '../../model/heat';
import type { Stage } from '../../render/stage';
import { fit, setHeat, toggleLabels } from '../../state/actions';
import * as app from '../../state/app_state';
import { Menu } from '../../widgets/menu';

const STEP = 1.25;

/** What fills the nodes; only what the record tells. */
function HeatChoice(): VNode | null {
  const record = app.record.value;
  if (!record) return null;
  const told: Readonly<globalThis.Record<Heat, boolean>> = {
    params: true,
    paramBytes: true,
    outputBytes: true,
    savedBytes: tellsSavedBytes(record),
    flops: tellsFlops(record),
    live: record.memory !== null,
  };
  const heat = app.heat.value;
  return (
    <Menu
      label={TEXTS.heat}
      face={<span>{heat ? TEXTS.heats[heat] : TEXTS.heatOff}</span>}
      choices={[
        { key: '', group: '', content: TEXTS.heatOff },
        ...HEATS.filter((each) => told[each]).map((each) => ({ key: each, group: '', content: TEXTS.heats[each] })),
      ]}
      chosen={heat ?? ''}
      choose={(key) => setHeat(HEATS.find((each) => each === key) ?? null)}
    />
  );
}

export function GraphControls({ stage, percent }: { readonly stage: Stage; readonly percent: number }): VNode {
  return (
    <div class="graph-controls">
      <HeatChoice />
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
