/** The small arrow that opens and closes a row; rows without an inside keep its room free. */

import type { VNode } from 'preact';
import { Icon } from './icon';

export function Chevron({
  inside,
  open,
  toggle,
}: {
  readonly inside: boolean;
  readonly open: boolean;
  readonly toggle: () => void;
}): VNode {
  const press = (event: Event): void => {
    event.stopPropagation();
    toggle();
  };
  // The row itself carries aria-expanded and the keys: this is for the mouse only.
  return (
    <span class="chevron" onClick={inside ? press : undefined}>
      {inside && <Icon name={open ? 'open' : 'closed'} size={12} />}
    </span>
  );
}
