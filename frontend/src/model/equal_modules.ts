/** Modules that are built alike: equal neighbours in a list are told once, as ×12. */

import { childModules, moduleType, pathOf } from './calls';
import type { Record } from './record';

/** A number for each module; equal ones have the same class, settings and inside. */
export function kindsOfModules(record: Record): Int32Array {
  const children = childModules(record);
  const known = new Map<string, number>();
  const kinds = new Int32Array(record.modules.path.length);
  // Parents stand before children: backwards, the inside of a module is known before it is asked for.
  for (let module = kinds.length - 1; module >= 0; module--) {
    const inside = (children[module] ?? []).map((child) => `${lastOfPath(record, child)}:${kinds[child] ?? 0}`);
    const key = `${moduleType(record, module)}|${record.modules.config[module] ?? 0}|${inside.join()}`;
    const kind = known.get(key) ?? known.size;
    known.set(key, kind);
    kinds[module] = kind;
  }
  return kinds;
}

/** The last part of a module's path: `0`, `fc1`. */
export function lastOfPath(record: Record, module: number): string {
  const path = pathOf(record, module);
  return path.slice(path.lastIndexOf('.') + 1);
}

/** Neighbours in stretches: equal ones that are numbered, as in a list, together; every other one alone. */
export function equalRuns(record: Record, kinds: Int32Array, modules: readonly number[]): readonly (readonly number[])[] {
  const runs: number[][] = [];
  for (const module of modules) {
    const run = runs.at(-1);
    const before = run?.[0] ?? -1;
    const isEqual = before >= 0 && kinds[before] === kinds[module] && isNumbered(record, before) && isNumbered(record, module);
    if (isEqual) run?.push(module);
    else runs.push([module]);
  }
  return runs;
}

const isNumbered = (record: Record, module: number): boolean => /^\d+$/.test(lastOfPath(record, module));
