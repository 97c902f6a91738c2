/** The choice of a case, for a model that was logged with several inputs: all of them together, or one alone. */

import type { VNode } from 'preact';
import { TEXTS } from '../../base/texts';
import type { Case } from '../../model/record';
import { pickCase } from '../../state/actions';
import * as app from '../../state/app_state';
import { CaseBadge } from '../../widgets/case_badge';
import { Icon } from '../../widgets/icon';
import { Menu, type Choice } from '../../widgets/menu';

export function CasePicker(): VNode | null {
  const cases = app.logged.value?.cases ?? [];
  if (cases.length < 2) return null;
  const picked = app.pickedCase.value;
  const one = cases[picked];
  const face = one ? (
    <>
      <CaseBadge index={picked} />
      <b>{one.name}</b>
    </>
  ) : (
    <>
      <b>{TEXTS.allCases}</b>
      <span class="muted">{cases.length}</span>
    </>
  );
  const all: Choice = { key: '-1', group: '', content: <b>{TEXTS.allCases}</b> };
  const choices = cases.map((each, index): Choice => ({
    key: String(index),
    group: '',
    content: <Entry index={index} one={each} />,
  }));
  return (
    <Menu
      label={TEXTS.pickCase}
      face={face}
      choices={[all, ...choices]}
      chosen={String(picked)}
      choose={(key) => pickCase(Number(key))}
    />
  );
}

function Entry({ index, one }: { readonly index: number; readonly one: Case }): VNode {
  return (
    <span class="entry">
      <CaseBadge index={index} />
      <b>{one.name}</b>
      <span class="muted">{TEXTS.caseOps(one.ops.length)}</span>
      <span class="spring" />
      {!one.completed && (
        <span class="tone-error">
          <Icon name="error" /> {TEXTS.caseFailed}
        </span>
      )}
    </span>
  );
}
