/** The two themes by their name. */

import { DARK } from './dark';
import { LIGHT } from './light';
import type { Theme } from './tokens';

export const THEMES: { readonly light: Theme; readonly dark: Theme } = { light: LIGHT, dark: DARK };
