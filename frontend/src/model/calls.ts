/** Modules, their calls and their ops: names, parents, who was never called. */

import { compactConfig } from './graph_words';
import type { Record } from './record';

const text = (record: Record, column: Int32Array, row: number): string => record.strings[column[row] ?? 0] ?? '';

/** A module's dotted path, "" for the root. */
export const pathOf = (record: Record, module: number): string => text(record, record.modules.path, module);

/** A module's class. */
export const moduleType = (record: Record, module: number): string => text(record, record.modules.type, module);

/** A module's class with all its settings, as PyTorch prints it: `Linear(in_features=84, out_features=10, bias=True)`. */
export function typeWithConfig(record: Record, module: number): string {
  const config = text(record, record.modules.config, module);
  return config.includes('\n') || config === '' ? moduleType(record, module) : `${moduleType(record, module)}(${config})`;
}

/** A module's class with what matters of its settings, as the graph writes it: `Linear 84→10`. */
export function typeInShort(record: Record, module: number): string {
  const type = moduleType(record, module);
  return `${type} ${compactConfig(type, text(record, record.modules.config, module))}`.trim();
}

/** What a module is called on the screen: its path, seen from `below`; the root has the model's class. */
export function moduleName(record: Record, module: number, below = ''): string {
  const path = pathOf(record, module);
  if (path === '') return moduleType(record, module) || record.name;
  return below !== '' && path.startsWith(`${below}.`) ? path.slice(below.length + 1) : path;
}

/** The end of a module's path that people know it by: `fc1`; of one in a list with its list's name: `layer.0`. */
export function endOfPath(path: string): string {
  const parts = path.split('.');
  const known = parts.findLastIndex((part) => !/^\d+$/.test(part));
  return parts.slice(Math.max(0, known)).join('.');
}

/** The last part of an op's name: `conv2d`. */
export function opName(record: Record, op: number): string {
  const name = text(record, record.ops.name, op);
  return name.slice(name.lastIndexOf('.') + 1);
}

/** An op's full name: `torch.nn.functional.conv2d`. */
export const opFullName = (record: Record, op: number): string => text(record, record.ops.name, op);

/** The module whose call an op ran in, -1 outside any. */
export function moduleOfOp(record: Record, op: number): number {
  return record.calls.module[record.ops.call[op] ?? -1] ?? -1;
}

/** The module of that path, -1 where there is none. */
export function moduleAt(record: Record, path: string): number {
  return record.modules.path.findIndex((name) => record.strings[name] === path);
}

/** Calls of each module, in order. */
export function callsByModule(record: Record): readonly (readonly number[])[] {
  const calls: number[][] = Array.from(record.modules.path, () => []);
  record.calls.module.forEach((module, call) => calls[module]?.push(call));
  return calls;
}

/** Modules below each module, in order of registration. */
export function childModules(record: Record): readonly (readonly number[])[] {
  const children: number[][] = Array.from(record.modules.path, () => []);
  record.modules.parent.forEach((parent, module) => children[parent]?.push(module));
  return children;
}

/** Calls below each call, in order. */
export function childCalls(record: Record): readonly (readonly number[])[] {
  const children: number[][] = Array.from(record.calls.module, () => []);
  record.calls.parent.forEach((parent, call) => children[parent]?.push(call));
  return children;
}

/** The first call in each module's subtree, Infinity where nothing of it was ever called. */
export function firstCalls(record: Record): Float64Array {
  const first = new Float64Array(record.modules.path.length).fill(Infinity);
  record.calls.module.forEach((module, call) => (first[module] = Math.min(first[module] ?? Infinity, call)));
  // Parents stand before children: one pass backwards reaches the root.
  for (let module = first.length - 1; module > 0; module--) {
    const parent = record.modules.parent[module] ?? -1;
    if (parent >= 0) first[parent] = Math.min(first[parent] ?? Infinity, first[module] ?? Infinity);
  }
  return first;
}

/** The calls around a call, outermost first, itself not among them. */
export function callsAround(record: Record, call: number): readonly number[] {
  const around: number[] = [];
  for (let at = record.calls.parent[call] ?? -1; at >= 0; at = record.calls.parent[at] ?? -1) around.unshift(at);
  return around;
}

/** The modules around a module, outermost first, itself not among them. */
export function modulesAround(record: Record, module: number): readonly number[] {
  const around: number[] = [];
  for (let at = record.modules.parent[module] ?? -1; at >= 0; at = record.modules.parent[at] ?? -1) around.unshift(at);
  return around;
}

/** The call of a module by its number, -1 where there is none. */
export function callNumbered(record: Record, module: number, number: number): number {
  return record.calls.module.findIndex((of, call) => of === module && record.calls.number[call] === number);
}

/** A call with no call inside, below the root: the graph draws it as one node. */
export function isOneNode(record: Record, call: number): boolean {
  return (record.calls.parent[call] ?? -1) >= 0 && !record.calls.parent.includes(call);
}

/** The calls whose groups have to be open for an op or a call to be seen. */
export function groupsAround(record: Record, thing: { readonly kind: string; readonly id: number }): readonly number[] {
  if (thing.kind === 'call') return callsAround(record, thing.id);
  const call = thing.kind === 'op' ? (record.ops.call[thing.id] ?? -1) : -1;
  return call < 0 || isOneNode(record, call) ? callsAround(record, call) : [...callsAround(record, call), call];
}
