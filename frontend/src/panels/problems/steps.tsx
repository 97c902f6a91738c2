/** The way from problem to problem: forth, back, and a list of all. */

import type { VNode } from 'preact';
import { pathEnd } from '../../base/format';
import { TEXTS } from '../../base/texts';
import { placeText } from '../../model/four_lines';
import type { Problem } from '../../model/findings';
import { goToProblem, stepProblem } from '../../state/actions';
import { Icon } from '../../widgets/icon';
import { Menu, type Choice } from '../../widgets/menu';
import type { Told } from './told';

const PLACE_LENGTH = 40;

export function Steps({ told: { index, all } }: { readonly told: Told }): VNode | null {
  if (all.length < 2) return null;
  return (
    <span class="steps">
      <Menu
        label={TEXTS.pickProblem}
        face={<span class="muted">{TEXTS.problemOf(index + 1, all.length)}</span>}
        choices={all.map((problem, i): Choice => ({ key: String(i), group: '', content: <Entry problem={problem} /> }))}
        chosen={String(index)}
        choose={(key) => goToProblem(Number(key))}
      />
      <button type="button" class="button" aria-label={TEXTS.previousProblem} onClick={() => stepProblem(-1)}>
        <kbd>p</kbd>
        <Icon name="back" />
      </button>
      <button type="button" class="button" aria-label={TEXTS.nextProblem} onClick={() => stepProblem(1)}>
        <Icon name="closed" />
        <kbd>n</kbd>
      </button>
    </span>
  );
}

function Entry({ problem: { finding, severity } }: { readonly problem: Problem }): VNode {
  return (
    <span class="problem-entry">
      <Icon name={severity === 'error' ? 'error' : 'warn'} />
      <span>
        {finding.message.replace(/\.$/, '')}{' '}
        <span class="muted">{pathEnd(placeText(finding.file, finding.line), PLACE_LENGTH)}</span>
      </span>
    </span>
  );
}
