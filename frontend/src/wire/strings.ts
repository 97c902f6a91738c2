/** The table of strings: each stored without the characters that it begins with as the one before does. */

import { RecordError } from './errors';

/** Far above a record of a million ops; a hostile table of a megabyte could ask for a gigabyte. */
const MOST_CHARACTERS = 256 * 2 ** 20;

const WAY_OUT = 'Copy the event file again, or log the model again.';

/** The whole strings; without prefixes the rests are whole. */
export function wholeStrings(prefixes: readonly number[], rests: readonly string[]): readonly string[] {
  if (prefixes.length === 0) return rests;
  if (prefixes.length !== rests.length)
    throw new RecordError('This record is damaged: its table of strings is cut off.', WAY_OUT);
  let before = '';
  let left = MOST_CHARACTERS;
  return rests.map((rest, i) => {
    const shared = prefixes[i] ?? 0;
    if (shared > before.length) throw new RecordError('This record is damaged: a string shares more than there is.', WAY_OUT);
    before = before.slice(0, shared) + rest;
    left -= before.length;
    if (left < 0) throw new RecordError('This record is damaged: its strings take more room than any record may.', WAY_OUT);
    return before;
  });
}
