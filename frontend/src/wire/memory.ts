/** What is alive over an iteration, from its message. */

import { PHASES, TERMS, type Memory, type Peak, type Phase, type Term } from '../model/record';
import { RecordError } from './errors';
import type { Memory as Message, Peak as PeakMessage } from './gen/shapes/v1/record_pb';

const DAMAGED = 'Copy the event file again, or log the model again.';

/** The memory that a message tells; RecordError where its columns don't fit each other. */
export function memoryOf(message: Message): Memory {
  const at = summed(message.at);
  const alive = new Map<Term, readonly number[]>(TERMS.map((term) => [term, summed(message[term])]));
  const phases = message.phase.map((phase, i) => ({ phase: phaseOf(phase), end: message.phaseEnd[i] ?? -1 }));
  if ([...alive.values()].some((line) => line.length !== at.length) || phases.some(({ end }) => end < 0)) refuse();
  return {
    ops: message.ops,
    phases,
    at,
    alive,
    peak: message.peak ? peakOf(message.peak) : null,
    unknown: new Map(message.unknown.map(({ total, reason }) => [total, reason])),
  };
}

function peakOf(message: PeakMessage): Peak {
  if (message.terms.length !== TERMS.length) refuse();
  return {
    bytes: Number(message.bytes),
    op: message.op,
    opName: message.opName,
    module: message.module,
    phase: phaseOf(message.phase),
    terms: new Map(TERMS.map((term, i) => [term, Number(message.terms[i])])),
  };
}

function phaseOf(index: number): Phase {
  return PHASES[index] ?? refuse();
}

function summed(differences: readonly bigint[]): number[] {
  let sum = 0;
  return differences.map((difference) => (sum += Number(difference)));
}

function refuse(): never {
  throw new RecordError('This record is damaged: the columns of its memory do not fit each other.', DAMAGED);
}
