/** The graph's marks as path data in a 16 × 16 box: a filled form, and the sign cut out of it. */

export type MarkName = 'error' | 'warn' | 'origin' | 'ghost' | 'open' | 'closed' | 'read' | 'assumed' | 'random';

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
  read: { fill: '', cut: '', stroke: `M1.5 8C4.5 3.8 11.5 3.8 14.5 8C11.5 12.2 4.5 12.2 1.5 8Z${circle(1.8)}`, dash: [] },
  assumed: { fill: '', cut: '', stroke: `${circle(6)}M6.2 6.4A1.8 1.8 0 1 1 8.8 8C8.2 8.3 8 8.6 8 9.2M8 11.2V11.3`, dash: [] },
  random: {
    fill: '',
    cut: '',
    stroke:
      'M4.5 2.5H11.5A2 2 0 0 1 13.5 4.5V11.5A2 2 0 0 1 11.5 13.5H4.5A2 2 0 0 1 2.5 11.5V4.5A2 2 0 0 1 4.5 2.5Z' +
      'M5.5 5.5V5.6M8 8V8.1M10.5 10.5V10.6',
    dash: [],
  },
  closed: { fill: '', cut: '', stroke: 'M6.5 4L10.5 8L6.5 12', dash: [] },
};
