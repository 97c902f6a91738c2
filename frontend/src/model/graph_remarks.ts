/** What stands in words beside the origin of a number and beside a failure. */

import { TEXTS } from '../base/texts';
import { OP_ASSUMED, type Finding, type Record } from './record';

/** Left of the origin: `makes 864` and `= 6·12·12`. */
export function originWords(finding: Finding): string[] {
  const [number, arithmetic] = finding.why.split(' = ');
  if (number && arithmetic) return [TEXTS.makes(number), `= ${arithmetic}`];
  const got = [...finding.got.values()][0];
  return got === undefined ? [] : [TEXTS.makes(String(got))];
}

/** Right of a failed op: what became of the run below it; '' where it went on as if nothing had been. */
export function remarkOf(record: Record, failed: number): string {
  const { flags } = record.ops;
  for (let op = failed + 1; op < flags.length; op++) if ((flags[op] ?? 0) & OP_ASSUMED) return TEXTS.nothingBelowRan;
  return failed === flags.length - 1 ? TEXTS.endedHere : '';
}
