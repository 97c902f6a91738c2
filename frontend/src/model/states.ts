/** What became of a module, call or op, and how that is said. */

import { TEXTS } from '../base/texts';
import { pickedName, ranCall, ranOp } from './case_sets';
import { OP_ASSUMED, OP_FAILED, type Record } from './record';

export type State = 'ok' | 'failed' | 'assumed' | 'never called' | 'not run';

const OUTCOME_STATES = ['ok', 'failed', 'assumed'] as const;

/** The state of a module's call. */
export function stateOfCall(record: Record, call: number): State {
  return ranCall(record, call) ? (OUTCOME_STATES[record.calls.outcome[call] ?? 0] ?? 'ok') : 'not run';
}

/** The state of an op. */
export function stateOfOp(record: Record, op: number): State {
  if (!ranOp(record, op)) return 'not run';
  const flags = record.ops.flags[op] ?? 0;
  return flags & OP_FAILED ? 'failed' : flags & OP_ASSUMED ? 'assumed' : 'ok';
}

/** A state in words; ok goes without saying, failed has its mark. */
export function stateText(record: Record, state: State): string {
  const words = { ok: '', failed: '', assumed: TEXTS.assumed, 'never called': TEXTS.neverCalled } as const;
  return state === 'not run' ? TEXTS.notRunIn(pickedName(record)) : words[state];
}
