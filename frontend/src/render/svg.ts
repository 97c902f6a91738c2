/** Paints a scene as SVG text: for tests, whose goldens are text, and for pictures. */

import { roundedPath } from '../base/geometry';
import { FONT_MONO, FONT_UI } from '../theme/tokens';
import { MARKS } from './marks';
import { headPoints } from './heads';
import type { Scene } from './scene';
import {
  groundBox,
  placedRuns,
  type MarkRun,
  type RectShape,
  type Shape,
  type Stroke,
  type TextRun,
  type TextShape,
} from './shapes';

/** The whole scene at 100 %, with `margin` px round it; `over` is drawn on top. */
export function paintSvg(scene: Scene, over: readonly Shape[] = [], margin = 16): string {
  const width = Math.ceil(scene.width + 2 * margin);
  const height = Math.ceil(scene.height + 2 * margin);
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="${-margin} ${-margin} ${width} ${height}">`,
    `<rect x="${-margin}" y="${-margin}" width="${width}" height="${height}" fill="${scene.source.theme.surface}"/>`,
  ];
  for (const layer of scene.layers)
    for (const item of layer.items) for (const shape of scene.shapesOf(item)) lines.push(shapeSvg(shape));
  for (const shape of over) lines.push(shapeSvg(shape));
  lines.push('</svg>', '');
  return lines.filter((line, i) => line !== '' || i === lines.length - 1).join('\n');
}

const n = (value: number): string => String(Math.round(value * 100) / 100);

const escaped = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/"/g, '&quot;');

function strokeSvg(stroke: Stroke | null): string {
  if (!stroke) return '';
  return ` stroke="${stroke.colour}" stroke-width="${n(stroke.width)}"${stroke.dash.length ? ` stroke-dasharray="${stroke.dash.join(' ')}"` : ''}`;
}

/** One form. */
export function shapeSvg(shape: Shape): string {
  switch (shape.kind) {
    case 'rect':
      return rectSvg(shape);
    case 'circle':
      return `<circle cx="${n(shape.x)}" cy="${n(shape.y)}" r="${n(shape.radius)}" fill="${shape.fill ?? 'none'}"${strokeSvg(shape.stroke)}/>`;
    case 'line':
      return `<path d="${pathSvg(shape.points, shape.radius)}" fill="none"${strokeSvg(shape.stroke)}/>`;
    case 'head':
      return `<path d="M${headPoints(shape).map(n).join(' ')}Z" fill="${shape.fill}"/>`;
    case 'text':
      return lineOfTextSvg(shape);
  }
}

function lineOfTextSvg(shape: TextShape): string {
  const placed = placedRuns(shape, 1);
  const ground = groundBox(shape, placed);
  const under =
    ground && shape.ground !== null
      ? [`<rect x="${n(ground.x)}" y="${n(ground.y)}" width="${n(ground.w)}" height="${n(ground.h)}" fill="${shape.ground}"/>`]
      : [];
  const pieces = placed.map(({ run, x, size }) =>
    run.kind === 'mark' ? markSvg(run, x, shape.y, size) : textSvg(run, x, shape.y, size),
  );
  return [...under, ...pieces].join('\n');
}

function rectSvg({ x, y, w, h, radii, fill, stroke }: RectShape): string {
  const paint = `fill="${fill ?? 'none'}"${strokeSvg(stroke)}`;
  const [a, b, c, d] = radii;
  if (a === b && b === c && c === d)
    return `<rect x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}"${a ? ` rx="${n(a)}"` : ''} ${paint}/>`;
  const turn = (radius: number, toX: number, toY: number): string =>
    radius ? `A${radius} ${radius} 0 0 1 ${n(toX)} ${n(toY)}` : '';
  const path =
    `M${n(x + a)} ${n(y)}H${n(x + w - b)}${turn(b, x + w, y + b)}V${n(y + h - c)}${turn(c, x + w - c, y + h)}` +
    `H${n(x + d)}${turn(d, x, y + h - d)}V${n(y + a)}${turn(a, x + a, y)}Z`;
  return `<path d="${path}" ${paint}/>`;
}

function pathSvg(points: readonly number[], radius: number): string {
  return roundedPath(points, radius)
    .map((step) => {
      if (step.kind === 'turn') return `Q${n(step.cx)} ${n(step.cy)} ${n(step.x)} ${n(step.y)}`;
      return `${step.kind === 'move' ? 'M' : 'L'}${n(step.x)} ${n(step.y)}`;
    })
    .join('');
}

function textSvg(run: TextRun, x: number, y: number, size: number): string {
  const mono = run.style === 'mono' || run.style === 'monoBold';
  const box = run.box
    ? `<rect x="${n(x + 0.75)}" y="${n(y - 8)}" width="${n(run.width - 1.5)}" height="16" rx="2" fill="${run.box.fill}" stroke="${run.box.stroke}" stroke-width="1.5"/>\n`
    : '';
  const look = `font-family="${escaped(mono ? FONT_MONO : FONT_UI)}" font-size="${n(size)}"${run.bold ? ' font-weight="700"' : ''}${run.italic ? ' font-style="italic"' : ''}`;
  const left = run.box ? x + 3 : x;
  return `${box}<text x="${n(left)}" y="${n(y + size * 0.35)}" ${look} fill="${run.colour}" xml:space="preserve">${escaped(run.text)}</text>`;
}

function markSvg(run: MarkRun, x: number, y: number, size: number): string {
  const { fill, cut, stroke, dash } = MARKS[run.mark];
  const dashes = dash.length ? ` stroke-dasharray="${dash.join(' ')}"` : '';
  return [
    `<g transform="translate(${n(x)} ${n(y - size / 2)}) scale(${n(size / 16)})">`,
    fill && `<path d="${fill}" fill="${run.colour}"/>`,
    cut && `<path d="${cut}" fill="${run.ground}"/>`,
    stroke &&
      `<path d="${stroke}" fill="none" stroke="${fill ? run.ground : run.colour}" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round"${dashes}/>`,
    '</g>',
  ].join('');
}
