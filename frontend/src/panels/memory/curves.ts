/** The timeline's curves in as many points as its pixels: worked out anew only where a line, or the width, is another one. */

import { computed, signal } from '@preact/signals';
import { byteUnit } from '../../base/format';
import { PARTS } from '../../model/memory';
import { drawn, maximaOver, stretchesAbove, valuesAt } from '../../model/memory_lines';
import { byteAxis } from '../../model/scale';
import * as app from '../../state/app_state';
import { livesOf } from './subjects';
import { asked, askedLine, limit, lines, memory, selected, showsLimit } from './view';

/** px of the room that the curves are drawn in. */
export const widthPx = signal(800);

const points = computed(() => drawn(lines.value.total, widthPx.value));

export const xs = computed(() => points.value.starts);

/** The total, and what is below each part from the topmost on: temporaries, activations and so on; on all that is below it. */
export const tops = computed<readonly Float64Array[]>(() => {
  const below = new Float64Array(points.value.starts.length);
  const stacked = PARTS.map((_, part) => {
    const values = valuesAt(lines.value.parts[part] ?? new Float64Array(), points.value);
    for (let i = 0; i < below.length; i++) below[i] = values[i] = (values[i] ?? 0) + (below[i] ?? 0);
    return values;
  });
  return stacked.reverse();
});

/** What is asked for, over the same stretches. */
export const askedValues = computed(() => {
  const line = askedLine.value;
  return line ? maximaOver(line.total, points.value, line.along) : null;
});

export const unit = computed(() => byteUnit(lines.value.peak.bytes));

export const axis = computed(() => {
  const highest = Math.max(lines.value.peak.bytes, asked.value?.peak.bytes ?? 0);
  return byteAxis(1.04 * Math.max(highest, showsLimit.value ? limit.value : 0), unit.value);
});

/** From which op to which one what is selected has something alive. */
export const lives = computed(() => {
  const [record, told, of] = [app.record.value, memory.value, selected.value];
  return record && told && of ? stretchesAbove(livesOf(record, told, of.module)) : [];
});
