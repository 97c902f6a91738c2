/** A choice among few, all of them seen: role radiogroup, moved in with the arrow keys. */

import type { VNode } from 'preact';
import { useId } from 'preact/hooks';

interface Props {
  readonly label: string;
  readonly choices: readonly { readonly key: string; readonly title: string }[];
  readonly chosen: string;
  readonly choose: (key: string) => void;
}

export function Segmented({ label, choices, chosen, choose }: Props): VNode {
  const id = useId();
  const press = (event: KeyboardEvent): void => {
    const by = ['ArrowRight', 'ArrowDown'].includes(event.key) ? 1 : ['ArrowLeft', 'ArrowUp'].includes(event.key) ? -1 : 0;
    const next = by === 0 ? undefined : choices.at((choices.findIndex(({ key }) => key === chosen) + by) % choices.length);
    if (!next) return;
    event.preventDefault();
    choose(next.key);
    document.getElementById(`${id}-${next.key}`)?.focus();
  };
  const reachable = choices.some(({ key }) => key === chosen) ? chosen : choices[0]?.key;
  return (
    <div class="segmented" role="radiogroup" aria-label={label} onKeyDown={press}>
      {choices.map(({ key, title }) => (
        <button
          type="button"
          role="radio"
          key={key}
          id={`${id}-${key}`}
          aria-checked={key === chosen}
          tabIndex={key === reachable ? 0 : -1}
          onClick={() => choose(key)}
        >
          {title}
        </button>
      ))}
    </div>
  );
}
