/** What of the memory is selected when something of the model is. */

import type { Memory, Record } from '../../model/record';
import { moduleOfStorage, partOf, PARTS } from '../../model/memory';
import { totalLine } from '../../model/memory_lines';
import type { Selection } from '../../state/app_state';

/** The module that a selection is of, -1 for none. */
export function moduleOfSelection(record: Record, selection: Selection | null): number {
  if (!selection) return -1;
  const { calls, ops, tensors } = record;
  const ofCall = (call: number): number => calls.module[call] ?? -1;
  switch (selection.kind) {
    case 'module':
      return selection.id;
    case 'call':
      return ofCall(selection.id);
    case 'op':
      return ofCall(ops.call[selection.id] ?? -1);
    case 'tensor':
      return ofCall(ops.call[tensors.producer[selection.id] ?? -1] ?? -1);
  }
}

/** Bytes over the ops of what a module and those inside it make to compute with; parameters and what belongs to them live always. */
export function livesOf(record: Record, memory: Memory, module: number): Float64Array {
  const inside = new Uint8Array(record.modules.path.length);
  inside[module] = 1;
  for (let at = module + 1; at < inside.length; at++) if (inside[record.modules.parent[at] ?? -1]) inside[at] = 1;
  const isMade = (row: number): boolean => {
    const part = PARTS[partOf(memory, row)];
    return (part === 'activations' || part === 'temporaries') && inside[moduleOfStorage(record, memory, row)] === 1;
  };
  return totalLine(memory, memory.allocations.bytes, isMade);
}
