/** What lies over the graph's lower left corner: words for the signs that are there. */

import type { VNode } from 'preact';
import { bytesText, shortCount } from '../../base/format';
import { TEXTS } from '../../base/texts';
import { pickedName } from '../../model/case_sets';
import type { Graph } from '../../model/graph';
import { besideProblem, legendOf, MOST_CASES, type Legend } from '../../model/graph_legend';
import { RAMP_STEPS, type Heat, type HeatMap } from '../../model/heat';
import * as app from '../../state/app_state';
import { FAMILIES } from '../../theme/tokens';
import { CaseBadge } from '../../widgets/case_badge';
import { Icon } from '../../widgets/icon';

interface Props {
  readonly graph: Graph;
  readonly heat?: HeatMap | null;
}

export function GraphLegend({ graph, heat = null }: Props): VNode | null {
  const legend = app.problemShown.value ? besideProblem(legendOf(graph)) : legendOf(graph);
  const { families, values, assumed } = legend;
  return (
    <div class="graph-legend">
      {assumed && (
        <ul aria-label={TEXTS.states}>
          <li>
            <span class="legend-sign">
              <i class="assumed-node" />
            </span>
            {TEXTS.assumed}
          </li>
        </ul>
      )}
      <Cases legend={legend} />
      {values.length > 0 && (
        <ul aria-label={TEXTS.valueMarks}>
          {values.map((origin) => (
            <li key={origin}>
              <span class="legend-sign">
                <Icon name={origin} size={14} />
              </span>
              {TEXTS.values[origin]}
            </li>
          ))}
        </ul>
      )}
      {heat && app.heat.value && !app.problemShown.value && <Ramp heat={app.heat.value} map={heat} />}
      {families.length > 0 && (
        <ul aria-label={TEXTS.families}>
          {families.map((family) => (
            <li key={family}>
              <span class="legend-sign">
                <i style={{ background: `var(--c${family})` }} />
              </span>
              {FAMILIES[family]}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** Each step of the ramp with the number that it goes up to. */
function Ramp({ heat, map }: { readonly heat: Heat; readonly map: HeatMap }): VNode | null {
  const text = heat === 'params' || heat === 'flops' ? shortCount : bytesText;
  const first = RAMP_STEPS - map.ends.length;
  return (
    <ul aria-label={TEXTS.heats[heat]}>
      <li>{TEXTS.heats[heat]}</li>
      {map.ends.map((end, i) => (
        <li key={i}>
          <span class="legend-sign">
            <i style={{ background: `var(--r${first + i})` }} />
          </span>
          {TEXTS.atMost(text(Math.round(end)))}
        </li>
      ))}
    </ul>
  );
}

function Cases({ legend }: { readonly legend: Legend }): VNode | null {
  const record = app.record.value;
  const { cases, differs, absent } = legend;
  if (!record || (cases.length === 0 && !differs && !absent)) return null;
  return (
    <ul aria-label={TEXTS.cases}>
      {cases.slice(0, MOST_CASES).map((index) => (
        <li key={index} class="cut-off">
          <span class="legend-sign">
            <CaseBadge index={index} />
          </span>
          {TEXTS.onlyIn([record.cases[index]?.name ?? ''])}
        </li>
      ))}
      {cases.length > MOST_CASES && <li>{TEXTS.moreLines(cases.length - MOST_CASES)}</li>}
      {differs && (
        <li>
          <span class="legend-sign">
            <span class="case-badge of-several" aria-hidden="true">
              ≈
            </span>
          </span>
          {TEXTS.differsInside}
        </li>
      )}
      {absent && (
        <li class="cut-off">
          <span class="legend-sign">
            <i class="not-run" />
          </span>
          {TEXTS.notRunIn(pickedName(record))}
        </li>
      )}
    </ul>
  );
}
