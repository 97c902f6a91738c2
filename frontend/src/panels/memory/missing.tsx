/** In place of the memory screen: why nothing was recorded, and what to do. */

import type { VNode } from 'preact';
import { TEXTS } from '../../base/texts';
import type { Record } from '../../model/record';
import { showScreen } from '../../state/actions';
import { CopyButton } from '../../widgets/copy_button';

export function NoMemory({ record }: { readonly record: Record }): VNode {
  const code = TEXTS.noMemoryCode;
  const isAsked = record.memory !== null;
  const failed = !record.completed;
  const several = record.cases.length > 0;
  const why = [...new Set(record.memory?.unknown.values() ?? [])];
  return (
    <section class="no-memory scrolls" aria-label={TEXTS.memory}>
      <h2>{TEXTS.noMemoryTitle}</h2>
      {why.map((reason) => (
        <p key={reason}>{TEXTS.unknownWhy(reason)}</p>
      ))}
      {isAsked && why.length === 0 && <p>{TEXTS.noOps}</p>}
      {!isAsked && several && <p>{TEXTS.noMemoryCases}</p>}
      {!isAsked && !several && failed && (
        <>
          <p>{TEXTS.noMemoryFailed}</p>
          <button type="button" class="button" onClick={() => showScreen('graph')}>
            {TEXTS.toTheProblem}
          </button>
        </>
      )}
      {!isAsked && !several && !failed && (
        <>
          <div class="code-head">
            <p>{TEXTS.noMemoryAsked}</p>
            <CopyButton text={code.join('\n')} what={TEXTS.noMemoryTitle} />
          </div>
          <div class="code" tabIndex={0} role="region" aria-label={TEXTS.noMemoryTitle}>
            {code.map((line) => (
              <div key={line}>{line}</div>
            ))}
          </div>
        </>
      )}
    </section>
  );
}
