/** A slider with marks on its track: a native range, so that every key works, over a track of our own. */

import type { VNode } from 'preact';

export interface SliderMark {
  readonly at: number;
  readonly kind: 'was' | 'limit'; // a dashed ring, or a red tick
}

interface Props {
  readonly label: string;
  readonly text: string; // of the value, for readers
  readonly value: number;
  readonly least: number;
  readonly most: number;
  readonly step: number;
  readonly marks: readonly SliderMark[];
  readonly change: (value: number) => void;
}

export function Slider({ label, text, value, least, most, step, marks, change }: Props): VNode {
  const share = (at: number): number => (most > least ? Math.max(0, Math.min(1, (at - least) / (most - least))) : 0);
  // The thumb's middle never reaches the track's ends: marks keep to where it can be.
  const place = (at: number): string => `calc(7px + ${share(at).toFixed(5)} * (100% - 14px))`;
  return (
    <span class="slider">
      <span class="slider-track" aria-hidden="true">
        <span class="slider-filled" style={{ width: place(value) }} />
      </span>
      {marks.map(({ at, kind }) => (
        <span key={kind} class={`slider-${kind}`} style={{ left: place(at) }} aria-hidden="true" />
      ))}
      <input
        type="range"
        min={least}
        max={most}
        step={step}
        value={value}
        aria-label={label}
        aria-valuetext={text}
        onInput={(event) => change(Number(event.currentTarget.value))}
      />
    </span>
  );
}
