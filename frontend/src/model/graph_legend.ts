/** What of the graph's signs needs a word: those that are there. */

import type { Graph } from './graph';
import type { Family } from './graph_words';
import { VALUE_ORIGINS } from './record';
import type { ValueOrigin } from './values_read';

export interface Legend {
  readonly families: readonly Family[]; // in the order of their hues, grey last
  readonly cases: readonly number[];
  readonly differs: boolean; // some closed group runs differently in each case
  readonly absent: boolean; // some node didn't run in the case that is picked
  readonly values: readonly ValueOrigin[];
  readonly assumed: boolean; // some node didn't run: what it would have given is assumed
}

const ORDER: readonly Family[] = [1, 2, 3, 4, 5, 6, 0];
/** So many cases are named; the picker names all. */
export const MOST_CASES = 8;

/** The legend of a graph. */
export function legendOf({ nodes }: Graph): Legend {
  const families = new Set(nodes.flatMap((node) => (node.kind === 'op' && !node.sign ? [node.family] : [])));
  const values = new Set(nodes.map(({ value }) => value));
  return {
    families: ORDER.filter((family) => families.has(family)),
    cases: [...new Set(nodes.flatMap(({ cases }) => cases))].sort((a, b) => a - b),
    differs: nodes.some(({ differs }) => differs),
    absent: nodes.some(({ absent }) => absent),
    values: VALUE_ORIGINS.filter((origin) => values.has(origin)),
    assumed: nodes.some(({ state }) => state === 'assumed'),
  };
}

/** What is left of it beside the problem that is told: the card names all other signs. */
export function besideProblem(legend: Legend): Legend {
  return { ...legend, families: [], cases: [], differs: false, absent: false, values: [] };
}

/** How many lines it has. */
export function legendLines({ families, cases, differs, absent, values, assumed }: Legend): number {
  const named = Math.min(cases.length, MOST_CASES + 1);
  return families.length + named + Number(differs) + Number(absent) + values.length + Number(assumed);
}
