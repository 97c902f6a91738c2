/** What a theme is: the colours by their job, and the mixes that are computed from them once. */

import { mix } from '../base/colour';

/** The colours that a theme file writes down. */
export interface Palette {
  readonly surface: string;
  readonly sunken: string;
  readonly raised: string;
  readonly text: string;
  readonly muted: string;
  readonly ghost: string;
  readonly line: string;
  readonly lines: string;
  readonly edge: string;
  readonly accent: string;
  readonly accentTint: string;
  readonly error: string;
  readonly errorTint: string;
  readonly warn: string;
  readonly warnTint: string;
  readonly origin: string;
  readonly ok: string;
  readonly okTint: string;
  readonly bar: string;
  /** c0 grey to c6 plum. */
  readonly hues: readonly string[];
  /** r0 to r5, magnitudes. */
  readonly ramp: readonly string[];
}

/** How much of a hue is laid into the surface. */
export interface Mixes {
  readonly tint: number;
  readonly mid: number;
  readonly fill: number;
}

export interface Theme extends Palette {
  readonly name: 'light' | 'dark';
  readonly tints: readonly string[];
  readonly mids: readonly string[];
  readonly fills: readonly string[];
}

/** The whole theme of a palette: its hues also mixed into its surface. */
export function themeOf(name: Theme['name'], palette: Palette, mixes: Mixes): Theme {
  const mixed = (part: number): string[] => palette.hues.map((hue) => mix(hue, palette.surface, part));
  return { ...palette, name, tints: mixed(mixes.tint), mids: mixed(mixes.mid), fills: mixed(mixes.fill) };
}

/** Families of ops in the order of their hues; the same words in every legend. */
export const FAMILIES = [
  'shape only, other',
  'linear',
  'convolution',
  'activation',
  'norm, dropout',
  'attention',
  'pool, resample, reduce',
] as const;

/** Hues of what memory is made of, from below as charts stack it. */
export const PART_HUES = { parameters: 1, optimizer: 5, gradients: 6, inputs: 0, activations: 2, temporaries: 4 } as const;

/** Of the six hues those that are farthest apart for everyone stand first: most models have two cases. */
const CASE_HUES = [1, 4, 6, 2, 5, 3] as const;

/** The hue of a case by its index; after six they come again, and the letter alone tells cases apart. */
export function caseHue(index: number): number {
  return CASE_HUES[index % CASE_HUES.length] ?? 0;
}

export const FONT_UI = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
export const FONT_MONO = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace';
