/** The flags at a node's right end: one for each case that ran it, where not every case did. */

import { letterOf } from '../base/format';
import type { GraphNode } from '../model/graph';

/** One flag: of a case, or, with -1, of what no single case stands for. */
export interface Flag {
  readonly text: string;
  readonly of: number; // cases, -1
  readonly width: number;
}

const MOST = 4;
const WIDTH = 16;
const LETTER = 7;

/** The flags from left to right; the rest of many are told by their number. */
export function flagsOf({ cases, differs }: Pick<GraphNode, 'cases' | 'differs'>): readonly Flag[] {
  const shown = cases.length > MOST ? cases.slice(0, MOST - 1) : cases;
  const flags = shown.map((of) => flag(letterOf(of), of));
  if (shown.length < cases.length) flags.push(flag(`+${cases.length - shown.length}`, -1));
  if (differs) flags.push(flag('≈', -1));
  return flags;
}

function flag(text: string, of: number): Flag {
  return { text, of, width: WIDTH + LETTER * (text.length - 1) };
}

/** The room that a node's flags take. */
export function flagWidth(node: Pick<GraphNode, 'cases' | 'differs'>): number {
  return flagsOf(node).reduce((sum, { width }) => sum + width, 0);
}
