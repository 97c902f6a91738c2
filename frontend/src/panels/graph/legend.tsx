/** What lies over the graph's lower left corner: words for the signs that are there. */

import type { VNode } from 'preact';
import { TEXTS } from '../../base/texts';
import { pickedName } from '../../model/case_sets';
import type { Graph } from '../../model/graph';
import { besideProblem, legendOf, MOST_CASES, type Legend } from '../../model/graph_legend';
import * as app from '../../state/app_state';
import { FAMILIES } from '../../theme/tokens';
import { CaseBadge } from '../../widgets/case_badge';
import { Icon } from '../../widgets/icon';

export function GraphLegend({ graph }: { readonly graph: Graph }): VNode | null {
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
