/** What is alive over an iteration, and how it changes with sizes and ways to train, off the wire. */

import { PHASES, TERMS, type AllocationColumns, type Memory, type PhaseEnd, type Scale, type WhatIf } from '../model/record';
import { checkedColumn, counted, damaged, fromZero, minusOne, running, tableOf } from './columns';
import type { Memory as Message, Reason, WhatIf as WhatIfMessage } from './gen/shapes/v1/record_pb';

interface Sizes {
  readonly strings: number;
  readonly shapes: number;
  readonly modules: number;
  readonly calls: number;
}

/** The memory that a message tells, with so many scales; RecordError where its columns don't fit each other. */
export function memoryOf(message: Message, size: Sizes, scales: number): Memory {
  const ops = message.ops?.name.length ?? 0;
  const table = tableOf('memory.ops', ops);
  return {
    ops: {
      name: table.index('name', message.ops?.name, size.strings),
      call: table.indexOrNone('call', minusOne(running(message.ops?.call ?? [])), size.calls),
    },
    phases: phasesOf(message, ops),
    allocations: allocationsOf(message, size, ops, scales),
    savedInputBytes: Number(message.savedInputBytes),
    savedBufferBytes: Number(message.savedBufferBytes),
    unknown: reasonsOf(message.unknown),
    estimated: reasonsOf(message.estimated),
  };
}

function phasesOf(message: Message, ops: number): readonly PhaseEnd[] {
  const ends = checkedColumn('memory.phase_end', message.phaseEnd, ops + 1);
  const phases = checkedColumn('memory.phase', message.phase, PHASES.length);
  if (ends.length !== phases.length) throw damaged('memory.phase', `has ${phases.length} rows, its ends have ${ends.length}`);
  return Array.from(phases, (phase, i) => ({ phase: PHASES[phase] ?? 'forward', end: ends[i] ?? 0 }));
}

function allocationsOf(message: Message, size: Sizes, ops: number, scales: number): AllocationColumns {
  const from = message.allocations;
  const table = tableOf('memory.allocations', from?.bytes.length ?? 0);
  return {
    bytes: Float64Array.from(from?.bytes ?? [], Number),
    term: table.index('term', from?.term, TERMS.length),
    born: table.indexOrNone('born', minusOne(running(from?.born ?? [])), ops),
    life: table.plain('life', from?.life),
    owner: table.indexOrNone('owner', minusOne(running(from?.owner ?? [])), size.modules),
    name: table.index('name', running(from?.name ?? []), size.strings),
    keptBy: table.indexOrNone('kept_by', minusOne(running(from?.keptBy ?? [])), ops),
    shape: table.index('shape', from?.shape, size.shapes),
    dtype: table.index('dtype', from?.dtype, size.strings),
    scale: table.index('scale', from?.scale, scales),
  };
}

/** What a message tells of other sizes and ways to train; RecordError where its columns don't fit each other. */
export function whatIfOf(message: WhatIfMessage, size: Sizes): WhatIf {
  const sizes = message.sizes.map(({ name, logged, least, step, axes }) => ({
    name,
    logged: Number(logged),
    least: Number(least),
    step: Number(step),
    axes,
  }));
  const scales = message.scales.map((scale): Scale => {
    const { offsets, values } = counted('what_if.scales', scale.count, scale.coefficients);
    if (scale.count.length !== sizes.length)
      throw damaged('what_if.scales', `has ${scale.count.length} rows, there are ${sizes.length} sizes`);
    return Array.from(scale.count, (_, i) => fromZero(values.subarray(offsets[i], offsets[i + 1])));
  });
  const variants = message.variants.flatMap(({ kind, name, memory }) =>
    memory ? [{ kind, name, memory: memoryOf(memory, size, scalesIn(scales)) }] : [],
  );
  return { sizes, scales, variants, unknown: reasonsOf(message.unknown) };
}

/** How many scales an allocation can point at: without any there is the one that never changes. */
export function scalesIn(scales: readonly unknown[]): number {
  return Math.max(1, scales.length);
}

function reasonsOf(from: readonly Reason[]): ReadonlyMap<string, string> {
  return new Map(from.map(({ name, reason }) => [name, reason]));
}
