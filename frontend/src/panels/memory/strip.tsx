/** The strip on top: the peak, what it is made of against the device, and what it would be otherwise. */

import type { VNode } from 'preact';
import { byteUnit, inUnit, roundedToSum } from '../../base/format';
import { TEXTS } from '../../base/texts';
import { PARTS } from '../../model/memory';
import * as app from '../../state/app_state';
import { PART_HUES } from '../../theme/tokens';
import { Icon } from '../../widgets/icon';
import { DeviceChoice } from './device_choice';
import { asked, bytes, fine, limit, limitText, lines, loggedText, showsLimit, standing, training } from './view';
import { WhatIfBox } from './what_if_box';

export function Strip(): VNode {
  return (
    <section class="memory-strip" aria-label={TEXTS.peakWord}>
      <PeakFigure />
      <PeakParts />
      <WhatIfBox />
    </section>
  );
}

function PeakFigure(): VNode {
  const { peak } = lines.value;
  const figure = training.value ? 'peak_bytes' : 'peak_forward_bytes';
  const { unknown, estimated } = standing(figure);
  const over = unknown === null && peak.bytes > limit.value;
  const unit = byteUnit(peak.bytes);
  const lead = training.value ? TEXTS.peakOfStep : TEXTS.peakOfForward;
  return (
    <div class="peak-figure">
      <p class="small muted">
        {lead}
        {TEXTS.withSizes(loggedText.value)}
      </p>
      {unknown === null ? (
        <h2 class={over ? 'peak-number tone-error' : 'peak-number'}>
          {inUnit(peak.bytes, unit, 2)} <span class="peak-unit">{unit.name}</span>{' '}
          <span class="standing">{estimated === null ? TEXTS.exact : TEXTS.estimated}</span>
        </h2>
      ) : (
        <h2 class="peak-number">{TEXTS.unknown}</h2>
      )}
      {unknown === null ? <Verdict over={over} by={Math.abs(peak.bytes - limit.value)} /> : <p class="wraps">{unknown}</p>}
      <Others />
      {estimated !== null && <p class="small">{TEXTS.estimatedWhy(estimated)}</p>}
      <p class="small muted">{TEXTS.notCounted}</p>
    </div>
  );
}

function Verdict({ over, by }: { readonly over: boolean; readonly by: number }): VNode {
  return over ? (
    <p class="verdict tone-error">
      <Icon name="error" size={16} /> {TEXTS.overBy(fine(by), limitText.value)}
    </p>
  ) : (
    <p class="verdict tone-ok">
      <Icon name="ok" size={16} /> {TEXTS.fitsWith(limitText.value, fine(by))}
    </p>
  );
}

/** The peaks besides the one that is told large: of the first step, or of what ran where the rest is unknown; and what nobody knows. */
const FIGURES: ReadonlyMap<string, string> = new Map(Object.entries(TEXTS.figureNames));

function Others(): VNode {
  const totals = app.record.value?.totals;
  const first = totals?.peakFirstBytes ?? null;
  const unknown = app.record.value?.memory?.unknown ?? new Map<string, string>();
  const figure = training.value ? 'peak_bytes' : 'peak_forward_bytes';
  const others = [...unknown].filter(([name]) => name !== figure);
  const byReason = new Map<string, string[]>();
  for (const [name, reason] of others) byReason.set(reason, [...(byReason.get(reason) ?? []), FIGURES.get(name) ?? name]);
  return (
    <>
      {training.value && first !== null && (
        <p class="small">{first < lines.value.peak.bytes ? TEXTS.firstStep(fine(first)) : TEXTS.firstStepAlike}</p>
      )}
      {unknown.has(figure) && lines.value.peak.op >= 0 && (
        <p class="small">
          {TEXTS.upToThere} {fine(lines.value.peak.bytes)}
        </p>
      )}
      {[...byReason].map(([reason, names]) => (
        <p key={reason} class="small">
          {TEXTS.whatIfUnknown(names.join(', '), reason)}
        </p>
      ))}
    </>
  );
}

function PeakParts(): VNode {
  const { peak, parts } = lines.value;
  const of = PARTS.map((_, i) => parts[i]?.[peak.op] ?? 0);
  const unit = byteUnit(peak.bytes);
  const rounded = roundedToSum(of, unit.bytes / 1000);
  return (
    <div class="peak-parts">
      <PartsBar of={of} />
      <dl class="part-figures">
        {PARTS.map((part, i) => (
          <div key={part}>
            <dt>
              <i style={{ background: `var(--c${PART_HUES[part]})` }} />
              {TEXTS.parts[part]}
            </dt>
            <dd>{inUnit(rounded[i] ?? 0, unit, 3)}</dd>
          </div>
        ))}
        <div class="part-sum">
          <dt>{TEXTS.together}</dt>
          <dd>
            {inUnit(
              rounded.reduce((sum, each) => sum + each, 0),
              unit,
              3,
            )}{' '}
            <span class="small muted">{unit.name}</span>
          </dd>
        </div>
      </dl>
      <DeviceChoice />
    </div>
  );
}

/** The parts on one scale with the device's line and what is asked for. */
function PartsBar({ of }: { readonly of: readonly number[] }): VNode {
  const { bytes: peak } = lines.value.peak;
  const most = Math.max(peak, asked.value?.peak.bytes ?? 0, showsLimit.value ? limit.value : 0, 1);
  const place = (amount: number): string => `${((100 * amount) / most).toFixed(3)}%`;
  const over = showsLimit.value && peak > limit.value;
  const isLate = limit.value / most > 0.84;
  const askedPeak = asked.value?.peak.bytes ?? 0;
  // Names stand away from each other: what is asked for goes below where both would want the same side.
  const isLeft = showsLimit.value ? askedPeak < limit.value : askedPeak / most > 0.5;
  const askedSide = `${isLeft ? 'before' : ''} ${showsLimit.value && isLate === isLeft ? 'lower' : ''}`;
  return (
    <div class="parts-bar-room">
      <div class="parts-bar" style={{ width: place(peak) }} role="img" aria-label={TEXTS.atPeakAgainst(limitText.value)}>
        {PARTS.map((part, i) => (
          <span
            key={part}
            style={{
              flexGrow: of[i] ?? 0,
              background: `var(--c${PART_HUES[part]}-fill)`,
              borderTopColor: `var(--c${PART_HUES[part]})`,
            }}
            data-tip={TEXTS.partAtPeak(TEXTS.parts[part], bytes(of[i] ?? 0))}
          />
        ))}
      </div>
      {over && <span class="hatched" style={{ left: place(limit.value), width: place(peak - limit.value) }} />}
      {asked.value && (
        <>
          <span class="asked-line" style={{ left: place(asked.value.peak.bytes) }} />
          <span class={`bar-name ${askedSide}`} style={{ left: place(asked.value.peak.bytes) }}>
            {asked.value.name}
          </span>
        </>
      )}
      {showsLimit.value ? (
        <>
          <span class="limit-line" style={{ left: place(limit.value) }} />
          <span class={`bar-name tone-error${isLate ? ' before' : ''}`} style={{ left: place(limit.value) }}>
            {TEXTS.limitName(limitText.value)}
          </span>
        </>
      ) : (
        <span class="bar-name muted">{TEXTS.partOfDevice(percentText((100 * peak) / limit.value), limitText.value)}</span>
      )}
    </div>
  );
}

function percentText(percent: number): string {
  return percent < 0.01 ? '< 0.01 %' : `${Number(percent.toPrecision(2))} %`;
}
