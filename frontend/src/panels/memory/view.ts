/** What the memory screen shows, worked out once per record, way to train and sizes: everything below reads it here. */

import { computed } from '@preact/signals';
import { bytesText, byteUnit, inUnit } from '../../base/format';
import { TEXTS } from '../../base/texts';
import { pathOf } from '../../model/calls';
import { GIB, isNear, limitFor } from '../../model/device';
import { isTraining, opCount } from '../../model/memory';
import { memoryRows } from '../../model/memory_alive';
import { alongside, linesOf, totalLine, type Lines } from '../../model/memory_lines';
import { memoryTree } from '../../model/memory_tree';
import type { Memory, Size, Variant, WhatIf } from '../../model/record';
import { allowedSize, bytesWith, factorsOf, loggedSizes, peakWith } from '../../model/what_if';
import * as app from '../../state/app_state';
import { moduleOfSelection } from './subjects';

export const memory = computed<Memory | null>(() => {
  const told = app.record.value?.memory ?? null;
  return told && opCount(told) > 0 ? told : null;
});

export const whatIf = computed<WhatIf | null>(() => app.record.value?.whatIf ?? null);

const NO_LINES: Lines = { total: new Float64Array(), parts: [], peak: { op: -1, bytes: 0 } };

/** Of the steady training step, or of the forward, as it was logged. */
export const lines = computed<Lines>(() => (memory.value ? linesOf(memory.value) : NO_LINES));

export const tree = computed(() =>
  app.record.value && memory.value
    ? memoryTree(app.record.value, memory.value)
    : { nodes: [], nodeOfModule: new Int32Array(), nodeOfStorage: new Int32Array() },
);

/** The op that is looked at. */
export const cursor = computed(() => {
  const asked = app.memoryCursor.value;
  return asked === null ? lines.value.peak.op : Math.max(0, Math.min(asked, lines.value.total.length - 1));
});

export const aliveBytes = computed(() => lines.value.total[cursor.value] ?? 0);

export const rows = computed(() => (memory.value ? memoryRows(memory.value, tree.value, cursor.value) : []));

/** Bytes of the device. */
export const limit = computed(() => (app.deviceLimit.value ?? limitFor(lines.value.peak.bytes)) * GIB);

/** `24 GiB`. */
export const limitText = computed(() => `${Number((limit.value / GIB).toFixed(2))} ${TEXTS.gib}`);

/** Whether the device is drawn as a line: else it is so far above that nothing could be seen. */
export const showsLimit = computed(() => isNear(Math.max(lines.value.peak.bytes, asked.value?.peak.bytes ?? 0), limit.value));

/** Whether whole steps were run. */
export const training = computed(() => memory.value !== null && isTraining(memory.value));

/** Why a figure is no exact one. */
export function standing(figure: string): { readonly unknown: string | null; readonly estimated: string | null } {
  const told = app.record.value?.memory;
  return { unknown: told?.unknown.get(figure) ?? null, estimated: told?.estimated.get(figure) ?? null };
}

/** The other way to train that is asked for. */
export const variant = computed<Variant | null>(
  () => whatIf.value?.variants.find((each) => variantKey(each) === app.memoryVariant.value) ?? null,
);

/** What it goes by: dtypes and optimizers have names of their own. */
export const variantText = ({ kind, name }: Variant): string => TEXTS.way(kind, name);

export const variantKey = ({ kind, name }: Variant): string => `${kind} ${name}`;

/** The sizes that are asked for. */
export const sizes = computed<readonly number[]>(() => {
  const asks = whatIf.value;
  if (!asks) return [];
  const wanted = app.memorySizes.value;
  return asks.sizes.map((size, i) => (wanted[i] === undefined ? size.logged : allowedSize(size, wanted[i])));
});

export interface Asked {
  readonly name: string; // `batch 192, bfloat16`
  readonly memory: Memory;
  readonly peak: { readonly op: number; readonly bytes: number };
  readonly factors: Float64Array;
}

/** The memory of what is asked for; null where that is what was logged. */
export const asked = computed<Asked | null>(() => {
  const [asks, logged] = [whatIf.value, memory.value];
  if (!asks || !logged) return null;
  const others = asks.sizes.filter((size, i) => sizes.value[i] !== size.logged);
  if (others.length === 0 && !variant.value) return null;
  const of = variant.value?.memory ?? logged;
  const factors = factorsOf(asks, sizes.value);
  return { name: askedName(asks, others), memory: of, peak: peakWith(of, factors), factors };
});

function askedName(asks: WhatIf, others: readonly Size[]): string {
  const words = others.map((size) => `${size.name} ${sizes.value[asks.sizes.indexOf(size)] ?? size.logged}`);
  return [...words, ...(variant.value ? [variantText(variant.value)] : [])].join(', ');
}

/** `batch 256, sequence 128`, as it was logged. */
export const loggedText = computed(() => {
  const asks = whatIf.value;
  return asks ? asks.sizes.map(({ name }, i) => `${name} ${loggedSizes(asks)[i] ?? ''}`).join(', ') : '';
});

/** The line of what is asked for, and which of its ops stands beside one of the logged. */
export const askedLine = computed(() => {
  const [now, logged] = [asked.value, memory.value];
  if (!now || !logged) return null;
  return { total: totalLine(now.memory, bytesWith(now.memory, now.factors)), along: alongside(logged, now.memory) };
});

/** The module that is selected anywhere, and its node of the tree; null where nothing of the model is. */
export const selected = computed(() => {
  const record = app.record.value;
  const module = record ? moduleOfSelection(record, app.selection.value) : -1;
  const node = tree.value.nodeOfModule[module] ?? -1;
  return record && module >= 0 ? { module, node, name: pathOf(record, module) || TEXTS.theModel } : null;
});

export const bytes = (of: number): string => bytesText(Math.round(of));

/** With two decimals whatever the size, for the numbers that decide: `29.58 GiB`. */
export function fine(of: number): string {
  const unit = byteUnit(of);
  return `${inUnit(of, unit, 2)} ${unit.name}`;
}
