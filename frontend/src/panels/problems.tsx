/** What is wrong: the red sentence above everything, and the card of four lines at the graph's top right. */

import { Fragment, type ComponentChildren, type VNode } from 'preact';
import { pathEnd } from '../base/format';
import { TEXTS } from '../base/texts';
import { casesWith } from '../model/case_sets';
import { clashPieces, problemsOf } from '../model/findings';
import { fourLines, fourLinesText, fromText, placeText, type FourLines } from '../model/four_lines';
import type { Finding, Record } from '../model/record';
import { goToProblem, select } from '../state/actions';
import * as app from '../state/app_state';
import { NamedCases } from '../widgets/case_badge';
import { CopyButton } from '../widgets/copy_button';
import { Icon } from '../widgets/icon';
import { Fixes } from './problems/fixes';
import { Followers, OtherPlaces } from './problems/related';
import { Steps } from './problems/steps';
import { hasBanner, toldProblem } from './problems/told';

const PLACE_LENGTH = { banner: 48, card: 36 };

export function ProblemBanner(): VNode | null {
  const record = app.record.value;
  const told = toldProblem();
  if (record && !record.completed && !problemsOf(record).some(({ severity }) => severity === 'error'))
    return <Stopped error={record.error} />;
  if (!told || !hasBanner(told)) return null;
  const { finding, severity } = told.problem;
  const go = (): void => goToProblem(told.index);
  return (
    <section class={`banner tone-${severity === 'error' ? 'error' : 'warn'}`} aria-label={TEXTS.problem}>
      <Icon name={severity === 'error' ? 'error' : 'warn'} size={20} />
      <div class="banner-text">
        <div role="alert">
          <h2>
            <button type="button" class="sentence" onClick={go}>
              {finding.message.replace(/\.$/, '')}
            </button>
          </h2>
        </div>
        <span class="banner-place">
          <PlaceLink place={placeText(finding.file, finding.line)} most={PLACE_LENGTH.banner} go={go} />
          <CopyButton text={`${finding.message}\n${fourLinesText(told.record, finding)}`} what={TEXTS.problem.toLowerCase()} />
        </span>
      </div>
      <Steps told={told} />
    </section>
  );
}

function Stopped({ error }: { readonly error: string }): VNode {
  return (
    <section class="banner tone-error" aria-label={TEXTS.problem}>
      <Icon name="error" size={20} />
      <div class="banner-text">
        <div role="alert">
          <h2>{error || TEXTS.stopped}</h2>
        </div>
        {error && <CopyButton text={error} what={TEXTS.problem.toLowerCase()} />}
      </div>
    </section>
  );
}

/** A place in a file: its end where it is long, the whole of it for readers and in the tip. */
function PlaceLink({
  place,
  most,
  go,
}: {
  readonly place: string;
  readonly most: number;
  readonly go: () => void;
}): VNode | null {
  if (place === '') return null;
  const short = pathEnd(place, most);
  const whole = short === place ? {} : { 'aria-label': place, 'data-tip': place };
  return (
    <button type="button" class="link" onClick={go} {...whole}>
      {short}
    </button>
  );
}

export function ProblemCard(): VNode | null {
  const told = toldProblem();
  if (!told || !app.problemShown.value) return null;
  const { record, problem, index } = told;
  const { finding } = problem;
  const { where, what, from, tries } = fourLines(record, finding);
  return (
    <section class="card" aria-label={TEXTS.problemCard}>
      {!hasBanner(told) && <Steps told={told} />}
      <dl>
        <Line head={TEXTS.where}>
          <Where where={where} go={() => goToProblem(index)} />
          {finding.opIndex < 0 && finding.code && <div class="mono wraps">{finding.code}</div>}
          <Cases record={record} finding={finding} />
          <OtherPlaces record={record} finding={finding} />
        </Line>
        <Line head={TEXTS.what} mark={problem.severity === 'error' ? 'error' : 'warn'}>
          <Pieces record={record} finding={finding} text={what.clause} />
          {what.types && (
            <div class="mono">
              <Pieces record={record} finding={finding} text={what.types} />
            </div>
          )}
          {finding.readings.map((reading) => (
            <div key={reading} class="muted">
              {TEXTS.or} {reading}
            </div>
          ))}
          <Followers record={record} followers={problem.followers} />
        </Line>
        {from && (
          <Line head={TEXTS.from} mark="origin">
            <div class="from">
              <div>
                <From from={from} finding={finding} />
              </div>
              <CopyButton text={fromText(from)} what={TEXTS.origin} />
            </div>
          </Line>
        )}
        {tries.length > 0 && (
          <Line head={TEXTS.try} mark={tries[0]?.verified ? 'ok' : undefined}>
            <Fixes fixes={tries} />
          </Line>
        )}
      </dl>
      {finding.torchMessage && (
        <details>
          <summary>{isPythons(finding) ? TEXTS.errorSays : TEXTS.torchSays}</summary>
          <div class="from">
            <p class="mono wraps">{finding.torchMessage}</p>
            <CopyButton text={finding.torchMessage} what={TEXTS.errorMessage} />
          </div>
        </details>
      )}
    </section>
  );
}

/** Raised by code that isn't PyTorch's. */
const isPythons = ({ kind, op }: Finding): boolean => kind === 'user_error' || op.startsWith('python.');

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
  const place = where.place && <PlaceLink place={where.place} most={PLACE_LENGTH.card} go={go} />;
  const parts = [where.type, place, where.call ? TEXTS.callNumber(where.call) : ''].filter(Boolean);
  const signs = (i: number): readonly [string, string] => [i ? '' : '(', i < parts.length - 1 ? ',' : ')'];
  return (
    <>
      <b>{where.name || TEXTS.outsideTheModel}</b>
      {parts.map((part, i) => (
        <Fragment key={i}>
          {' '}
          <span class="whole-words">
            {signs(i)[0]}
            {part}
            {signs(i)[1]}
          </span>
        </Fragment>
      ))}
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
      {from.name &&
        (subject ? (
          <button type="button" class="link origin-name" onClick={go}>
            {from.name}
          </button>
        ) : (
          <b>{from.name}</b>
        ))}
      {from.of && ` ${from.of}`}
      {from.type && <span class="mono"> {from.type}</span>}
      {from.place && ' '}
      {from.place && (
        <span class="whole-words">
          ({subject ? <PlaceLink place={from.place} most={PLACE_LENGTH.card} go={go} /> : from.place})
        </span>
      )}
      {from.note && <div class="muted">{from.note}</div>}
    </>
  );
}

function Pieces(props: { readonly record: Record; readonly finding: Finding; readonly text: string }): VNode {
  return (
    <>
      {clashPieces(props.record, props.finding, props.text).map((piece, i) =>
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
