/** Memory in words: its parts in the order in which they are stacked, its phases, its ops, and why a storage is alive. */

import { TEXTS } from '../base/texts';
import { endOfPath, pathOf } from './calls';
import { TERMS, type Memory, type Phase, type Record } from './record';

/** From below, as every chart stacks them; buffers count with the inputs. */
export const PARTS = ['parameters', 'optimizer', 'gradients', 'inputs', 'activations', 'temporaries'] as const;
export type Part = (typeof PARTS)[number];

/** The part that each of TERMS counts with. */
export const PART_OF_TERM = Uint8Array.from(TERMS, (term) => PARTS.indexOf(term === 'buffers' ? 'inputs' : term));

/** The part of a storage, as an index into PARTS. */
export const partOf = ({ allocations }: Memory, row: number): number => PART_OF_TERM[allocations.term[row] ?? 0] ?? 0;

export const opCount = (memory: Memory): number => memory.ops.name.length;

/** Whether whole training steps were run, or the forward alone. */
export const isTraining = (memory: Memory): boolean => memory.phases.some(({ phase }) => phase !== 'forward');

/** A stretch of ops of one phase. */
export interface Stretch {
  readonly phase: Phase;
  readonly first: number;
  readonly end: number;
}

/** The phases in order, each with its first op and the one that it ends before; those without ops left out. */
export function stretchesOf(memory: Memory): readonly Stretch[] {
  return memory.phases
    .map(({ phase, end }, i) => ({ phase, first: memory.phases[i - 1]?.end ?? 0, end }))
    .filter(({ first, end }) => end > first);
}

/** The phase of an op. */
export function phaseAt(memory: Memory, op: number): Phase {
  return memory.phases.find(({ end }) => op < end)?.phase ?? 'forward';
}

/** An aten op's name without its overload: `aten.mm.default` is `aten.mm`. */
export function atenName(name: string): string {
  const parts = name.split('.');
  return parts[0] === 'aten' && parts.length > 2 ? parts.slice(0, 2).join('.') : name;
}

/** An op's name alone: `aten._softmax.default` is `softmax`. */
export function bareName(name: string): string {
  const short = atenName(name);
  return short.slice(short.indexOf('.') + 1).replace(/^_+/, '');
}

const nameOfOp = (record: Record, memory: Memory, op: number): string => record.strings[memory.ops.name[op] ?? 0] ?? '';

/** The module that a memory op ran in, or goes back through; -1 outside any. */
export function moduleOfMemoryOp(record: Record, memory: Memory, op: number): number {
  return record.calls.module[memory.ops.call[op] ?? -1] ?? -1;
}

/** The module that a storage belongs to: that of its parameter or buffer, else of the op that made it; -1 for none. */
export function moduleOfStorage(record: Record, memory: Memory, row: number): number {
  const owner = memory.allocations.owner[row] ?? -1;
  return owner >= 0 ? owner : moduleOfMemoryOp(record, memory, memory.allocations.born[row] ?? -1);
}

/** Where an op stands: `backward of blocks.11.mlp.fc1`, `blocks.0.norm1`, `optimizer step`. */
export function placeWords(record: Record, memory: Memory, op: number): string {
  const phase = phaseAt(memory, op);
  const module = moduleOfMemoryOp(record, memory, op);
  const path = module < 0 ? '' : pathOf(record, module) || TEXTS.theModel;
  if (phase === 'backward') return path ? TEXTS.backwardOf(path) : TEXTS.phases.backward;
  return path || TEXTS.phases[phase];
}

/** An op in words: `backward of blocks.11.mlp.fc1, aten.mm, op 1,313`. */
export function opWords(record: Record, memory: Memory, op: number): string {
  return [placeWords(record, memory, op), atenName(nameOfOp(record, memory, op)), TEXTS.opNumber(op)].join(', ');
}

/** What a storage is: the name of a parameter, buffer or input; else the op that made it. */
export function storageName(record: Record, memory: Memory, row: number): string {
  const { name, born } = memory.allocations;
  const own = record.strings[name[row] ?? 0] ?? '';
  return own || bareName(nameOfOp(record, memory, born[row] ?? -1));
}

/** Whether a module is another one or has it inside. */
function isAround(record: Record, around: number, module: number): boolean {
  for (let at = module; at >= 0; at = record.modules.parent[at] ?? -1) if (at === around) return true;
  return false;
}

/** Why a storage is alive, in words. */
export function reasonOf(record: Record, memory: Memory, row: number): string {
  const { born, keptBy, term, name } = memory.allocations;
  const [made, keeper] = [born[row] ?? -1, keptBy[row] ?? -1];
  const kind = TERMS[term[row] ?? 0] ?? 'parameters';
  const maker = bareName(nameOfOp(record, memory, made));
  if (keeper >= 0 && kind !== 'parameters') {
    if (keeper === made) return TEXTS.keptForItself(maker);
    const op = bareName(nameOfOp(record, memory, keeper));
    const module = moduleOfMemoryOp(record, memory, keeper);
    const isElsewhere = module >= 0 && !isAround(record, module, moduleOfStorage(record, memory, row));
    const where = isElsewhere ? endOfPath(pathOf(record, module)) : '';
    return TEXTS.keptAsInput(where && where !== op ? `${where} (${op})` : op);
  }
  const own = record.strings[name[row] ?? 0] ?? '';
  switch (kind) {
    case 'parameters':
      return TEXTS.isParameter;
    case 'buffers':
      return TEXTS.isBuffer;
    case 'inputs':
      return TEXTS.isInput;
    case 'gradients':
      return own ? TEXTS.gradientOf(own.slice(own.lastIndexOf('.') + 1)) : TEXTS.isGradient;
    case 'optimizer':
      return TEXTS.isOptimizerState;
    case 'temporaries':
      return TEXTS.workOf(maker);
    case 'activations':
      return maker ? TEXTS.resultOf(maker) : TEXTS.isActivation;
  }
}
