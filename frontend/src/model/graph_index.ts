/** What the graph needs to know of a record whatever is open: which ops only view, which calls are one op, which modules never ran. */

import { row, OP_FAILED, type Record } from './record';
import { isView, shortName } from './graph_words';

export interface GraphIndex {
  readonly record: Record;
  /** Short name of each string that names an op, by string index; '' elsewhere. */
  readonly shortNames: readonly string[];
  /** 1 where the op is words on an edge rather than a node. */
  readonly viewOnly: Uint8Array;
  /** How many of the ops before i are nodes. */
  readonly nodesBefore: Int32Array;
  /** 1 where a call made calls of its own. */
  readonly hasCalls: Uint8Array;
  /** The topmost modules that were never called, by module, in order. */
  readonly neverCalled: readonly number[];
}

/** Lists that only hold other modules or parameters: they are never called by their nature. */
const HOLDERS = new Set(['ModuleList', 'ModuleDict', 'ParameterList', 'ParameterDict']);

/** Reads the record once, in linear time. */
export function graphIndex(record: Record): GraphIndex {
  const shortNames = shortNamesOf(record);
  const viewOnly = viewsOf(record, shortNames);
  const nodesBefore = new Int32Array(viewOnly.length + 1);
  for (let op = 0; op < viewOnly.length; op++) nodesBefore[op + 1] = (nodesBefore[op] ?? 0) + (viewOnly[op] ? 0 : 1);
  const hasCalls = new Uint8Array(record.calls.module.length);
  for (const parent of record.calls.parent) if (parent >= 0) hasCalls[parent] = 1;
  return { record, shortNames, viewOnly, nodesBefore, hasCalls, neverCalled: neverCalledOf(record) };
}

function shortNamesOf(record: Record): string[] {
  const names = Array<string>(record.strings.length).fill('');
  for (const name of new Set(record.ops.name)) names[name] = shortName(record.strings[name] ?? '');
  return names;
}

function viewsOf(record: Record, shortNames: readonly string[]): Uint8Array {
  const { ops } = record;
  const views = new Uint8Array(ops.name.length);
  const told = new Set(record.findings.map((finding) => finding.opIndex));
  for (let op = 0; op < views.length; op++) {
    if (!isView(shortNames[ops.name[op] ?? 0] ?? '') || told.has(op) || (ops.flags[op] ?? 0) & OP_FAILED) continue;
    const inputs = row(ops.inputs, op).length;
    const looksUp = inputs > 1 && shortNames[ops.name[op] ?? 0] === '__getitem__';
    if (inputs > 0 && row(ops.outputs, op).length > 0 && !looksUp) views[op] = 1;
  }
  return views;
}

/** Called, holding something that was, or holding a parameter that some op used all the same: in use. */
function neverCalledOf(record: Record): number[] {
  const { modules, calls, strings } = record;
  const count = modules.path.length;
  const used = new Uint8Array(count);
  for (const module of calls.module) used[module] = 1;
  const byPath = new Map<string, number>();
  for (let module = 0; module < count; module++) byPath.set(strings[modules.path[module] ?? 0] ?? '', module);
  for (const owner of parameterOwners(record)) {
    const module = byPath.get(owner);
    if (module !== undefined) used[module] = 1;
  }
  for (let module = count - 1; module >= 0; module--) {
    const parent = modules.parent[module] ?? -1;
    if (used[module] && parent >= 0) used[parent] = 1;
  }
  const never: number[] = [];
  for (let module = 0; module < count; module++) {
    const parent = modules.parent[module] ?? -1;
    if (used[module] || parent < 0 || HOLDERS.has(strings[modules.type[module] ?? 0] ?? '')) continue;
    if (reachedByUse(record, used, parent)) never.push(module);
  }
  return never;
}

/** Whether the nearest module above that is no mere list is in use: only then is what's below worth a ghost of its own. */
function reachedByUse(record: Record, used: Uint8Array, parent: number): boolean {
  const { modules, strings } = record;
  let above = parent;
  while (above >= 0 && !used[above] && HOLDERS.has(strings[modules.type[above] ?? 0] ?? '')) above = modules.parent[above] ?? -1;
  return above >= 0 && used[above] === 1;
}

/** Paths of the modules whose own parameters or buffers some op took. */
function parameterOwners(record: Record): Set<string> {
  const { tensors, strings, ops } = record;
  const owners = new Set<string>();
  for (const tensor of new Set(ops.inputs.values)) {
    if (tensors.kind[tensor] !== 1 && tensors.kind[tensor] !== 2) continue;
    const name = strings[tensors.name[tensor] ?? 0] ?? '';
    owners.add(name.slice(0, Math.max(0, name.lastIndexOf('.'))));
  }
  return owners;
}
