/** Which problem is told at the moment, of how many. */

import { problemsOf, type Problem } from '../../model/findings';
import type { Record } from '../../model/record';
import * as app from '../../state/app_state';

export interface Told {
  readonly record: Record;
  readonly problem: Problem;
  readonly index: number;
  readonly all: readonly Problem[];
}

/** The told problem; null where there is none. */
export function toldProblem(): Told | null {
  const record = app.record.value;
  const all = record ? problemsOf(record) : [];
  const index = app.problemIndex.value;
  const problem = all[index];
  return record && problem ? { record, problem, index, all } : null;
}

/** Whether the red sentence stands above everything: warnings alone have none, they are marks and a count. */
export function hasBanner({ all }: Told): boolean {
  return all.some(({ severity }) => severity === 'error');
}
