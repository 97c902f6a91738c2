/** The sheet of keys. */

import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { TEXTS } from '../base/texts';
import { toggleHelp } from '../state/actions';
import * as app from '../state/app_state';
import { KEYS } from '../state/keys';
import { Icon } from '../widgets/icon';

const NAMES: Readonly<Record<string, string>> = { Escape: 'Esc' };

export function HelpPanel(): VNode | null {
  const sheet = useRef<HTMLElement>(null);
  const shown = app.helpShown.value;
  useEffect(() => {
    if (!shown) return;
    const before = document.activeElement;
    sheet.current?.focus();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, [shown]);
  if (!shown) return null;
  const rows = [
    ...KEYS.map(({ id, does }) => [NAMES[id] ?? id, does] as const),
    ['← ↑ → ↓', TEXTS.helpArrows] as const,
    ['Enter', TEXTS.helpEnter] as const,
  ];
  return (
    <section class="sheet" role="dialog" aria-label={TEXTS.helpTitle} tabIndex={-1} ref={sheet}>
      <div class="sheet-head">
        <b>{TEXTS.helpTitle}</b>
        <button type="button" class="icon-button" onClick={toggleHelp} aria-label={TEXTS.close}>
          <Icon name="close" size={16} />
        </button>
      </div>
      <dl>
        {rows.map(([key, does]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
