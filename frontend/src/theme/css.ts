/** A theme as CSS variables: `--surface`, `--accent-tint`, `--c1`, `--c1-tint`, `--r3`, the fonts. */

import { FONT_MONO, FONT_UI, type Theme } from './tokens';

const SINGLE = [
  'surface',
  'sunken',
  'raised',
  'text',
  'muted',
  'ghost',
  'line',
  'lines',
  'edge',
  'accent',
  'accentTint',
  'error',
  'errorTint',
  'warn',
  'warnTint',
  'origin',
  'ok',
  'okTint',
  'bar',
] as const satisfies readonly (keyof Theme)[];

/** Name and value of every variable: `cssVariables(LIGHT).get('--accent-tint') === '#e7effc'`. */
export function cssVariables(theme: Theme): ReadonlyMap<string, string> {
  const variables = new Map<string, string>([
    ['--font-ui', FONT_UI],
    ['--font-mono', FONT_MONO],
  ]);
  for (const token of SINGLE) variables.set(`--${token.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`, theme[token]);
  theme.hues.forEach((hue, i) => variables.set(`--c${i}`, hue));
  theme.tints.forEach((tint, i) => variables.set(`--c${i}-tint`, tint));
  theme.mids.forEach((mid, i) => variables.set(`--c${i}-mid`, mid));
  theme.fills.forEach((fill, i) => variables.set(`--c${i}-fill`, fill));
  theme.ramp.forEach((step, i) => variables.set(`--r${i}`, step));
  return variables;
}
