/** What stands in place of the panels where there is no record: how to log one, what is being read, or why one can't be. */

import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { bytesText } from '../base/format';
import { TEXTS } from '../base/texts';
import { reload } from '../state/actions';
import * as app from '../state/app_state';
import type { Status } from '../model/listing';
import type { Loading } from '../state/app_state';
import { CopyButton } from '../widgets/copy_button';
import { Icon } from '../widgets/icon';

const QUIET_MS = 200;

export function EmptyPanel(): VNode | null {
  const loading = app.loading.value;
  if (loading.state === 'failed') return <CannotBeRead failed={loading} />;
  if (app.models.value?.length === 0) return <HowToLog status={app.status.value} />;
  return loading.state === 'loading' ? <Reading what={loading.what} bytes={loading.bytes} /> : null;
}

function CannotBeRead({ failed }: { readonly failed: Loading & { readonly state: 'failed' } }): VNode {
  const others = (app.models.value?.filter(({ problem }) => problem === null).length ?? 0) - (isListed() ? 1 : 0);
  return (
    <div class="whole">
      <div class="cannot" role="alert">
        <Icon name="error" size={16} />
        <div>
          <p class="cannot-what">{failed.why}</p>
          <p>
            {failed.what}. {others > 0 && TEXTS.othersReadable(others)}
          </p>
          <p class="muted">{failed.wayOut}</p>
          <button type="button" class="button" onClick={reload}>
            {TEXTS.tryAgain}
          </button>
        </div>
      </div>
    </div>
  );
}

function isListed(): boolean {
  const current = app.current.value;
  return !!app.models.value?.some(({ run, tag, problem }) => run === current?.run && tag === current.tag && problem === null);
}

function Reading({ what, bytes }: { readonly what: string; readonly bytes: number }): VNode | null {
  const [shown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), QUIET_MS);
    return () => clearTimeout(timer);
  }, []);
  if (!shown) return null;
  return (
    <div class="whole">
      <div class="reading">
        <div class="reading-bar" />
        <p class="muted" role="status">
          {bytes ? TEXTS.readingBytes(what, bytesText(bytes)) : TEXTS.reading(what)}
        </p>
        <div class="grey-rows" aria-hidden="true">
          {[120, 168, 144].map((width) => (
            <div key={width} style={{ width: `${width}px` }} />
          ))}
        </div>
      </div>
    </div>
  );
}

function HowToLog({ status }: { readonly status: Status | null }): VNode {
  return (
    <div class="whole">
      <div class="empty">
        <h2>{TEXTS.emptyTitle}</h2>
        <p class="lead">{TEXTS.emptyLead}</p>
        <div class="empty-columns">
          <div>
            <Code head={TEXTS.emptyLogOne} lines={TEXTS.emptyCode} marked={TEXTS.emptyCodeMarked} />
            <Code head={TEXTS.emptyWithout} lines={TEXTS.emptyWithoutCode} marked={-1} />
            <p class="muted">{TEXTS.emptyThen}</p>
          </div>
          {status && <WhatIsRead status={status} />}
        </div>
      </div>
    </div>
  );
}

function Code({
  head,
  lines,
  marked,
}: {
  readonly head: string;
  readonly lines: readonly string[];
  readonly marked: number;
}): VNode {
  return (
    <section>
      <div class="code-head">
        <h3>{head}</h3>
        <span class="spring" />
        <CopyButton text={lines.join('\n')} what={head} worded />
      </div>
      <pre class="code" tabIndex={0}>
        {lines.map((line, i) => (
          <div key={i} class={i === marked ? 'marked' : ''}>
            {line || ' '}
          </div>
        ))}
      </pre>
    </section>
  );
}

function WhatIsRead({ status }: { readonly status: Status }): VNode {
  return (
    <div>
      <h3>{TEXTS.emptyReads}</h3>
      <table class="runs">
        <thead>
          <tr>
            <th scope="col">{TEXTS.emptyRun}</th>
            <th scope="col">{TEXTS.emptyWrittenBy}</th>
            <th scope="col">{TEXTS.emptyShapes}</th>
          </tr>
        </thead>
        <tbody>
          {status.runs.map(({ run, plugins }) => (
            <tr key={run}>
              <td>{run || '.'}</td>
              <td class="muted">{plugins.join(', ')}</td>
              <td class="muted">{TEXTS.emptyNone}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {status.runs.length === 0 && <p class="muted">{TEXTS.emptyNoRuns}</p>}
      <dl class="pairs facts">
        <div>
          <dt>{TEXTS.emptyLogdir}</dt>
          <dd class="mono wraps">{status.logdir}</dd>
        </div>
        <div>
          <dt>{TEXTS.emptyTensorBoard}</dt>
          <dd>{TEXTS.emptyLoader(status.tensorboard, status.loader)}</dd>
        </div>
        <div>
          <dt>{TEXTS.shapes}</dt>
          <dd>{TEXTS.emptyReadsDraft(status.shapes, status.draft)}</dd>
        </div>
      </dl>
      <h3>{TEXTS.emptyNotExpected}</h3>
      <p class="muted">{TEXTS.emptyCheck}</p>
    </div>
  );
}
