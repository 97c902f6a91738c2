/** The keys that work anywhere in the tab: one line a key, shown in the sheet of keys. */

import { registry } from '../base/registry';
import { TEXTS } from '../base/texts';
import { back, copyLink, fit, nextCase, stepProblem, switchScreen, toggleHelp, toggleLabels } from './actions';

export interface Key {
  readonly id: string; // KeyboardEvent.key
  readonly does: string;
  readonly run: () => void;
}

export const KEYS: readonly Key[] = registry([
  { id: 'n', does: TEXTS.helpNext, run: () => stepProblem(1) },
  { id: 'p', does: TEXTS.helpPrevious, run: () => stepProblem(-1) },
  { id: 'm', does: TEXTS.helpScreen, run: switchScreen },
  { id: 'f', does: TEXTS.helpFit, run: fit },
  { id: 'l', does: TEXTS.helpLabels, run: toggleLabels },
  { id: 'c', does: TEXTS.helpCase, run: nextCase },
  { id: 'y', does: TEXTS.helpCopy, run: copyLink },
  { id: '?', does: TEXTS.helpHelp, run: toggleHelp },
  { id: 'Escape', does: TEXTS.helpBack, run: back },
]);

/** Whether a key press is meant for us: no modifier, and not into a field. */
export function isPlainKey(event: KeyboardEvent): boolean {
  const target = event.target instanceof Element ? event.target : null;
  return (
    !event.ctrlKey &&
    !event.metaKey &&
    !event.altKey &&
    !event.defaultPrevented &&
    !target?.closest('input:not([type=range]), textarea, select, [role=listbox]')
  );
}
