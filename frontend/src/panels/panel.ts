/** What a panel is: a component that reads the state and calls actions, and the place on the screen that it fills. */

import type { ComponentType } from 'preact';

export type Slot = 'toolbar' | 'banner' | 'card' | 'outline' | 'graph' | 'inspector' | 'table' | 'memory' | 'empty' | 'sheet';

export interface Panel {
  readonly id: string;
  readonly slot: Slot;
  readonly title: string; // named where the panel fails
  readonly component: ComponentType;
}
