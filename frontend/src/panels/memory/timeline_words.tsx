/** The words and lines over the timeline's areas: phases, peak, limit, what is asked for, what each area is, where the selected lives. */

import { Fragment, type VNode } from 'preact';
import { countText } from '../../base/format';
import { TEXTS } from '../../base/texts';
import { opCount, PARTS, placeWords, stretchesOf, type Stretch } from '../../model/memory';
import type { Memory, Record } from '../../model/record';
import { roomiest } from '../../model/scale';
import * as app from '../../state/app_state';
import type { PlotRoom } from '../../widgets/plot';
import { askedValues, axis, lives, tops, unit, xs } from './curves';
import { asked, cursor, fine, limit, limitText, lines, selected, showsLimit } from './view';

interface Props {
  readonly room: PlotRoom;
  readonly record: Record;
  readonly memory: Memory;
}

const CHAR_PX = 7; // more than any of the system's fonts takes on average

/** Where an op and an amount stand, px. */
function places({ room, memory }: Pick<Props, 'room' | 'memory'>): { x: (op: number) => number; y: (of: number) => number } {
  return {
    x: (op) => room.left + (room.width * op) / Math.max(1, opCount(memory)),
    y: (of) => room.top + room.height * (1 - of / axis.value.most),
  };
}

export function TimelineWords(props: Props): VNode {
  const { room } = props;
  return (
    <div class="timeline-words" aria-hidden="true">
      <span class="tick-unit" style={{ left: '0px', top: `${room.top - 20}px`, width: `${room.left - 6}px` }}>
        {unit.value.name}
      </span>
      <Phases {...props} />
      {showsLimit.value && <Limit {...props} />}
      <AreaNames {...props} />
      <AskedName {...props} />
      <PeakAndCursor {...props} />
      <Lives {...props} />
    </div>
  );
}

/** The loss, a handful of ops, goes with the forward before it. */
function named(stretches: readonly Stretch[]): readonly Stretch[] {
  return stretches.reduce<readonly Stretch[]>((all, stretch) => {
    const before = all.at(-1);
    const joins = stretch.phase === 'loss' && before?.phase === 'forward';
    return joins ? [...all.slice(0, -1), { ...before, end: stretch.end }] : [...all, stretch];
  }, []);
}

function Phases(props: Props): VNode {
  const { room } = props;
  const { x } = places(props);
  const stretches = named(stretchesOf(props.memory));
  const last = opCount(props.memory) - 1;
  let labelled = -Infinity;
  return (
    <>
      {stretches.map(({ phase, first, end }) => {
        const [name, ops] = [TEXTS.phases[phase], TEXTS.opsOf(end - first)];
        const width = x(end) - x(first);
        const both = (name.length + ops.length + 2) * CHAR_PX + 16 < width;
        const fits = name.length * CHAR_PX + 10 < width;
        const tick = countText(first);
        const tickFits = x(first) - labelled > tick.length * CHAR_PX + 8 && room.left + room.width - x(first) > 70;
        if (tickFits || first === 0) labelled = x(first);
        return (
          <Fragment key={first}>
            {first > 0 && (
              <span
                class="phase-line"
                style={{ left: `${x(first)}px`, top: `${room.top - 24}px`, height: `${room.height + 24}px` }}
              />
            )}
            {fits && (
              <span class="phase-name" style={{ left: `${x(first) + 6}px`, top: `${room.top - 24}px` }}>
                <b>{name}</b> {both && <span class="muted">{ops}</span>}
              </span>
            )}
            {(tickFits || first === 0) && (
              <span class="tick-op" style={{ left: `${x(first)}px`, top: `${room.top + room.height + 8}px` }}>
                {tick}
              </span>
            )}
          </Fragment>
        );
      })}
      <span class="tick-op last" style={{ right: '12px', top: `${room.top + room.height + 8}px` }}>
        {TEXTS.lastOp(last)}
      </span>
    </>
  );
}

function Limit(props: Props): VNode {
  const { y } = places(props);
  return (
    <span class="limit-name" style={{ right: '16px', top: `${y(limit.value) - 18}px` }}>
      {TEXTS.limitName(limitText.value)}
    </span>
  );
}

/** Each area's name where it is highest, if there is room for it. */
function AreaNames(props: Props): VNode {
  const { room } = props;
  const { x, y } = places(props);
  const points = xs.value.length - 1;
  const perPx = points / Math.max(1, room.width);
  const least = (18 / room.height) * axis.value.most;
  const perPoint = points / Math.max(1, opCount(props.memory));
  const none = new Float64Array(points + 1);
  return (
    <>
      {PARTS.map((part, at) => {
        const above = tops.value[PARTS.length - 1 - at] ?? none;
        const below = at === 0 ? none : (tops.value[PARTS.length - at] ?? none);
        const amount = lines.value.parts[at]?.[lines.value.peak.op] ?? 0;
        const [name, stands] = [TEXTS.parts[part], perPoint * (lines.value.peak.op + 0.5)];
        // The name alone where there is no room for its bytes at the peak too.
        const texts = amount ? [TEXTS.partAtPeak(name, fine(amount)), name] : [name];
        const halves = texts.map((each) => Math.ceil(((each.length * CHAR_PX) / 2 + 6) * perPx));
        const found = texts.map((_, i) => placeFor(above, below, halves[i] ?? 0, least, stands));
        const chosen = found.findIndex((each) => each !== null);
        const [place, text] = [found[chosen], texts[chosen]];
        if (!place) return null;
        const middle =
          (place.low + Math.min(place.high, showsLimit.value && place.low < limit.value ? limit.value : Infinity)) / 2;
        return (
          <b key={part} class="area-name" style={{ left: `${x(xs.value[place.at] ?? 0)}px`, top: `${y(middle) - 8}px` }}>
            {text}
          </b>
        );
      })}
    </>
  );
}

type Room = ReturnType<typeof roomiest>;

/** Where a name stands: above or below the line of what is asked for, never across it. */
function placeFor(above: Float64Array, below: Float64Array, half: number, least: number, avoid: number): Room {
  const line = askedValues.value;
  if (!line) return roomiest(above, below, half, least, avoid);
  const upper = roomiest(
    above,
    below.map((low, i) => Math.max(low, line[i] ?? 0)),
    half,
    least,
    avoid,
  );
  const lower = roomiest(
    above.map((high, i) => Math.min(high, line[i] ?? Infinity)),
    below,
    half,
    least,
    avoid,
  );
  const room = (of: Room): number => (of ? of.high - of.low : 0);
  return room(upper) > room(lower) ? upper : lower;
}

/** What is asked for, by name, above the mountain where there is room, with a line that leads to its own. */
function AskedName(props: Props): VNode | null {
  const { room } = props;
  const { x, y } = places(props);
  const [now, values, total] = [asked.value, askedValues.value, tops.value[0]];
  if (!now || !values || !total) return null;
  const text = TEXTS.whatIfPeak(now.name, fine(now.peak.bytes));
  const width = text.length * CHAR_PX + 8;
  const at = Math.floor(values.length * 0.6);
  const span = Math.ceil((width / room.width) * values.length);
  const highest = Math.max(...total.slice(at, at + span), ...values.slice(at, at + span));
  const left = Math.min(x(xs.value[at] ?? 0), room.left + room.width - width);
  const top = Math.max(room.top + 4, y(highest) - 34);
  const [fromX, fromY] = [left - 2, top + 9];
  const foot = Math.max(0, at - Math.ceil((48 / room.width) * values.length));
  return (
    <>
      <svg class="leader" width={room.left + room.width} height={room.top + room.height}>
        <path d={`M${fromX} ${fromY}L${x(xs.value[foot] ?? 0)} ${y(values[foot] ?? 0)}`} />
      </svg>
      <b class="asked-name" style={{ left: `${left}px`, top: `${top}px` }}>
        {text}
      </b>
    </>
  );
}

function PeakAndCursor(props: Props): VNode {
  const { room, record, memory } = props;
  const { x, y } = places(props);
  const { peak } = lines.value;
  const [peakX, peakY, cursorX] = [x(peak.op + 0.5), y(peak.bytes), x(cursor.value + 0.5)];
  const isThere = cursor.value === peak.op;
  const over = peak.bytes > limit.value ? ' over' : '';
  const name = TEXTS.peakIs(fine(peak.bytes));
  const all = isThere ? `${placeWords(record, memory, peak.op)}, ${TEXTS.opNumber(peak.op)}` : '';
  const roomFor = (text: string): boolean => peakX + 20 + text.length * CHAR_PX < room.left + room.width;
  const isLeft = !roomFor(name + all) && peakX > room.left + room.width / 2;
  const fits = isLeft ? peakX - 20 - (name + all).length * CHAR_PX > 0 : roomFor(name + all);
  const words = fits ? all : '';
  // Above the peak it covers nothing; a peak that reaches the top has it at its side.
  const isAbove = peakY - 22 >= room.top - 4;
  const [aside, top] = [isAbove ? 6 : 12, `${peakY - (isAbove ? 24 : 8)}px`];
  const place = isLeft ? { right: `calc(100% - ${peakX - aside}px)`, top } : { left: `${peakX + aside}px`, top };
  return (
    <>
      <span
        class="cursor-line"
        style={{ left: `${cursorX - 0.75}px`, top: `${room.top - 6}px`, height: `${room.height + 6}px` }}
      />
      <span class={`peak-ring${over}`} style={{ left: `${peakX}px`, top: `${peakY}px` }} />
      <span class="peak-name" style={place}>
        <b>{name}</b> <span class="muted">{words}</span>
      </span>
    </>
  );
}

/** A strip below the areas: where what is selected has something alive. */
function Lives(props: Props): VNode | null {
  const { room } = props;
  const { x } = places(props);
  if (!selected.value || app.selection.value === null) return null;
  const [first, last] = [lives.value[0], lives.value.at(-1)];
  if (!first || !last) return null;
  return (
    <>
      {lives.value.map((stretch) => (
        <span
          key={stretch.first}
          class="lives"
          style={{
            left: `${x(stretch.first)}px`,
            width: `${Math.max(2, x(stretch.end) - x(stretch.first))}px`,
            top: `${room.top + room.height + 2}px`,
          }}
        />
      ))}
    </>
  );
}
