/** The memory that the model takes: what is kept, the peak and its terms, and why a figure is unknown. */

import type { VNode } from 'preact';
import { bytesText } from '../../base/format';
import { TEXTS } from '../../base/texts';
import { TERMS, type Memory, type Peak, type Totals } from '../../model/record';
import { Pairs, Section } from '../../widgets/section';

export function MemoryFigures({ memory, totals }: { readonly memory: Memory | null; readonly totals: Totals }): VNode | null {
  if (memory === null) return null;
  const training = memory.phases.some(({ phase }) => phase === 'step');
  const steps: readonly (readonly [string, string])[] = [
    [TEXTS.gradientBytes, bytesText(totals.gradientBytes)],
    [TEXTS.optimizerBytes, bytesText(totals.optimizerBytes)],
    [TEXTS.peakForward, bytesText(totals.peakForwardBytes)],
    [TEXTS.peakFirst, bytesText(totals.peakFirstBytes)],
  ];
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
        <p class="muted wraps">{TEXTS.memoryIsTensors}</p>
      </Section>
      {memory.peak && (
        <Section head={TEXTS.atThePeak}>
          <Pairs pairs={peakPairs(memory.peak)} />
        </Section>
      )}
    </>
  );
}

function peakPairs(peak: Peak): readonly (readonly [string, string])[] {
  const terms = TERMS.filter((term) => (peak.terms.get(term) ?? 0) > 0);
  return [
    [TEXTS.peakOp, TEXTS.peakPlace(peak.opName, peak.module, peak.phase)],
    ...terms.map((term) => [term, bytesText(peak.terms.get(term) ?? 0)] as const),
  ];
}
