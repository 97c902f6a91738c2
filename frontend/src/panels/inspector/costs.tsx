/** What an op or a module's call costs: FLOPs there and back, and what autograd keeps for the way back. */

import type { VNode } from 'preact';
import { bytesText, shortCount } from '../../base/format';
import { TEXTS } from '../../base/texts';
import { flopsOfCall, flopsOfOp, savedBytesOf, tellsFlops, tellsSavedBytes } from '../../model/costs';
import type { Record, Totals } from '../../model/record';
import type { Selection } from '../../state/app_state';
import { Pairs, Section } from '../../widgets/section';

type Pair = readonly [name: string, text: string];

export function Costs({ record, selected }: { readonly record: Record; readonly selected: Selection }): VNode | null {
  const pairs = pairsOf(record, selected);
  if (pairs.length === 0) return null;
  return (
    <Section head={TEXTS.costs}>
      <Pairs pairs={pairs} />
    </Section>
  );
}

function pairsOf(record: Record, { kind, id }: Selection): readonly Pair[] {
  const [asksFlops, asksSaved] = [tellsFlops(record), tellsSavedBytes(record)];
  if (kind === 'op') return asksFlops ? [[TEXTS.forwardFlops, shortCount(flopsOfOp(record, id))]] : [];
  if (kind !== 'call') return [];
  const cost = flopsOfCall(record, id);
  const back = record.calls.backwardFlops[id] ?? -1;
  const forward = shortCount(cost?.amount ?? null);
  return [
    ...(asksFlops ? [[TEXTS.forwardFlops, cost?.complete === false ? TEXTS.atLeast(forward) : forward] as const] : []),
    ...(back >= 0 ? [[TEXTS.backwardFlops, shortCount(back)] as const] : []),
    ...(asksSaved ? [[TEXTS.savedBytes, bytesText(savedBytesOf(record, id))] as const] : []),
  ];
}

/** The same of the whole model; nothing where nobody counted. */
export function totalCosts({ flops, flopsComplete, backwardFlops }: Totals): readonly Pair[] {
  const forward = shortCount(flops);
  return [
    ...(flops === null ? [] : [[TEXTS.forwardFlops, flopsComplete === false ? TEXTS.atLeast(forward) : forward] as const]),
    ...(backwardFlops === null ? [] : [[TEXTS.backwardFlops, shortCount(backwardFlops)] as const]),
  ];
}
