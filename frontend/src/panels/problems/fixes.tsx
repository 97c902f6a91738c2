/** What to try: changes that were run and complete the model, and apart from them suggestions that were not. */

import type { VNode } from 'preact';
import { TEXTS } from '../../base/texts';
import { fixCode, fixPieces } from '../../model/fix_words';
import type { Fix } from '../../model/record';
import { CopyButton } from '../../widgets/copy_button';
import { Icon } from '../../widgets/icon';

export function Fixes({ fixes }: { readonly fixes: readonly Fix[] }): VNode {
  const verified = fixes.filter((fix) => fix.verified);
  const suggested = fixes.filter((fix) => !fix.verified);
  return (
    <>
      {verified.length > 0 && <FixList fixes={verified} />}
      {suggested.length > 0 && (
        <div class={verified.length > 0 ? 'suggested apart' : 'suggested'}>
          <div class="muted">{TEXTS.maybe}</div>
          <FixList fixes={suggested} />
        </div>
      )}
    </>
  );
}

function FixList({ fixes }: { readonly fixes: readonly Fix[] }): VNode {
  return (
    <ul class="fixes">
      {fixes.map((fix) => (
        <li key={fix.text} class="fix">
          <FixText fix={fix} />
          {fix.verified ? (
            <span class="chip tone-ok">
              <Icon name="ok" /> {TEXTS.runs}
            </span>
          ) : (
            <span class="muted whole-words">{TEXTS.notVerified}</span>
          )}
          <CopyButton text={fixCode(fix.text)} what={fixCode(fix.text)} />
        </li>
      ))}
    </ul>
  );
}

function FixText({ fix }: { readonly fix: Fix }): VNode {
  return (
    <div class="fix-text">
      {fixPieces(fix.text).map(({ text, isCode }) => (isCode ? <b class="mono">{text}</b> : text))}
      {fix.cost && <div class="muted">{fix.cost}</div>}
    </div>
  );
}
