/** What is painted over the timeline's areas: the limit with what is above it hatched, and the dashed line of what is asked for. */

import type { Theme } from '../../theme/tokens';
import type { PlotRoom } from '../../widgets/plot';

export interface Ink {
  readonly theme: Theme;
  readonly xs: Float64Array;
  readonly total: Float64Array;
  readonly asked: Float64Array | null;
  readonly limit: number | null; // null: it is out of sight
  readonly most: { readonly x: number; readonly y: number };
}

const HATCH_PX = 7;

/** Paints them; nothing is worked out here but where a value stands. */
export function paintOver(context: CanvasRenderingContext2D, room: PlotRoom, ink: Ink): void {
  const { theme, limit, asked, most } = ink;
  const y = (bytes: number): number => room.top + room.height * (1 - bytes / most.y);
  if (limit !== null) {
    if (ink.total.some((bytes) => bytes > limit)) hatch(context, room, ink, y(limit));
    context.strokeStyle = theme.error;
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(room.left, y(limit));
    context.lineTo(room.left + room.width, y(limit));
    context.stroke();
  }
  if (!asked) return;
  for (const [colour, width, dash] of [
    [theme.surface, 4, []],
    [theme.text, 1.5, [5, 3]],
  ] as const) {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.lineJoin = 'round';
    context.setLineDash(dash as unknown as number[]);
    context.beginPath();
    follow(context, room, ink, asked);
    context.stroke();
  }
  context.setLineDash([]);
}

/** A path along a line that stands from one x to the next. */
function follow(context: CanvasRenderingContext2D, room: PlotRoom, { xs, most }: Ink, values: Float64Array): void {
  for (let i = 0; i < xs.length; i++) {
    const x = room.left + (room.width * (xs[i] ?? 0)) / most.x;
    const y = room.top + room.height * (1 - (values[i] ?? 0) / most.y);
    if (i === 0) context.moveTo(x, y);
    else {
      context.lineTo(x, room.top + room.height * (1 - (values[i - 1] ?? 0) / most.y));
      context.lineTo(x, y);
    }
  }
}

function hatch(context: CanvasRenderingContext2D, room: PlotRoom, ink: Ink, limitY: number): void {
  context.save();
  context.beginPath();
  context.rect(room.left, room.top, room.width, limitY - room.top);
  context.clip();
  context.beginPath();
  follow(context, room, ink, ink.total);
  context.lineTo(room.left + room.width, room.top + room.height);
  context.lineTo(room.left, room.top + room.height);
  context.closePath();
  context.clip();
  context.strokeStyle = ink.theme.error;
  context.lineWidth = 1.5;
  context.beginPath();
  for (let x = room.left - room.height; x < room.left + room.width; x += HATCH_PX) {
    context.moveTo(x, room.top + room.height);
    context.lineTo(x + room.height, room.top);
  }
  context.stroke();
  context.restore();
}
