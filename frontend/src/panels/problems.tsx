/** What is wrong: the red sentence above everything, and the card of four lines at the graph's top right. */

import type { ComponentChildren, VNode } from 'preact';
import { TEXTS } from '../base/texts';
import { casesWith } from '../model/case_sets';
import { clashPieces, problemsOf, type Problem } from '../model/findings';
import { fourLines, fourLinesText, placeText, type FourLines } from '../model/four_lines';
import type { Finding, Fix, Record } from '../model/record';
import { goToProblem, select, stepProblem } from '../state/actions';
import * as app from '../state/app_state';
import { NamedCases } from '../widgets/case_badge';
import { CopyButton } from '../widgets/copy_button';
import { Icon } from '../widgets/icon';

interface Told {
  readonly record: Record;
  readonly problem: Problem;
  readonly index: number;
  readonly count: number;
}

function toldProblem(): Told | null {
  const record = app.record.value;
  const problems = record ? problemsOf(record) : [];
  const index = app.problemIndex.value;
  const problem = problems[index];
  return record && problem ? { record, problem, index, count: problems.length } : null;
}

export function ProblemBanner(): VNode | null {
  const record = app.record.value;
  const told = toldProblem();
  if (record && !record.completed && !problemsOf(record).some(({ severity }) => severity === 'error'))
    return <Stopped error={record.error} />;
  // Warnings alone: no strip; they are marks and a count.
  if (!told || !problemsOf(told.record).some(({ severity }) => severity === 'error')) return null;
  const { finding, severity } = told.problem;
  const place = placeText(finding.file, finding.line);
  return (
    <section class={`banner tone-${severity === 'error' ? 'error' : 'warn'}`} aria-label={TEXTS.problem}>
      <Icon name={severity === 'error' ? 'error' : 'warn'} size={20} />
      <div role="alert">
        <h2>
          <button type="button" class="sentence" onClick={() => goToProblem(told.index)}>
            {finding.message.replace(/\.$/, '')}
          </button>
        </h2>
      </div>
      {place && (
        <button type="button" class="link" onClick={() => goToProblem(told.index)}>
          {place}
        </button>
      )}
      <CopyButton text={`${finding.message}\n${fourLinesText(told.record, finding)}`} what={TEXTS.problem.toLowerCase()} />
      <span class="spring" />
      {told.count > 1 && <Steps index={told.index} count={told.count} />}
    </section>
  );
}

function Stopped({ error }: { readonly error: string }): VNode {
  return (
    <section class="banner tone-error" aria-label={TEXTS.problem}>
      <Icon name="error" size={20} />
      <div role="alert">
        <h2>{error || TEXTS.stopped}</h2>
      </div>
      <CopyButton text={error} what={TEXTS.problem.toLowerCase()} />
    </section>
  );
}

function Steps({ index, count }: { readonly index: number; readonly count: number }): VNode {
  return (
    <span class="steps">
      <span class="muted">{TEXTS.problemOf(index + 1, count)}</span>
      <button type="button" class="button" aria-label={TEXTS.previousProblem} onClick={() => stepProblem(-1)}>
        <kbd>p</kbd>
        <Icon name="back" />
      </button>
      <button type="button" class="button" aria-label={TEXTS.nextProblem} onClick={() => stepProblem(1)}>
        <Icon name="closed" />
        <kbd>n</kbd>
      </button>
    </span>
  );
}

export function ProblemCard(): VNode | null {
  const told = toldProblem();
  if (!told || !app.problemShown.value) return null;
  const { record, problem } = told;
  const { finding } = problem;
  const lines = fourLines(record, finding);
  return (
    <section class="card" aria-label={TEXTS.problemCard}>
      <dl>
        <Line head={TEXTS.where}>
          <Where where={lines.where} go={() => goToProblem(told.index)} />
          <Cases record={record} finding={finding} />
        </Line>
        <Line head={TEXTS.what} mark={problem.severity === 'error' ? 'error' : 'warn'}>
          <Pieces finding={finding} text={lines.what.clause} />
          {lines.what.types && (
            <div class="mono">
              <Pieces finding={finding} text={lines.what.types} />
            </div>
          )}
          {finding.readings.map((reading) => (
            <div key={reading} class="muted">
              {TEXTS.orElse} {reading}
            </div>
          ))}
          {problem.followers.length > 0 && <div class="muted">{TEXTS.follows(problem.followers.length)}</div>}
        </Line>
        {lines.from && (
          <Line head={TEXTS.from} mark="origin">
            <From from={lines.from} finding={finding} />
          </Line>
        )}
        {lines.tries.length > 0 && (
          <Line head={TEXTS.try} mark={lines.tries[0]?.verified ? 'ok' : undefined}>
            {lines.tries.map((fix) => (
              <Try key={fix.text} fix={fix} />
            ))}
          </Line>
        )}
      </dl>
      {finding.torchMessage && (
        <details>
          <summary>{TEXTS.torchSays}</summary>
          <p class="mono wraps">{finding.torchMessage}</p>
        </details>
      )}
    </section>
  );
}

function Line(props: {
  readonly head: string;
  readonly mark?: 'error' | 'warn' | 'origin' | 'ok' | undefined;
  readonly children: ComponentChildren;
}): VNode {
  return (
    <div class="card-line">
      <dt>
        <span class="card-mark">{props.mark && <Icon name={props.mark} size={14} />}</span>
        {props.head}
      </dt>
      <dd>{props.children}</dd>
    </div>
  );
}

/** In which cases of several a problem stands. */
function Cases({ record, finding }: { readonly record: Record; readonly finding: Finding }): VNode | null {
  const cases = record.cases.length < 2 ? null : casesWith(record, finding);
  return cases && <NamedCases lead={TEXTS.inCases} cases={cases} all={record.cases} />;
}

function Where({ where, go }: { readonly where: FourLines['where']; readonly go: () => void }): VNode {
  const place = where.place && (
    <button type="button" class="link" onClick={go}>
      {where.place}
    </button>
  );
  const parts = [where.type, place, where.call ? TEXTS.callNumber(where.call) : ''].filter(Boolean);
  return (
    <>
      <b>{where.name || TEXTS.theModel}</b>
      {parts.length > 0 && <> ({parts.flatMap((part, i) => (i ? [', ', part] : [part]))})</>}
      {where.others > 0 && <span class="muted"> {TEXTS.alsoAt(where.others)}</span>}
    </>
  );
}

function From({ from, finding }: { readonly from: NonNullable<FourLines['from']>; readonly finding: Finding }): VNode {
  const op = finding.origin?.opIndex ?? -1;
  const tensor = finding.origin?.tensor ?? -1;
  const subject = op >= 0 ? ({ kind: 'op', id: op } as const) : tensor >= 0 ? ({ kind: 'tensor', id: tensor } as const) : null;
  const go = (): void => select(subject, true);
  return (
    <>
      {from.why && <b>{from.why}</b>}
      {from.why && from.verb && ', '}
      {from.verb && `${from.verb} `}
      {from.name && (
        <button type="button" class="link origin-name" onClick={go}>
          {from.name}
        </button>
      )}
      {from.of && ` ${from.of}`}
      {from.type && <span class="mono"> {from.type}</span>}
      {from.place && (
        <>
          {' ('}
          <button type="button" class="link" onClick={go}>
            {from.place}
          </button>
          )
        </>
      )}
    </>
  );
}

function Try({ fix }: { readonly fix: Fix }): VNode {
  return (
    <div class="try">
      <span>
        <b class="mono">{fix.text}</b>
        {fix.cost && <span class="muted"> {fix.cost}</span>}
      </span>
      <span class="spring" />
      {fix.verified ? (
        <span class="chip tone-ok">
          <Icon name="ok" /> {TEXTS.runs}
        </span>
      ) : (
        <span class="muted">{TEXTS.notTried}</span>
      )}
      <CopyButton text={fix.text} what={fix.text} />
    </div>
  );
}

function Pieces({ finding, text }: { readonly finding: Finding; readonly text: string }): VNode {
  return (
    <>
      {clashPieces(finding, text).map((piece, i) =>
        piece.tone === 'clash' ? (
          <b key={i} class="clash">
            {piece.text}
          </b>
        ) : (
          piece.text
        ),
      )}
    </>
  );
}
