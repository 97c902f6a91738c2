/** A button that copies a text and says so for a moment. */

import { useEffect, useState } from 'preact/hooks';
import type { VNode } from 'preact';
import { TEXTS } from '../base/texts';
import { copyText } from './clipboard';
import { Icon } from './icon';

const SAID_MS = 1500;

/** `what` names the text for readers; `worded` writes "copy" beside the icon. */
export function CopyButton({
  text,
  what,
  worded = false,
}: {
  readonly text: string;
  readonly what: string;
  readonly worded?: boolean;
}): VNode {
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(false), SAID_MS);
    return () => clearTimeout(timer);
  }, [done]);
  const copy = (): void => void copyText(text).then(setDone);
  return (
    <button
      type="button"
      class={worded ? 'button' : 'icon-button'}
      onClick={copy}
      aria-label={TEXTS.copyWhat(what)}
      data-tip={TEXTS.copyWhat(what)}
    >
      <Icon name={done ? 'ok' : 'copy'} size={worded ? 14 : 16} />
      {worded && <span>{done ? TEXTS.copied : TEXTS.copy}</span>}
    </button>
  );
}
