/** What if: other sizes, another way to train, and what the peak would be. */

import { useComputed } from '@preact/signals';
import type { VNode } from 'preact';
import { countText } from '../../base/format';
import { TEXTS } from '../../base/texts';
import type { Size, WhatIf } from '../../model/record';
import { allowedSize, largestThatFits, loggedSizes, sliderEnd } from '../../model/what_if';
import { askSizes, askVariant } from '../../state/actions';
import { Icon } from '../../widgets/icon';
import { Menu } from '../../widgets/menu';
import { Slider, type SliderMark } from '../../widgets/slider';
import { asked, fine, limit, lines, memory, sizes, variant, variantKey, variantText, whatIf } from './view';

export function WhatIfBox(): VNode {
  const asks = whatIf.value;
  if (!asks)
    return (
      <div class="what-if">
        <p class="muted">{TEXTS.whatIfMissing}</p>
      </div>
    );
  const nothing = asks.sizes.length === 0 && asks.variants.length === 0;
  return (
    <div class="what-if" role="group" aria-label={TEXTS.whatIfLabel}>
      {!nothing && <Outcome />}
      {asks.variants.length > 0 && <Ways asks={asks} />}
      {asks.sizes.map((size, i) => (
        <SizeSlider key={size.name} asks={asks} size={size} index={i} />
      ))}
      {nothing && <p class="muted">{TEXTS.whatIfNothing}</p>}
      {[...asks.unknown].map(([name, why]) => (
        <p key={name} class="small two-lines" data-tip={TEXTS.whatIfUnknown(name, why)}>
          {TEXTS.whatIfUnknown(name, why)}
        </p>
      ))}
    </div>
  );
}

/** The ways exclude each other: each was run by itself. */
function Ways({ asks }: { readonly asks: WhatIf }): VNode {
  const chosen = variant.value;
  return (
    <div class="what-if-line">
      <span class="what-if-lead">{TEXTS.ways}</span>
      <Menu
        label={TEXTS.ways}
        face={<b>{chosen ? variantText(chosen) : TEXTS.asLogged}</b>}
        choices={[
          { key: '', group: '', content: <b>{TEXTS.asLogged}</b> },
          ...asks.variants.map((each) => ({
            key: variantKey(each),
            group: each.kind,
            content: <span>{variantText(each)}</span>,
          })),
        ]}
        chosen={chosen ? variantKey(chosen) : ''}
        choose={askVariant}
      />
    </div>
  );
}

function SizeSlider({ asks, size, index }: { readonly asks: WhatIf; readonly size: Size; readonly index: number }): VNode {
  // What fits depends on the other sizes alone: this slider's own thumb must not have it worked out anew.
  const others = useComputed(() => sizes.value.map((each, i) => (i === index ? '' : each)).join());
  const largest = useComputed(() => {
    const of = variant.value?.memory ?? memory.value;
    const given = others.value.split(',').map(Number);
    return of ? largestThatFits(asks, of, given, index, limit.value) : null;
  });
  const now = sizes.value[index] ?? size.logged;
  // The end must not follow a thumb: it depends on the way to train and the device alone.
  const end = useComputed(() => {
    const of = variant.value?.memory ?? memory.value;
    return sliderEnd(size, of ? largestThatFits(asks, of, loggedSizes(asks), index, limit.value) : null);
  });
  const most = Math.max(end.value, now);
  const set = (value: number): void => {
    if (Number.isFinite(value)) askSizes(sizes.value.map((each, i) => (i === index ? allowedSize(size, value) : each)));
  };
  const marks: readonly SliderMark[] = [
    { at: size.logged, kind: 'was' },
    ...(largest.value !== null && largest.value <= most ? [{ at: largest.value, kind: 'limit' as const }] : []),
  ];
  return (
    <div class="what-if-size">
      <div class="slider-line">
        <label class="what-if-lead">
          {size.name}{' '}
          <input
            class="number-field chosen"
            type="number"
            min={size.least}
            step={size.step}
            value={now}
            onChange={(event) => set(Number(event.currentTarget.value))}
          />
        </label>
        <span class="small muted">{countText(size.least)}</span>
        <Slider
          label={`${TEXTS.whatIf} ${size.name}`}
          text={`${size.name} ${countText(now)}`}
          value={now}
          least={size.least}
          most={most}
          step={size.step}
          marks={marks}
          change={set}
        />
        <span class="small muted">{countText(most)}</span>
      </div>
      <p class="small muted" data-tip={size.axes.join(', ')}>
        {TEXTS.loggedWas(size.logged)}, {largestText(size, largest.value)}
      </p>
    </div>
  );
}

function largestText(size: Size, largest: number | null): string {
  if (largest === null) return TEXTS.noneFits(size.name);
  return Number.isFinite(largest) ? TEXTS.largestThatFits(size.name, largest) : TEXTS.everyThatFits(size.name);
}

function Outcome(): VNode {
  const peak = asked.value?.peak.bytes ?? lines.value.peak.bytes;
  const over = peak > limit.value;
  const by = fine(Math.abs(peak - limit.value));
  return (
    <p class="what-if-outcome" aria-live="polite">
      <span class="small muted what-if-head">
        {TEXTS.whatIf} {asked.value?.name ?? TEXTS.asLogged}
      </span>
      <b class={over ? 'asked-number tone-error' : 'asked-number'}>{fine(peak)}</b>
      <span class={over ? 'verdict tone-error' : 'verdict tone-ok'}>
        <Icon name={over ? 'error' : 'ok'} size={14} /> {over ? TEXTS.over(by) : TEXTS.fitsFree(by)}
      </span>
      {asked.value && (
        <button
          type="button"
          class="link small"
          onClick={() => {
            askSizes([]);
            askVariant('');
          }}
        >
          {TEXTS.backToLogged}
        </button>
      )}
    </p>
  );
}
