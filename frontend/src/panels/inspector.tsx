/** The inspector: all that was recorded of what is selected; of the whole model where nothing is. */

import type { VNode } from 'preact';
import { bytesText, countText, shapeText } from '../base/format';
import { TEXTS } from '../base/texts';
import {
  callDetails,
  moduleDetails,
  opDetails,
  tensorDetails,
  tensorLine,
  type Details,
  type Link,
  type Selected,
  type TensorDetails,
  type TensorLine,
} from '../model/details';
import { opsSeen } from '../model/case_sets';
import { endsOf, totalsSeen } from '../model/case_view';
import { placeText } from '../model/four_lines';
import type { Endpoint, Finding, Record } from '../model/record';
import { branchesAt } from '../model/never_ran';
import { problemsOf } from '../model/findings';
import type { Caller } from '../model/source';
import { stateText } from '../model/states';
import { valuesAt, valuesRead, type ReadValue } from '../model/values_read';
import { select } from '../state/actions';
import * as app from '../state/app_state';
import { CaseBadges, NamedCases } from '../widgets/case_badge';
import { CopyButton } from '../widgets/copy_button';
import { Icon } from '../widgets/icon';
import { DimTable } from '../widgets/dim_table';
import { NumberTable } from '../widgets/number_table';
import { Code, Pairs, Section } from '../widgets/section';
import { ShapeText, TypeText } from '../widgets/shape';
import { SourceView } from '../widgets/source_view';
import { Cases } from './inspector/cases';
import { Costs, totalCosts } from './inspector/costs';
import { MemoryFigures } from './inspector/memory';
import { NeverRan } from './inspector/never_ran';
import { Problems } from './inspector/problems';
import { Values } from './inspector/values';

const MANY = 100; // lines of one section; the rest is told as a number

export function InspectorPanel(): VNode {
  const record = app.record.value;
  return (
    <div class="panel">
      <div class="panel-head">
        <span>{TEXTS.inspector}</span>
      </div>
      <div class="inspector" tabIndex={0} role="region" aria-label={TEXTS.inspector}>
        {record && <Contents record={record} selected={app.selection.value} />}
      </div>
    </div>
  );
}

function Contents({ record, selected }: { readonly record: Record; readonly selected: Selected | null }): VNode {
  switch (selected?.kind) {
    case undefined:
      return <Whole record={record} />;
    case 'op':
      return <Thing record={record} details={opDetails(record, selected.id)} />;
    case 'call':
      return <Thing record={record} details={callDetails(record, selected.id)} />;
    case 'module':
      return <Thing record={record} details={moduleDetails(record, selected.id)} />;
    case 'tensor':
      return <Tensor record={record} details={tensorDetails(record, selected.id)} values={valuesAt(record, selected)} />;
  }
}

function Thing({ record, details }: { readonly record: Record; readonly details: Details }): VNode {
  const { gotWanted, numbers } = details;
  const told = toldFinding(record);
  const isSaid = gotWanted !== null || numbers.length > 0; // what the banner tells already
  const selected = app.selection.value;
  return (
    <>
      <Title record={record} details={details} />
      <Problems record={record} findings={isSaid ? details.findings.filter((finding) => finding !== told) : details.findings} />
      {gotWanted && (
        <Section head={TEXTS.against(gotWanted.gotWord, gotWanted.wantWord)}>
          <DimTable got={gotWanted.got} wanted={gotWanted.wanted} />
        </Section>
      )}
      {numbers.length > 0 && (
        <Section head={TEXTS.requirement}>
          <NumberTable pairs={numbers} />
        </Section>
      )}
      <AllTensors details={details} />
      <Values values={selected ? valuesAt(record, selected) : []} />
      {details.module >= 0 && <NeverRan branches={branchesAt(record, details.module)} whole={false} />}
      {details.arguments.length > 0 && (
        <Section head={TEXTS.arguments}>
          <Pairs pairs={details.arguments.map(({ name, literal }) => [name, <Code key={name} text={literal} />])} />
        </Section>
      )}
      {details.source.length > 0 && (
        <Section head={TEXTS.source(details.sourceFile)}>
          <SourceView lines={details.source} failed={details.state === 'failed'} />
        </Section>
      )}
      {details.callers.length > 0 && (
        <Section head={TEXTS.calledFrom}>
          <Callers callers={details.callers} />
        </Section>
      )}
      <ModuleFacts details={details} />
      {selected && <Costs record={record} selected={selected} />}
      {details.ops.length > 0 && <Links head={TEXTS.ops} links={details.ops} />}
      {details.children.length > 0 && <Children items={details.children} />}
    </>
  );
}

function onThisRank(bytes: number | null): readonly (readonly [string, string])[] {
  return bytes === null ? [] : [[TEXTS.onThisRank, bytesText(bytes)]];
}

function ModuleFacts({ details }: { readonly details: Details }): VNode {
  const { config, figures, sharedWith } = details;
  return (
    <>
      {config && (
        <Section head={TEXTS.settings}>
          <Code text={config} />
        </Section>
      )}
      {figures && (
        <Section head={TEXTS.figures}>
          <Pairs
            pairs={[
              [TEXTS.parameters, countText(figures.params)],
              [TEXTS.trainable, countText(figures.trainable)],
              [TEXTS.parameterBytes, bytesText(figures.paramBytes)],
              ...onThisRank(figures.localParamBytes),
              [TEXTS.bufferBytes, bytesText(figures.bufferBytes)],
            ]}
          />
        </Section>
      )}
      {sharedWith.length > 0 && (
        <Section head={TEXTS.sharedWith}>
          <Code text={sharedWith.join(', ')} />
        </Section>
      )}
    </>
  );
}

function Children({ items }: { readonly items: Details['children'] }): VNode {
  return (
    <Section head={TEXTS.children}>
      <ul class="lines">
        {items.map((child, i) => (
          <li key={i} class="mono wraps">
            {child.name} <span class="muted">{child.outputs.join(', ')}</span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Title({ record, details }: { readonly record: Record; readonly details: Details }): VNode {
  const worst = details.findings[0]?.severity;
  const words = [details.type, details.call > 1 || details.type ? details.call && TEXTS.callNumber(details.call) : '']
    .filter(Boolean)
    .join(', ');
  const state = stateText(record, details.state);
  return (
    <div class="title">
      <div class="title-line">
        {worst === 'error' && <Icon name="error" size={16} />}
        {worst === 'warning' && <Icon name="warn" size={16} />}
        <h2>{details.title}</h2>
        <span class="muted">{words}</span>
        <span class="spring" />
        {details.place && (
          <span class="place">
            {placeText(details.place.file, details.place.line)}
            <CopyButton
              text={placeText(details.place.file, details.place.line)}
              what={placeText(details.place.file, details.place.line)}
            />
          </span>
        )}
      </div>
      <p class="muted wraps">
        {[details.path === details.title ? '' : details.path, details.type ? '' : details.fullName, state]
          .filter(Boolean)
          .join(' · ')}
      </p>
      <NamedCases lead={TEXTS.ranOnlyIn} cases={details.cases} all={record.cases} />
      {details.lazy && <p class="muted">{TEXTS.lazy}</p>}
    </div>
  );
}

/** The finding that banner and card tell. */
function toldFinding(record: Record): Finding | undefined {
  return app.problemShown.value ? problemsOf(record)[app.problemIndex.value]?.finding : undefined;
}

/** Of an op its inputs and outputs apart; of a module all in one, with its own parameters between. */
function AllTensors({ details }: { readonly details: Details }): VNode {
  const own = (lines: readonly TensorLine[]): readonly TensorLine[] => lines.map((line) => ({ ...line, from: '' }));
  const made = own(labelled(details.outputs, details.figures ? TEXTS.outputLabel : TEXTS.result));
  if (!details.figures)
    return (
      <>
        <Tensors head={details.inputs.length === 1 ? TEXTS.input : TEXTS.inputs} lines={details.inputs} />
        <Tensors head={details.outputs.length === 1 ? TEXTS.output : TEXTS.outputs} lines={made} />
      </>
    );
  return <Tensors head={TEXTS.tensors} lines={[...labelled(details.inputs, TEXTS.inputLabel), ...details.own, ...made]} />;
}

function labelled(lines: readonly TensorLine[], word: string): readonly TensorLine[] {
  return lines.map((line) => ({ ...line, label: line.label ? `${word} ${line.label}` : word }));
}

function Tensors({ head, lines }: { readonly head: string; readonly lines: readonly TensorLine[] }): VNode | null {
  if (lines.length === 0) return null;
  return (
    <Section head={head}>
      <dl class="pairs">
        {lines.slice(0, MANY).map((line, i) => (
          <div key={i}>
            <dt>{line.label}</dt>
            <dd>
              <button type="button" class="plain-link" onClick={() => select({ kind: 'tensor', id: line.tensor })}>
                <TypeText dtype={line.dtype} dims={line.dims} device={line.device} assumed={line.assumed} />
              </button>{' '}
              <span class="muted">{lineHint(line)}</span> <CaseBadges cases={line.cases} all={app.record.value?.cases ?? []} />
            </dd>
          </div>
        ))}
      </dl>
      {lines.length > MANY && <p class="muted">{TEXTS.moreLines(lines.length - MANY)}</p>}
    </Section>
  );
}

function lineHint(line: TensorLine): string {
  const bytes = line.varies ? TEXTS.atMost(bytesText(line.bytes)) : bytesText(line.bytes);
  return [line.assumed ? TEXTS.assumed : bytes, line.from && TEXTS.fromOp(line.from)].filter(Boolean).join(', ');
}

function Callers({ callers }: { readonly callers: readonly Caller[] }): VNode {
  return (
    <ul class="lines">
      {callers.map((caller, i) => (
        <li key={i}>
          {placeText(caller.file, caller.line)} <span class="mono">{caller.code}</span>
        </li>
      ))}
    </ul>
  );
}

function Links({ head, links }: { readonly head: string; readonly links: readonly Link[] }): VNode {
  return (
    <Section head={head}>
      <ul class="lines">
        {links.slice(0, MANY).map((link) => (
          <li key={`${link.subject.kind}-${link.subject.id}`}>
            <button type="button" class="link" onClick={() => select(link.subject, true)}>
              {link.text}
            </button>{' '}
            <span class="mono muted">{link.hint}</span>
          </li>
        ))}
        {links.length > MANY && <li class="muted">{TEXTS.moreLines(links.length - MANY)}</li>}
      </ul>
    </Section>
  );
}

interface TensorProps {
  readonly record: Record;
  readonly details: TensorDetails;
  readonly values: readonly ReadValue[];
}

function Tensor({ record, details, values }: TensorProps): VNode {
  const figure = (text: string): string => (details.varies ? TEXTS.atMost(text) : text);
  return (
    <>
      <div class="title">
        <div class="title-line">
          <h2>{details.title || details.kind}</h2>
          <span class="muted">{details.kind}</span>
        </div>
        <p class="mono">
          {details.type} {details.assumed && <i class="muted">{TEXTS.assumed}</i>}
        </p>
        <NamedCases lead={TEXTS.ranOnlyIn} cases={details.cases} all={record.cases} />
      </div>
      {details.shapes.length > 0 && (
        <Section head={TEXTS.shapeByCase}>
          <Pairs
            pairs={details.shapes.map(({ of, shape }) => [
              record.cases[of]?.name ?? '',
              <Code key={of} text={shapeText(shape)} />,
            ])}
          />
        </Section>
      )}
      <Values values={values} />
      <Section head={TEXTS.figures}>
        <Pairs
          pairs={[
            [TEXTS.shape, <ShapeText key="shape" dims={details.dims} assumed={details.assumed} />],
            [TEXTS.dtype, details.dtype],
            [TEXTS.device, details.device],
            [TEXTS.elements, figure(countText(details.elements))],
            [TEXTS.bytes, figure(bytesText(details.bytes))],
            [TEXTS.gradient, details.requiresGrad ? TEXTS.required : TEXTS.notRequired],
          ]}
        />
      </Section>
      {details.producer ? (
        <Links head={TEXTS.producedBy} links={[details.producer]} />
      ) : (
        <Section head={TEXTS.producedBy}>
          <p class="muted">{TEXTS.nothingBefore}</p>
        </Section>
      )}
      {details.users.length > 0 && <Links head={TEXTS.usedBy} links={details.users} />}
      {details.sameMemory.length > 0 && <Links head={TEXTS.views} links={details.sameMemory} />}
    </>
  );
}

function Whole({ record }: { readonly record: Record }): VNode {
  const totals = totalsSeen(record);
  const ends = record.picked === undefined && record.cases.length > 1 ? TEXTS.atMost : String;
  return (
    <>
      <div class="title">
        <div class="title-line">
          <h2>{record.name}</h2>
          <span class="muted">{record.completed ? TEXTS.completed : TEXTS.stopped}</span>
        </div>
      </div>
      {record.error && <p class="tone-error wraps">{record.error}</p>}
      {record.findings.length > 0 && (
        <Section head={TEXTS.problems}>
          <Problems record={record} findings={record.findings} />
        </Section>
      )}
      <Cases record={record} />
      <Endpoints record={record} head={TEXTS.inputs} endpoints={endsOf(record, 'inputs')} />
      <Endpoints record={record} head={TEXTS.outputs} endpoints={endsOf(record, 'outputs')} />
      <NeverRan branches={record.branches} whole />
      <Values values={valuesRead(record)} />
      <Section head={TEXTS.totals}>
        <Pairs
          pairs={[
            [TEXTS.parameters, countText(totals.params)],
            [TEXTS.trainable, countText(totals.trainableParams)],
            [TEXTS.parameterBytes, bytesText(totals.paramBytes)],
            ...onThisRank(totals.localParamBytes),
            [TEXTS.bufferBytes, bytesText(totals.bufferBytes)],
            [TEXTS.inputBytes, ends(bytesText(totals.inputBytes))],
            [TEXTS.outputBytes, ends(bytesText(totals.outputBytes))],
            [TEXTS.opCount, countText(opsSeen(record))],
            ...totalCosts(totals),
          ]}
        />
      </Section>
      <MemoryFigures record={record} totals={totals} />
      <Section head={TEXTS.madeWith}>
        <Pairs pairs={[[TEXTS.runAs, record.execution === 'fake' ? TEXTS.fakeRun : TEXTS.realRun], ...record.versions]} />
      </Section>
      {record.unchecked.length > 0 && (
        <Section head={TEXTS.unchecked}>
          <ul class="lines">
            {record.unchecked.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}

function Endpoints({
  record,
  head,
  endpoints,
}: {
  readonly record: Record;
  readonly head: string;
  readonly endpoints: readonly Endpoint[];
}): VNode | null {
  const tensors = endpoints.filter(({ tensor }) => tensor >= 0).map(({ name, tensor }) => tensorLine(record, tensor, name));
  const literals = endpoints.filter(({ tensor }) => tensor < 0);
  return (
    <>
      <Tensors head={head} lines={tensors} />
      {literals.length > 0 && <Pairs pairs={literals.map(({ name, literal }) => [name, <Code key={name} text={literal} />])} />}
    </>
  );
}
