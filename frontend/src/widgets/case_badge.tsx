/** The letter of a case on its hue, as the graph's flags bear it. */

import type { VNode } from 'preact';
import { letterOf } from '../base/format';
import { TEXTS } from '../base/texts';
import { caseHue } from '../theme/tokens';

/** One badge; for readers it is nothing, as the name stands beside it. */
export function CaseBadge({ index }: { readonly index: number }): VNode {
  const hue = caseHue(index);
  return (
    <span class="case-badge" aria-hidden="true" style={{ background: `var(--c${hue}-fill)`, borderColor: `var(--c${hue})` }}>
      {letterOf(index)}
    </span>
  );
}

interface Props {
  readonly cases: readonly number[]; // those to name; none says nothing
  readonly all: readonly { readonly name: string }[];
}

/** Badges without their names, which are told as a tip and to readers. */
export function CaseBadges({ cases, all }: Props): VNode | null {
  if (cases.length === 0) return null;
  const words = TEXTS.onlyIn(cases.map((index) => all[index]?.name ?? ''));
  return (
    <span class="case-badges" data-tip={words}>
      {cases.map((index) => (
        <CaseBadge key={index} index={index} />
      ))}
      <span class="for-readers">{words}</span>
    </span>
  );
}

/** `only in A image, B text`, badges before the names. */
export function NamedCases({ lead, cases, all }: Props & { readonly lead: string }): VNode | null {
  if (cases.length === 0) return null;
  return (
    <div class="named-cases">
      <span class="muted">{lead}</span>
      {cases.map((index) => (
        <span key={index}>
          <CaseBadge index={index} /> {all[index]?.name}
        </span>
      ))}
    </div>
  );
}
