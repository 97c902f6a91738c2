/** Tabs over one place, for windows too narrow to show all at once. */

import type { ComponentChildren, VNode } from 'preact';
import { useId, useState } from 'preact/hooks';

export interface Tab {
  readonly id: string;
  readonly title: string;
  readonly content: ComponentChildren;
}

/** Only the chosen tab is drawn; arrows move between them. */
export function Tabs({ label, tabs }: { readonly label: string; readonly tabs: readonly Tab[] }): VNode {
  const [wanted, setWanted] = useState('');
  const id = useId();
  const chosen = tabs.find((tab) => tab.id === wanted) ?? tabs[0];
  const press = (event: KeyboardEvent): void => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    const next = by === 0 || !chosen ? undefined : tabs.at((tabs.indexOf(chosen) + by) % tabs.length);
    if (!next) return;
    setWanted(next.id);
    document.getElementById(`${id}-${next.id}`)?.focus();
  };
  return (
    <div class="tabs">
      <div class="tab-list" role="tablist" aria-label={label} onKeyDown={press}>
        {tabs.map((tab) => (
          <button
            type="button"
            role="tab"
            key={tab.id}
            id={`${id}-${tab.id}`}
            aria-selected={tab === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={tab === chosen ? 0 : -1}
            onClick={() => setWanted(tab.id)}
          >
            {tab.title}
          </button>
        ))}
      </div>
      <div class="tab-panel" role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${chosen?.id ?? ''}`}>
        {chosen?.content}
      </div>
    </div>
  );
}
