/** The memory that the model takes: what is kept, the peak and its terms, and why a figure is unknown. */

import type { VNode } from 'preact';
import { bytesText } from '../../base/format';
import { TEXTS } from '../../base/texts';
import { atenName, isTraining, moduleOfMemoryOp, PARTS, phaseAt } from '../../model/memory';
import { linesOf, type Lines } from '../../model/memory_lines';
import { pathOf } from '../../model/calls';
import type { Memory, Record, Totals } from '../../model/record';
import { Pairs, Section } from '../../widgets/section';

interface Props {
  readonly record: Record;
  readonly totals: Totals;
}

const LINES = new WeakMap<Memory, Lines>();

function linesOnce(memory: Memory): Lines {
  const known = LINES.get(memory) ?? linesOf(memory);
  LINES.set(memory, known);
  return known;
}

export function MemoryFigures({ record, totals }: Props): VNode | null {
  const { memory } = record;
  if (memory === null) return null;
  const training = isTraining(memory);
  const steps: readonly (readonly [string, string])[] = [
    [TEXTS.gradientBytes, bytesText(totals.gradientBytes)],
    [TEXTS.optimizerBytes, bytesText(totals.optimizerBytes)],
    [TEXTS.peakForward, bytesText(totals.peakForwardBytes)],
    [TEXTS.peakFirst, bytesText(totals.peakFirstBytes)],
  ];
  const lines = linesOnce(memory);
  return (
    <>
      <Section head={TEXTS.memory}>
        <Pairs
          pairs={[
            [TEXTS.savedBytes, bytesText(totals.savedBytes)],
            ...(training ? steps : []),
            [training ? TEXTS.peak : TEXTS.peakForward, bytesText(totals.peakBytes)],
          ]}
        />
        {[...new Set(memory.unknown.values())].map((reason) => (
          <p key={reason} class="wraps">
            {TEXTS.unknownBecause(reason)}
          </p>
        ))}
        {[...new Set(memory.estimated.values())].map((reason) => (
          <p key={reason} class="wraps">
            {TEXTS.estimatedWhy(reason)}
          </p>
        ))}
        <p class="muted wraps">{TEXTS.memoryIsTensors}</p>
      </Section>
      {lines.peak.op >= 0 && totals.peakBytes !== null && (
        <Section head={TEXTS.atThePeak}>
          <Pairs pairs={peakPairs(record, memory, lines)} />
        </Section>
      )}
    </>
  );
}

function peakPairs(record: Record, memory: Memory, { peak, parts }: Lines): readonly (readonly [string, string])[] {
  const module = moduleOfMemoryOp(record, memory, peak.op);
  const name = atenName(record.strings[memory.ops.name[peak.op] ?? 0] ?? '');
  const path = module < 0 ? '' : pathOf(record, module);
  const amounts = PARTS.map((part, i) => [TEXTS.parts[part], parts[i]?.[peak.op] ?? 0] as const);
  return [
    [TEXTS.peakOp, TEXTS.peakPlace(name, path, phaseAt(memory, peak.op))],
    ...amounts.flatMap(([part, bytes]) => (bytes > 0 ? [[part, bytesText(bytes)] as const] : [])),
  ];
}
