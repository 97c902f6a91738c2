/** Paints what of a scene lies in the window on a canvas: only that, and only what the zoom lets one read. */

import { roundedPath, type Box } from '../base/geometry';
import { FONT_MONO, FONT_UI } from '../theme/tokens';
import type { TextStyle } from '../layout/text_size';
import type { Camera } from './camera';
import { headPoints } from './heads';
import { MARKS, type MarkName } from './marks';
import type { Scene } from './scene';
import {
  FONT_SIZES,
  groundBox,
  placedRuns,
  type MarkRun,
  type RectShape,
  type Shape,
  type Stroke,
  type TextRun,
  type TextShape,
} from './shapes';

type Context = CanvasRenderingContext2D;

/** The CSS font of a style at a size in px. */
export function fontOf(style: TextStyle, size: number = FONT_SIZES[style], bold?: boolean, italic = false): string {
  const heavy = bold ?? (style === 'name' || style === 'failed' || style === 'monoBold');
  const family = style === 'mono' || style === 'monoBold' ? FONT_MONO : FONT_UI;
  return `${italic ? 'italic ' : ''}${heavy ? 'bold ' : ''}${size}px ${family}`;
}

/** The part of the graph that a window of `width` × `height` px shows. */
export function windowOf(camera: Camera, width: number, height: number): Box {
  const w = width / camera.zoom;
  const h = height / camera.zoom;
  return { x: camera.x - w / 2, y: camera.y - h / 2, w, h };
}

/** Clears the canvas and paints; `ratio` is device pixels per px. Gives the number of things painted. */
export function paintCanvas(
  context: Context,
  scene: Scene,
  camera: Camera,
  size: { readonly width: number; readonly height: number; readonly ratio: number },
  over: readonly Shape[],
): number {
  const { zoom } = camera;
  const seen = windowOf(camera, size.width, size.height);
  context.setTransform(size.ratio, 0, 0, size.ratio, 0, 0);
  context.fillStyle = scene.source.theme.surface;
  context.fillRect(0, 0, size.width, size.height);
  const scale = size.ratio * zoom;
  context.setTransform(scale, 0, 0, scale, -seen.x * scale, -seen.y * scale);
  const painter = new Painter(context, zoom, seen);
  let count = 0;
  for (const layer of scene.layers) {
    layer.within(seen, (item) => {
      if (Math.max(item.box.w, item.box.h) * zoom < 0.5) return;
      for (const shape of scene.shapesOf(item)) painter.paint(shape);
      count++;
    });
  }
  for (const shape of over) painter.paint(shape);
  return count;
}

const PATHS = new Map<string, Path2D>();

function pathOf(mark: MarkName, part: 'fill' | 'cut' | 'stroke'): Path2D {
  const key = `${mark} ${part}`;
  const known = PATHS.get(key) ?? new Path2D(MARKS[mark][part]);
  PATHS.set(key, known);
  return known;
}

class Painter {
  constructor(
    private readonly context: Context,
    private readonly zoom: number,
    private readonly seen: Box,
  ) {
    context.textBaseline = 'alphabetic';
    context.textAlign = 'left';
  }

  paint(shape: Shape): void {
    if (this.zoom < shape.from) return;
    const { context } = this;
    switch (shape.kind) {
      case 'rect':
        this.rect(shape);
        return;
      case 'circle':
        context.beginPath();
        context.arc(shape.x, shape.y, shape.radius, 0, 2 * Math.PI);
        this.fillAndStroke(shape.fill, shape.stroke);
        return;
      case 'line':
        this.line(shape.points, this.zoom < 0.5 ? 0 : shape.radius);
        this.stroke(shape.stroke);
        return;
      case 'head': {
        const [x = 0, y = 0, ax = 0, ay = 0, bx = 0, by = 0] = headPoints(shape);
        context.beginPath();
        context.moveTo(x, y);
        context.lineTo(ax, ay);
        context.lineTo(bx, by);
        context.closePath();
        context.fillStyle = shape.fill;
        context.fill();
        return;
      }
      case 'text':
        this.lineOfText(shape);
    }
  }

  private lineOfText(shape: TextShape): void {
    const placed = placedRuns(shape, this.zoom);
    const ground = groundBox(shape, placed);
    if (ground && shape.ground !== null) {
      this.context.fillStyle = shape.ground;
      this.context.fillRect(ground.x, ground.y, ground.w, ground.h);
    }
    for (const { run, x, size } of placed) {
      if (run.kind === 'mark') this.mark(run, x, shape.y, size);
      else this.text(run, x, shape.y, size);
    }
  }

  private rect({ x, y, w, h, radii, fill, stroke }: RectShape): void {
    const { context } = this;
    if (fill !== null && stroke === null && this.zoom < 0.3) {
      context.fillStyle = fill;
      context.fillRect(x, y, w, h);
      return;
    }
    // A border far outside the window needn't be followed: very tall boxes are slow to stroke with dashes.
    const top = Math.max(y, this.seen.y - 64);
    const bottom = Math.min(y + h, this.seen.y + this.seen.h + 64);
    context.beginPath();
    context.roundRect(x, top, w, Math.max(0, bottom - top), radii as [number, number, number, number]);
    this.fillAndStroke(fill, stroke);
  }

  private line(points: readonly number[], radius: number): void {
    const { context } = this;
    context.beginPath();
    if (radius === 0 || points.length <= 4) {
      context.moveTo(points[0] ?? 0, points[1] ?? 0);
      for (let i = 2; i < points.length; i += 2) context.lineTo(points[i] ?? 0, points[i + 1] ?? 0);
      return;
    }
    for (const step of roundedPath(points, radius)) {
      if (step.kind === 'move') context.moveTo(step.x, step.y);
      else if (step.kind === 'line') context.lineTo(step.x, step.y);
      else context.quadraticCurveTo(step.cx, step.cy, step.x, step.y);
    }
  }

  private fillAndStroke(fill: string | null, stroke: Stroke | null): void {
    if (fill !== null) {
      this.context.fillStyle = fill;
      this.context.fill();
    }
    if (stroke) this.stroke(stroke);
  }

  /** Lines are at least as wide on the screen as at 100 %, or they fade when one zooms out. */
  private stroke({ colour, width, dash }: Stroke): void {
    const { context } = this;
    context.strokeStyle = colour;
    context.lineWidth = this.zoom < 1 ? Math.max(width, 1 / this.zoom) : width;
    if (dash.length) context.setLineDash(dash as number[]);
    context.stroke();
    if (dash.length) context.setLineDash([]);
  }

  private text(run: TextRun, x: number, y: number, size: number): void {
    const { context } = this;
    const factor = size / FONT_SIZES[run.style];
    if (run.box) {
      context.beginPath();
      context.roundRect(x + 0.75 * factor, y - 8 * factor, (run.width - 1.5) * factor, 16 * factor, 2 * factor);
      this.fillAndStroke(run.box.fill, { colour: run.box.stroke, width: 1.5, dash: [] });
    }
    context.font = fontOf(run.style, size, run.bold, run.italic);
    context.fillStyle = run.colour;
    context.fillText(run.text, run.box ? x + 3 * factor : x, y + size * 0.35);
  }

  private mark(run: MarkRun, x: number, y: number, size: number): void {
    const { context } = this;
    const form = MARKS[run.mark];
    context.save();
    context.translate(x, y - size / 2);
    context.scale(size / 16, size / 16);
    context.lineWidth = 1.5;
    context.lineCap = context.lineJoin = 'round';
    if (form.fill) {
      context.fillStyle = run.colour;
      context.fill(pathOf(run.mark, 'fill'));
    }
    if (form.cut) {
      context.fillStyle = run.ground;
      context.fill(pathOf(run.mark, 'cut'));
    }
    if (form.stroke) {
      context.strokeStyle = form.fill ? run.ground : run.colour;
      context.setLineDash(form.dash as number[]);
      context.stroke(pathOf(run.mark, 'stroke'));
    }
    context.restore();
  }
}
