/** A button that opens a list to choose one entry from: role listbox, moved in with arrows, closed with Esc. */

import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ComponentChildren, VNode } from 'preact';
import { Icon } from './icon';

export interface Choice {
  readonly key: string;
  readonly group: string; // a heading stands before the first of each
  readonly content: ComponentChildren;
}

interface Props {
  readonly label: string;
  readonly face: ComponentChildren;
  readonly choices: readonly Choice[];
  readonly chosen: string;
  readonly choose: (key: string) => void;
}

export function Menu({ label, face, choices, chosen, choose }: Props): VNode {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!open) return;
    const outside = (event: Event): void => {
      if (event.target instanceof Node && !root.current?.contains(event.target)) setOpen(false);
    };
    document.addEventListener('pointerdown', outside);
    return () => document.removeEventListener('pointerdown', outside);
  }, [open]);
  const close = (): void => {
    setOpen(false);
    button.current?.focus();
  };
  const take = (key: string): void => {
    close();
    choose(key);
  };
  return (
    <div class="menu" ref={root}>
      <button
        type="button"
        class="menu-face"
        ref={button}
        aria-haspopup="listbox"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        <span class="for-readers">{label}: </span>
        {face}
        <Icon name="open" size={12} />
      </button>
      {open && (
        <MenuList label={label} choices={choices} chosen={chosen} take={take} close={close} leave={() => setOpen(false)} />
      )}
    </div>
  );
}

interface ListProps {
  readonly label: string;
  readonly choices: readonly Choice[];
  readonly chosen: string;
  readonly take: (key: string) => void;
  readonly close: () => void;
  readonly leave: () => void; // focus goes on by itself
}

function MenuList({ label, choices, chosen, take, close, leave }: ListProps): VNode {
  const start = choices.findIndex(({ key }) => key === chosen);
  const [at, setAt] = useState(Math.max(0, start));
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => list.current?.focus(), []);
  useEffect(() => document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: 'nearest' }), [at, id]);
  const press = (event: KeyboardEvent): void => {
    const steps: Readonly<Record<string, number>> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: choices.length - 1 };
    const to = steps[event.key];
    event.stopPropagation();
    if (event.key === 'Tab') {
      leave();
      return;
    }
    if (to !== undefined) setAt(Math.max(0, Math.min(choices.length - 1, to)));
    else if (event.key === 'Enter' || event.key === ' ') take(choices[at]?.key ?? chosen);
    else if (event.key === 'Escape') close();
    else return;
    event.preventDefault();
  };
  const active = `${id}-${at}`;
  return (
    <div
      class="menu-list"
      ref={list}
      role="listbox"
      tabIndex={0}
      aria-label={label}
      aria-activedescendant={active}
      onKeyDown={press}
    >
      {choices.map((choice, i) => (
        <div key={choice.key} role="presentation">
          {choice.group !== choices[i - 1]?.group && choice.group !== '' && <div class="menu-group">{choice.group}</div>}
          <div
            id={`${id}-${i}`}
            role="option"
            class={i === at ? 'menu-choice at' : 'menu-choice'}
            aria-selected={choice.key === chosen}
            onPointerMove={() => setAt(i)}
            onClick={() => take(choice.key)}
          >
            {choice.content}
          </div>
        </div>
      ))}
    </div>
  );
}
