/** Colours as `#rrggbb`: mixing, and contrast as WCAG 2 defines it. */

export type Rgb = readonly [red: number, green: number, blue: number];

/** The three channels, 0 to 255, of `#rrggbb`; an error for anything else. */
export function rgb(hex: string): Rgb {
  const match = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(hex);
  if (!match) throw new Error(`"${hex}" is no colour of the form #rrggbb`);
  return [channel(match[1]), channel(match[2]), channel(match[3])];
}

function channel(digits: string | undefined): number {
  return parseInt(digits ?? '0', 16);
}

/** `part` (0 to 1) of `colour` laid over the rest of `ground`: `mix('#000000', '#ffffff', 0.5) === '#808080'`. */
export function mix(colour: string, ground: string, part: number): string {
  const over = rgb(colour);
  const under = rgb(ground);
  const mixed = over.map((value, i) => Math.round(value * part + (under[i] ?? 0) * (1 - part)));
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}

/** Relative luminance, 0 to 1 (https://www.w3.org/TR/WCAG22/#dfn-relative-luminance). */
export function luminance(hex: string): number {
  const [red, green, blue] = rgb(hex);
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

/** One sRGB channel, 0 to 255, as light, 0 to 1. */
export function linear(value: number): number {
  const part = value / 255;
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
}

/** Contrast ratio of two colours, 1 to 21. */
export function contrast(a: string, b: string): number {
  const [low, high] = [luminance(a), luminance(b)].sort((p, q) => p - q);
  return ((high ?? 0) + 0.05) / ((low ?? 0) + 0.05);
}
