/** The light theme. */

import { themeOf } from './tokens';

export const LIGHT = themeOf(
  'light',
  {
    surface: '#ffffff',
    sunken: '#f5f5f5',
    raised: '#ffffff',
    text: '#202124',
    muted: '#5a5f64',
    ghost: '#6b7075',
    line: '#e0e0e0',
    lines: '#b4b8bc',
    edge: '#8d9297',
    accent: '#0b57d0',
    accentTint: '#e7effc',
    error: '#ba1a1a',
    errorTint: '#fdebe9',
    warn: '#9a5700',
    warnTint: '#fdf1dd',
    origin: '#cb8200',
    ok: '#0a6b52',
    okTint: '#e2f3ee',
    bar: '#6a93d4',
    hues: ['#7d8287', '#4782ff', '#048192', '#045f3a', '#a48b21', '#5335be', '#8f025d'],
    ramp: ['#eef3fa', '#c8d9f2', '#8fb0e3', '#3e72c1', '#1f55a5', '#0c2f66'],
  },
  { tint: 0.14, mid: 0.34, fill: 0.54 },
);
