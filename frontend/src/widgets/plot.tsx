/** A stack of areas over a line of numbers, drawn by uPlot on one canvas; what stands over it is told where the areas are. */

import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { FONT_UI } from '../theme/tokens';

/** The room of the areas, px from the plot's corner. */
export interface PlotRoom {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export interface PlotLayer {
  readonly stroke: string;
  readonly fill: string;
}

export interface PlotProps {
  readonly xs: Float64Array; // each layer's values stand from one of them to the next
  readonly tops: readonly Float64Array[]; // of each layer, on all below it; the topmost first
  readonly layers: readonly PlotLayer[]; // the topmost first
  readonly most: { readonly x: number; readonly y: number };
  readonly ticks: readonly { readonly at: number; readonly text: string }[]; // of the y axis
  readonly colours: { readonly grid: string; readonly text: string };
  readonly drawOver: (context: CanvasRenderingContext2D, room: PlotRoom) => void;
  readonly measured: (width: number) => void;
  readonly children: (room: PlotRoom) => ComponentChildren;
}

const ROOM = { left: 44, top: 30, right: 16, bottom: 26 };
const FIRST = { width: 800, height: 300 };
const NARROWEST_PX = 80;

export function Plot(props: PlotProps): VNode {
  const root = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const now = useRef(props);
  now.current = props;
  const [size, setSize] = useState(FIRST);
  useLayoutEffect(() => {
    const host = root.current;
    if (!host) return;
    const fit = (): void => {
      const { width, height } = host.getBoundingClientRect();
      // TensorBoard keeps the tab at height 0 while another one is shown.
      if (width < NARROWEST_PX || height < NARROWEST_PX) return;
      setSize((before) => (before.width === width && before.height === height ? before : { width, height }));
    };
    const sizes = new ResizeObserver(fit);
    sizes.observe(host);
    fit();
    return () => sizes.disconnect();
  }, []);
  const count = props.layers.length;
  useLayoutEffect(() => {
    if (!root.current || !canDraw()) return;
    const made = new uPlot(optionsOf(now, size), [], root.current);
    plot.current = made;
    return () => {
      plot.current = null;
      made.destroy();
    };
  }, [count]);
  useEffect(() => props.measured(size.width - ROOM.left - ROOM.right), [size.width]);
  useLayoutEffect(() => plot.current?.setSize(size), [size, count]);
  useLayoutEffect(() => plot.current?.setData([props.xs, ...props.tops], true), [props.xs, props.tops, count]);
  useLayoutEffect(() => plot.current?.redraw(false, true));
  const room = {
    left: ROOM.left,
    top: ROOM.top,
    width: size.width - ROOM.left - ROOM.right,
    height: size.height - ROOM.top - ROOM.bottom,
  };
  return (
    <div class="plot" ref={root}>
      <div class="plot-over">{props.children(room)}</div>
    </div>
  );
}

const canDraw = (): boolean => document.createElement('canvas').getContext('2d') !== null;

function optionsOf(
  now: { readonly current: PlotProps },
  size: { readonly width: number; readonly height: number },
): uPlot.Options {
  const stepped = uPlot.paths.stepped?.({ align: 1 });
  const font = `11px ${FONT_UI}`;
  const grid = { stroke: () => now.current.colours.grid, width: 1 };
  const still = { show: false, size: 0 };
  const layers = now.current.layers.map((_, i): uPlot.Series => ({
    stroke: () => now.current.layers[i]?.stroke ?? '',
    fill: () => now.current.layers[i]?.fill ?? '',
    width: 1,
    points: { show: false },
    ...(stepped ? { paths: stepped } : {}),
  }));
  return {
    ...size,
    padding: [ROOM.top, ROOM.right, ROOM.bottom, 0],
    legend: { show: false },
    cursor: { show: false },
    select: { show: false, left: 0, top: 0, width: 0, height: 0 },
    scales: {
      x: { time: false, range: () => [0, now.current.most.x] },
      y: { range: () => [0, now.current.most.y] },
    },
    axes: [
      { ...still },
      {
        size: ROOM.left,
        gap: 4,
        font,
        stroke: () => now.current.colours.text,
        grid,
        ticks: { show: false },
        splits: () => now.current.ticks.map(({ at }) => at),
        values: () => now.current.ticks.map(({ text }) => text),
      },
    ],
    series: [{}, ...layers],
    hooks: { draw: [(made) => drawOver(made, now.current)] },
  };
}

function drawOver(made: uPlot, { drawOver }: PlotProps): void {
  const ratio = devicePixelRatio;
  const { ctx, bbox } = made;
  ctx.save();
  ctx.scale(ratio, ratio);
  drawOver(ctx, { left: bbox.left / ratio, top: bbox.top / ratio, width: bbox.width / ratio, height: bbox.height / ratio });
  ctx.restore();
}
