/** Lines of source with their numbers: the one meant, the one that introduced the number, and the call underlined. */

import type { VNode } from 'preact';
import { TEXTS } from '../base/texts';

interface Line {
  readonly line: number;
  readonly before: string;
  readonly call: string;
  readonly after: string;
  readonly tone: 'plain' | 'here' | 'origin' | 'never ran';
}

export function SourceView({ lines, failed }: { readonly lines: readonly Line[]; readonly failed: boolean }): VNode {
  return (
    <div class={failed ? 'source of-failed' : 'source'} tabIndex={0} role="group" aria-label={TEXTS.sourceHead}>
      {lines.map((line) => (
        <div key={line.line} class={`source-line ${line.tone.replace(' ', '-')}`}>
          <span class="line-number">{line.line}</span> {line.before}
          {line.call && <b class="source-call">{line.call}</b>}
          {line.after}
          {line.tone === 'never ran' && <span class="for-readers"> {TEXTS.neverRanLine}</span>}
        </div>
      ))}
    </div>
  );
}
