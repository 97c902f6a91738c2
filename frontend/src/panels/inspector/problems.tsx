/** The problems of what is inspected, each leading to where it is told; notes and what only follows are quieter. */

import type { VNode } from 'preact';
import { problemsOf, subjectOf } from '../../model/findings';
import type { Finding, Record } from '../../model/record';
import { goToProblem, select } from '../../state/actions';
import { Icon } from '../../widgets/icon';

export function Problems({ record, findings }: { readonly record: Record; readonly findings: readonly Finding[] }): VNode | null {
  if (findings.length === 0) return null;
  return (
    <ul class="lines findings">
      {findings.map((finding, i) => (
        <li key={i} class={toneOf(finding)}>
          <Sign finding={finding} />
          <Message record={record} finding={finding} />
        </li>
      ))}
    </ul>
  );
}

function toneOf({ severity, causedBy }: Finding): string {
  if (severity === 'note' || causedBy >= 0) return 'muted';
  return severity === 'error' ? 'tone-error' : 'tone-warn';
}

function Sign({ finding: { severity, causedBy } }: { readonly finding: Finding }): VNode | null {
  if (severity === 'note') return null;
  return <Icon name={causedBy >= 0 ? 'close' : severity === 'error' ? 'error' : 'warn'} />;
}

function Message({ record, finding }: { readonly record: Record; readonly finding: Finding }): VNode {
  const problem = problemsOf(record).findIndex((each) => each.finding === finding);
  const subject = subjectOf(record, finding);
  if (problem < 0 && !subject) return <span>{finding.message}</span>;
  const go = (): void => (problem >= 0 ? goToProblem(problem) : select(subject, true));
  return (
    <button type="button" class="plain-link" onClick={go}>
      {finding.message}
    </button>
  );
}
