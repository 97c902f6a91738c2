/** The timeline: what is alive over the ops of an iteration, stacked, with a cursor that starts at the peak. */

import type { VNode } from 'preact';
import { TEXTS } from '../../base/texts';
import { opWords, PARTS } from '../../model/memory';
import { moveCursor } from '../../state/actions';
import * as app from '../../state/app_state';
import { THEMES } from '../../theme';
import { PART_HUES } from '../../theme/tokens';
import { Plot, type PlotRoom } from '../../widgets/plot';
import { askedValues, axis, lives, tops, widthPx, xs } from './curves';
import { paintOver } from './ink';
import { TimelineWords } from './timeline_words';
import { aliveBytes, cursor, fine, limit, lines, memory, selected, showsLimit } from './view';

const PAGE = 0.01;

export function Timeline(): VNode | null {
  const [record, told] = [app.record.value, memory.value];
  if (!record || !told) return null;
  const theme = THEMES[app.theme.value];
  const most = { x: Math.max(1, lines.value.total.length), y: axis.value.most };
  const total = tops.value[0] ?? new Float64Array();
  const ink = { theme, xs: xs.value, total, asked: askedValues.value, limit: showsLimit.value ? limit.value : null, most };
  const words = opWords(record, told, cursor.value);
  return (
    <section class="memory-timeline" aria-label={TEXTS.timeline}>
      <div class="panel-head">
        <span>{TEXTS.liveByOp}</span>
        <SelectedLives />
        <span class="cut-off">
          {TEXTS.cursorText(words, fine(aliveBytes.value))}
          {app.memoryCursor.value !== null && cursor.value !== lines.value.peak.op && (
            <>
              {' · '}
              <button type="button" class="link" onClick={() => moveCursor(null)}>
                {TEXTS.toPeak}
              </button>
            </>
          )}
        </span>
      </div>
      <Plot
        xs={xs.value}
        tops={tops.value}
        layers={[...PARTS].reverse().map((part) => ({
          stroke: theme.hues[PART_HUES[part]] ?? theme.text,
          fill: theme.fills[PART_HUES[part]] ?? theme.line,
        }))}
        most={most}
        ticks={axis.value.ticks}
        colours={{ grid: theme.line, text: theme.muted }}
        drawOver={(context, room) => paintOver(context, room, ink)}
        measured={(width) => (widthPx.value = Math.max(1, Math.round(width)))}
      >
        {(room) => (
          <>
            <TimelineWords room={room} record={record} memory={told} />
            <Handle room={room} words={words} />
          </>
        )}
      </Plot>
    </section>
  );
}

/** In words, where the strip below the areas is. */
function SelectedLives(): VNode | null {
  const of = selected.value;
  if (!of) return null;
  const [first, last] = [lives.value[0], lives.value.at(-1)];
  return (
    <span class="selected-lives cut-off">
      {first && last ? TEXTS.lives(of.name, first.first, last.end - 1) : TEXTS.livesNowhere(of.name)}
    </span>
  );
}

/** The whole room takes the pointer, and the keys of a slider. */
function Handle({ room, words }: { readonly room: PlotRoom; readonly words: string }): VNode {
  const last = lines.value.total.length - 1;
  const to = (op: number): void => moveCursor(Math.max(0, Math.min(last, op)));
  const point = (event: PointerEvent): void => {
    const { left, width } = (event.currentTarget as HTMLElement).getBoundingClientRect();
    to(Math.floor(((event.clientX - left) / width) * (last + 1)));
  };
  const grab = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    point(event);
  };
  const page = Math.max(1, Math.round(last * PAGE));
  const press = (event: KeyboardEvent): void => {
    const steps: Readonly<Record<string, number>> = {
      ArrowRight: cursor.value + (event.shiftKey ? page : 1),
      ArrowUp: cursor.value + 1,
      ArrowLeft: cursor.value - (event.shiftKey ? page : 1),
      ArrowDown: cursor.value - 1,
      PageUp: cursor.value + page,
      PageDown: cursor.value - page,
      Home: 0,
      End: last,
    };
    const next = steps[event.key];
    if (next === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    to(next);
  };
  return (
    <div
      class="memory-handle"
      style={{ left: `${room.left}px`, top: `${room.top}px`, width: `${room.width}px`, height: `${room.height}px` }}
      role="slider"
      tabIndex={0}
      aria-label={TEXTS.cursor}
      aria-description={TEXTS.timelineHint}
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={cursor.value}
      aria-valuetext={TEXTS.cursorText(words, fine(aliveBytes.value))}
      onPointerDown={grab}
      onPointerMove={(event) => (event.currentTarget as HTMLElement).hasPointerCapture(event.pointerId) && point(event)}
      onKeyDown={press}
    />
  );
}
