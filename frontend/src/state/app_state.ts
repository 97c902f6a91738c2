/** What the tab knows at this moment: one signal a fact. Written by actions.ts alone, read by panels. */

import { computed, signal } from '@preact/signals';
import { caseView } from '../model/case_view';
import type { Heat } from '../model/heat';
import type { ModelEntry, Status } from '../model/listing';
import type { Record } from '../model/record';

/** What is selected: an op, a module call (never a bare module: a never-called one is `module`), or a tensor, by its index in the record. */
export type Selection =
  | { readonly kind: 'op'; readonly id: number }
  | { readonly kind: 'call'; readonly id: number }
  | { readonly kind: 'module'; readonly id: number }
  | { readonly kind: 'tensor'; readonly id: number };

export type ThemeName = 'light' | 'dark';

export type Loading =
  | { readonly state: 'idle' }
  | { readonly state: 'loading'; readonly what: string; readonly bytes: number }
  | { readonly state: 'failed'; readonly what: string; readonly why: string; readonly wayOut: string };

/** Which of the two ways to look at a model fills the tab. */
export type Screen = 'graph' | 'memory';

export const models = signal<readonly ModelEntry[] | null>(null); // null before the first answer
export const current = signal<{ readonly run: string; readonly tag: string; readonly step: number } | null>(null);
export const loading = signal<Loading>({ state: 'idle' });
export const logged = signal<Record | null>(null); // the model as it was logged, all its cases together
export const pickedCase = signal(-1); // the one of its cases that is looked at, -1 for all of them
/** What every panel shows: the model in the case that is picked. */
export const record = computed(() => logged.value && caseView(logged.value, pickedCase.value));
export const status = signal<Status | null>(null);
export const reloadRequest = signal(0); // counts up when the models should be asked for again

export const screen = signal<Screen>('graph');

export const selection = signal<Selection | null>(null);
export const openCalls = signal<ReadonlySet<number>>(new Set()); // calls whose group is open in the graph
export const problemIndex = signal(0); // which of the record's problems the banner tells
export const problemShown = signal(false); // whether the card of four lines is open
export const allLabels = signal(false); // every edge labelled, not only where the shape changes
export const linkRequest = signal(0); // counts up when a link to this view should be copied
export const helpShown = signal(false); // the sheet of keys
export const outlineShown = signal(false); // only where the window is too narrow to show it always
export const notice = signal(''); // one short sentence for a moment, as "link copied"
export const theme = signal<ThemeName>('light');

/** Where the graph is looked at: centre in graph coordinates, and px per unit; null until it was fitted. */
export const view = signal<{ readonly x: number; readonly y: number; readonly zoom: number } | null>(null);
/** Counts up when the graph should bring the selection into sight, or fit everything. */
export const revealRequest = signal(0);
export const fitRequest = signal(0);

/** The memory screen: the op that is looked at (null: the peak), and what else is asked for. */
export const memoryCursor = signal<number | null>(null);
export const memorySizes = signal<readonly number[]>([]); // of the sizes that may be others, in their order; none: as logged
export const memoryVariant = signal(''); // `dtype bfloat16`: another way to train; "": as logged
export const deviceLimit = signal<number | null>(null); // GiB; null: nobody chose one
/** What fills the graph's nodes: the families of their ops, or a magnitude. */
export const heat = signal<Heat | null>(null);
