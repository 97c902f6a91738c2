/** The outline: modules as a tree in execution order, with their parameters and the problems inside. */

import type { VNode } from 'preact';
import { useComputed } from '@preact/signals';
import { countText } from '../base/format';
import { TEXTS } from '../base/texts';
import { outlineRows, rowOf, shownRows, type OutlineRow } from '../model/tree';
import { stateText } from '../model/states';
import { select } from '../state/actions';
import * as app from '../state/app_state';
import { useOpenRows } from '../state/open_rows';
import { CaseBadges } from '../widgets/case_badge';
import { Icon } from '../widgets/icon';
import { toggled } from '../widgets/row_keys';
import { Tree } from '../widgets/tree';

export function OutlinePanel(): VNode {
  const all = useComputed(() => (app.record.value ? outlineRows(app.record.value) : []));
  const selected = useComputed(() => (app.record.value ? rowOf(all.value, app.record.value, app.selection.value) : null));
  const selectedKey = useComputed(() => selected.value?.key ?? null);
  const open = useOpenRows(all, selectedKey);
  return (
    <nav class="panel" aria-label={TEXTS.outline}>
      <div class="panel-head">
        <span>{TEXTS.outline}</span>
        <span>{TEXTS.parameters}</span>
      </div>
      {app.record.value && all.value.length === 0 ? (
        <p class="panel-empty muted">{app.record.value.ops.name.length ? TEXTS.noModules : TEXTS.noModulesRecorded}</p>
      ) : (
        <Tree
          label={TEXTS.outline}
          rows={shownRows(all.value, open.value)}
          open={open.value}
          selected={selected.value?.key ?? null}
          reveal={app.revealRequest.value}
          select={(row) => select(row.subject, true)}
          toggle={(key) => (open.value = toggled(open.peek(), key))}
          render={(row) => <Row row={row} />}
        />
      )}
    </nav>
  );
}

function Row({ row }: { readonly row: OutlineRow }): VNode {
  const record = app.record.value;
  const state = record ? stateText(record, row.state) : '';
  const type = row.state === 'not run' ? '' : row.type;
  const words = [type, row.calls > 1 ? TEXTS.calls(row.calls) : '', state].filter(Boolean);
  const tone = row.state === 'never called' || row.state === 'not run' ? 'ghost' : row.state === 'assumed' ? 'muted' : '';
  return (
    <span class={`outline-row ${tone}`}>
      <span class="outline-name">
        {row.name ? <b>{row.name}</b> : TEXTS.callNumber(row.key.startsWith('call-') ? callNumber(row) : 1)}{' '}
        <span class="type">{words.join(', ')}</span>
      </span>
      {row.state !== 'not run' && <CaseBadges cases={row.cases} all={record?.cases ?? []} />}
      {row.name && <span class="outline-number">{countText(row.params < 0 ? null : row.params)}</span>}
      <Mark name="warn" count={row.counts.warnings} words={TEXTS.warnings(row.counts.warnings)} counted={row.inside > 0} />
      <Followers count={row.counts.followers} />
      <Mark name="error" count={row.counts.errors} words={TEXTS.errors(row.counts.errors)} counted={row.inside > 0} />
    </span>
  );
}

/** Failures that another one led to: told quietly, and not among the errors. */
function Followers({ count }: { readonly count: number }): VNode | null {
  if (count === 0) return null;
  return (
    <span class="mark follows" data-tip={TEXTS.followers(count)}>
      <Icon name="close" />
      <span class="for-readers">{TEXTS.followers(count)}</span>
    </span>
  );
}

function callNumber(row: OutlineRow): number {
  return app.record.value?.calls.number[row.call] ?? 1;
}

function Mark(props: {
  readonly name: 'warn' | 'error';
  readonly count: number;
  readonly words: string;
  readonly counted: boolean;
}): VNode | null {
  if (props.count === 0) return null;
  return (
    <span class={`mark tone-${props.name}`} data-tip={props.words}>
      {(props.counted || props.count > 1) && props.count}
      <Icon name={props.name} />
      <span class="for-readers">{props.words}</span>
    </span>
  );
}
