/** Memory as tests write it down, and the columns that become of it. */

import { PHASES, TERMS, type Memory, type Phase, type Term, type WhatIf } from '../src/model/record';
import { ints, type Interned } from './interned';

/** Memory as it is written down: ops by name and call, storages by what isn't usual of them. */
export interface MemoryRows {
  readonly ops: readonly (readonly [name: string, call: number])[];
  readonly phases: readonly (readonly [phase: Phase, end: number])[];
  readonly storages: readonly StorageRow[];
  readonly unknown?: Readonly<globalThis.Record<string, string>>;
  readonly estimated?: Readonly<globalThis.Record<string, string>>;
}
export interface StorageRow {
  readonly bytes: number;
  readonly term: Term;
  readonly born?: number;
  readonly life?: number; // else up to the end
  readonly owner?: string; // a module's path
  readonly name?: string;
  readonly keptBy?: number;
  readonly shape?: readonly number[];
  readonly dtype?: string;
  readonly scale?: number;
}
export type WhatIfRows = Omit<WhatIf, 'variants' | 'unknown'> & {
  readonly variants?: readonly (readonly [kind: string, name: string, memory: MemoryRows])[];
  readonly unknown?: Readonly<globalThis.Record<string, string>>;
};

/** The columns of it; `modules` are numbers by path. */
export function builtMemory(
  rows: MemoryRows,
  text: Interned<string>,
  shapes: Interned<readonly number[]>,
  modules: ReadonlyMap<string, number>,
): Memory {
  const { storages, ops } = rows;
  return {
    ops: { name: ints(ops, ([name]) => text.of(name)), call: ints(ops, ([, call]) => call) },
    phases: rows.phases.map(([phase, end]) => ({ phase: PHASES.includes(phase) ? phase : 'forward', end })),
    allocations: {
      bytes: Float64Array.from(storages, ({ bytes }) => bytes),
      term: ints(storages, ({ term }) => TERMS.indexOf(term)),
      born: ints(storages, ({ born = -1 }) => born),
      life: ints(storages, ({ born = -1, life }) => life ?? ops.length - Math.max(born, 0)),
      owner: ints(storages, ({ owner }) => (owner === undefined ? -1 : (modules.get(owner) ?? -1))),
      name: ints(storages, ({ name = '' }) => text.of(name)),
      keptBy: ints(storages, ({ keptBy = -1 }) => keptBy),
      shape: ints(storages, ({ shape = [] }) => shapes.of(shape)),
      dtype: ints(storages, ({ dtype = 'float32' }) => text.of(dtype)),
      scale: ints(storages, ({ scale = 0 }) => scale),
    },
    savedInputBytes: 0,
    savedBufferBytes: 0,
    unknown: new Map(Object.entries(rows.unknown ?? {})),
    estimated: new Map(Object.entries(rows.estimated ?? {})),
  };
}
