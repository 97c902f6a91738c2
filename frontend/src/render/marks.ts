/** The graph's marks as path data in a 16 × 16 box: a filled form, and the sign cut out of it. */

export type MarkName = 'error' | 'warn' | 'origin' | 'ghost' | 'open' | 'closed';

export interface MarkForm {
  readonly fill: string; // path, '' for none
  readonly cut: string; // filled with the ground
  readonly stroke: string; // in the ground's colour on a filled form, else in its own
  readonly dash: readonly number[];
}

const circle = (radius: number): string =>
  `M${8 + radius} 8A${radius} ${radius} 0 1 1 ${8 - radius} 8A${radius} ${radius} 0 1 1 ${8 + radius} 8Z`;

export const MARKS: Readonly<Record<MarkName, MarkForm>> = {
  error: { fill: circle(7), cut: '', stroke: 'M5.5 5.5L10.5 10.5M10.5 5.5L5.5 10.5', dash: [] },
  warn: { fill: 'M8 1.5L15 14H1Z', cut: '', stroke: 'M8 6V10M8 11.4V12.6', dash: [] },
  origin: { fill: 'M8 1L15 8L8 15L1 8Z', cut: circle(2), stroke: '', dash: [] },
  ghost: { fill: '', cut: '', stroke: circle(6), dash: [2.2, 2.2] },
  open: { fill: '', cut: '', stroke: 'M4 6.5L8 10.5L12 6.5', dash: [] },
  closed: { fill: '', cut: '', stroke: 'M6.5 4L10.5 8L6.5 12', dash: [] },
};
