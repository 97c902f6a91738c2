/** Branches that no run took: the head that leads to each, where it stands, and the link to copy. */

import type { VNode } from 'preact';
import { TEXTS } from '../../base/texts';
import { linesText } from '../../model/never_ran';
import type { Branch } from '../../model/record';
import { CopyButton } from '../../widgets/copy_button';
import { Code, Section } from '../../widgets/section';

const MANY = 100;

/** Nothing where nobody asked; `whole` also says that every branch ran. */
export function NeverRan(props: { readonly branches: readonly Branch[] | null; readonly whole: boolean }): VNode | null {
  const { branches, whole } = props;
  if (branches === null || (branches.length === 0 && !whole)) return null;
  if (branches.length === 0)
    return (
      <Section head={TEXTS.branches}>
        <p class="muted">{TEXTS.everyBranchRan}</p>
      </Section>
    );
  return (
    <Section head={TEXTS.neverRan(branches.length)}>
      <ul class="lines never-ran">
        {branches.slice(0, MANY).map((branch, i) => (
          <li key={i}>
            <Code text={branch.code} />
            <span class="place-line">
              <span class="place muted">
                {linesText(branch)}
                <CopyButton text={linesText(branch)} what={linesText(branch)} />
              </span>
              {branch.function && <span class="mono muted wraps">{branch.function}</span>}
            </span>
          </li>
        ))}
        {branches.length > MANY && <li class="muted">{TEXTS.moreLines(branches.length - MANY)}</li>}
      </ul>
    </Section>
  );
}
