/** The dark theme. */

import { themeOf } from './tokens';

export const DARK = themeOf(
  'dark',
  {
    surface: '#303030',
    sunken: '#3a3a3a',
    raised: '#424242',
    text: '#eeeeee',
    muted: '#bcc0c4',
    ghost: '#a3a7ab',
    line: '#4c4c4c',
    lines: '#777b7f',
    edge: '#9b9fa3',
    accent: '#8ab4f8',
    accentTint: '#35425a',
    error: '#ff988f',
    errorTint: '#4f3331',
    warn: '#f9b84e',
    warnTint: '#4a3b25',
    origin: '#f9b84e',
    ok: '#6fd6bd',
    okTint: '#2c423d',
    bar: '#6a8bbf',
    hues: ['#a0a4a8', '#7db1fd', '#7de8f3', '#1d9d76', '#9f8b00', '#8270fb', '#ef72af'],
    ramp: ['#383d45', '#475d80', '#526c97', '#83a8e0', '#b0cbf4', '#e2edff'],
  },
  { tint: 0.17, mid: 0.28, fill: 0.36 },
);
