/** The cases of a model: what each ran, and the way to look at it alone. */

import type { VNode } from 'preact';
import { TEXTS } from '../../base/texts';
import { opsAlone } from '../../model/case_sets';
import type { Record } from '../../model/record';
import { pickCase } from '../../state/actions';
import { CaseBadge } from '../../widgets/case_badge';
import { Icon } from '../../widgets/icon';
import { Section } from '../../widgets/section';

/** Nothing for a single run. */
export function Cases({ record }: { readonly record: Record }): VNode | null {
  if (record.cases.length < 2) return null;
  const alone = opsAlone(record);
  return (
    <Section head={TEXTS.cases}>
      <ul class="lines">
        {record.cases.map((one, index) => (
          <li key={one.name} class="named-cases">
            <CaseBadge index={index} />
            <button type="button" class="link" aria-pressed={record.picked === index} onClick={() => pickCase(index)}>
              {one.name}
            </button>
            <span class="muted">
              {TEXTS.caseOps(one.ops.length)}
              {!!alone[index] && `, ${TEXTS.caseOpsAlone(alone[index])}`}
            </span>
            {!one.completed && (
              <span class="tone-error">
                <Icon name="error" /> {TEXTS.caseFailed}
              </span>
            )}
          </li>
        ))}
      </ul>
      {record.picked !== undefined && (
        <button type="button" class="link" onClick={() => pickCase(-1)}>
          {TEXTS.allCases}
        </button>
      )}
    </Section>
  );
}
