/** The table of contrasts in the design, recomputed: a colour that is changed must still be readable, and told from its neighbours. */

import { describe, expect, test } from 'vitest';
import { contrast, linear, mix, rgb } from '../../src/base/colour';
import { THEMES } from '../../src/theme';
import { cssVariables } from '../../src/theme/css';
import { FAMILIES, type Theme } from '../../src/theme/tokens';

type Pair = readonly [what: string, least: (theme: Theme) => number, light: number, dark: number];

const least = (pairs: readonly (readonly [string, string])[]): number => Math.min(...pairs.map(([a, b]) => contrast(a, b)));

const PAIRS: readonly Pair[] = [
  ['text on surface', (t) => contrast(t.text, t.surface), 16.1, 11.4],
  ['text on sunken', (t) => contrast(t.text, t.sunken), 14.8, 9.8],
  ['text on accent-tint', (t) => contrast(t.text, t.accentTint), 13.9, 8.7],
  ['text on error-tint', (t) => contrast(t.text, t.errorTint), 14.0, 9.8],
  ['text on warn-tint', (t) => contrast(t.text, t.warnTint), 14.4, 9.3],
  ['muted on surface', (t) => contrast(t.muted, t.surface), 6.5, 7.2],
  ['muted on sunken', (t) => contrast(t.muted, t.sunken), 5.9, 6.2],
  ['muted on accent-tint', (t) => contrast(t.muted, t.accentTint), 5.6, 5.5],
  ['muted on error-tint', (t) => contrast(t.muted, t.errorTint), 5.6, 6.2],
  ['ghost on surface', (t) => contrast(t.ghost, t.surface), 5.0, 5.5],
  ['ghost on sunken', (t) => contrast(t.ghost, t.sunken), 4.6, 4.7],
  ['text on the worst tint', (t) => least(t.tints.map((tint) => [t.text, tint])), 12.3, 7.4],
  ['muted on the worst tint', (t) => least(t.tints.map((tint) => [t.muted, tint])), 4.9, 4.7],
  ['text on the worst mid', (t) => least(t.mids.map((mid) => [t.text, mid])), 8.0, 5.5],
  ['text on the worst fill', (t) => least(t.fills.map((fill) => [t.text, fill])), 5.0, 4.6],
  ['hues on surface', (t) => least(t.hues.map((hue) => [hue, t.surface])), 3.3, 3.6],
  ['hues on sunken', (t) => least(t.hues.map((hue) => [hue, t.sunken])), 3.1, 3.1],
  ['error on surface', (t) => contrast(t.error, t.surface), 6.5, 6.4],
  ['error on error-tint', (t) => contrast(t.error, t.errorTint), 5.6, 5.5],
  ['error on accent-tint', (t) => contrast(t.error, t.accentTint), 5.6, 4.9],
  ['accent on accent-tint', (t) => contrast(t.accent, t.accentTint), 5.5, 4.8],
  ['accent on surface', (t) => contrast(t.accent, t.surface), 6.4, 6.3],
  ['accent on sunken', (t) => contrast(t.accent, t.sunken), 5.9, 5.4],
  ['warn on surface', (t) => contrast(t.warn, t.surface), 5.6, 7.5],
  ['warn on warn-tint', (t) => contrast(t.warn, t.warnTint), 5.0, 6.2],
  ['ok on surface', (t) => contrast(t.ok, t.surface), 6.5, 7.6],
  ['ok on ok-tint', (t) => contrast(t.ok, t.okTint), 5.7, 6.2],
  ['edge on surface', (t) => contrast(t.edge, t.surface), 3.1, 5.0],
  ['bar on surface', (t) => contrast(t.bar, t.surface), 3.1, 3.8],
  ['origin on surface', (t) => contrast(t.origin, t.surface), 3.1, 7.5],
];

describe.each(['light', 'dark'] as const)('%s', (name) => {
  const theme = THEMES[name];

  test.each(PAIRS)('%s', (_what, ratio, light, dark) => {
    expect(ratio(theme)).toBeCloseTo(name === 'light' ? light : dark, 0);
    expect(Math.abs(ratio(theme) - (name === 'light' ? light : dark))).toBeLessThan(0.1);
  });

  test('text is read on r0 to r2, the surface colour on r3 to r5', () => {
    expect(least(theme.ramp.slice(0, 3).map((step) => [theme.text, step]))).toBeGreaterThanOrEqual(4.5);
    expect(least(theme.ramp.slice(3).map((step) => [theme.surface, step]))).toBeGreaterThanOrEqual(4.5);
  });

  test.each([
    ['normal', same(), { light: 23, dark: 20 }],
    [
      'deuteranopia',
      [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
      { light: 14.8, dark: 14.4 },
    ],
    [
      'protanopia',
      [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
      { light: 15, dark: 14.6 },
    ],
    [
      'tritanopia',
      [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
      { light: 11.9, dark: 12 },
    ],
  ] as const)('the six hues are told apart with %s vision', (_vision, matrix, distance) => {
    const seen = theme.hues.slice(1).map((hue) => lab(seenAs(hue, matrix)));
    const distances = seen.flatMap((a, i) => seen.slice(i + 1).map((b) => ciede2000(a, b)));
    expect(Math.abs(Math.min(...distances) - distance[name])).toBeLessThan(0.6);
  });

  test('every colour is a CSS variable', () => {
    const variables = cssVariables(theme);
    expect(variables.get('--accent-tint')).toBe(theme.accentTint);
    expect(variables.get('--c6-tint')).toBe(theme.tints[6]);
    expect(variables.size).toBe(2 + 19 + 4 * FAMILIES.length + 6);
  });
});

test('mixing is laid over the ground', () => {
  expect(mix('#000000', '#ffffff', 0.5)).toBe('#808080');
  expect(() => rgb('red')).toThrow('"red" is no colour');
});

type Triple = readonly [number, number, number];

function same(): readonly number[] {
  return [1, 0, 0, 0, 1, 0, 0, 0, 1];
}

/** A colour in linear light as dichromats see it (Machado, Oliveira, Fernandes 2009, severity 1). */
function seenAs(hex: string, m: readonly number[]): Triple {
  const [r, g, b] = rgb(hex).map(linear) as unknown as Triple;
  const row = (i: number): number => Math.max(0, Math.min(1, (m[i] ?? 0) * r + (m[i + 1] ?? 0) * g + (m[i + 2] ?? 0) * b));
  return [row(0), row(3), row(6)];
}

function lab([r, g, b]: Triple): Triple {
  const f = (t: number): number => (t > 216 / 24389 ? Math.cbrt(t) : (24389 / 27 / 116) * t + 16 / 116);
  const x = f((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047);
  const y = f(0.2126729 * r + 0.7151522 * g + 0.072175 * b);
  const z = f((0.0193339 * r + 0.119192 * g + 0.9503041 * b) / 1.08883);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/** CIEDE2000 (Sharma, Wu, Dalal 2005). */
function ciede2000([l1, a1, b1]: Triple, [l2, a2, b2]: Triple): number {
  const radians = Math.PI / 180;
  const mean = (Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2;
  const g = 0.5 * (1 - Math.sqrt(mean ** 7 / (mean ** 7 + 25 ** 7)));
  const [p1, p2] = [a1 * (1 + g), a2 * (1 + g)];
  const [c1, c2] = [Math.hypot(p1, b1), Math.hypot(p2, b2)];
  const hue = (a: number, b: number): number => (Math.atan2(b, a) / radians + 360) % 360;
  const [h1, h2] = [hue(p1, b1), hue(p2, b2)];
  const turn = c1 * c2 === 0 ? 0 : ((h2 - h1 + 540) % 360) - 180;
  const dh = 2 * Math.sqrt(c1 * c2) * Math.sin((turn / 2) * radians);
  const h = c1 * c2 === 0 ? h1 + h2 : (h1 + turn / 2 + 360) % 360;
  const [l, c] = [(l1 + l2) / 2, (c1 + c2) / 2];
  const cos = (angle: number): number => Math.cos(angle * radians);
  const t = 1 - 0.17 * cos(h - 30) + 0.24 * cos(2 * h) + 0.32 * cos(3 * h + 6) - 0.2 * cos(4 * h - 63);
  const sl = 1 + (0.015 * (l - 50) ** 2) / Math.sqrt(20 + (l - 50) ** 2);
  const [sc, sh] = [1 + 0.045 * c, 1 + 0.015 * c * t];
  const rotation = -Math.sin(60 * Math.exp(-(((h - 275) / 25) ** 2)) * radians) * 2 * Math.sqrt(c ** 7 / (c ** 7 + 25 ** 7));
  const [dl, dc, dhs] = [(l2 - l1) / sl, (c2 - c1) / sc, dh / sh];
  return Math.sqrt(dl * dl + dc * dc + dhs * dhs + rotation * dc * dhs);
}
