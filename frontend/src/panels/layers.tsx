/** The table of layers in execution order: what goes in, what comes out, parameters and bytes, bars in the cells. */

import type { VNode } from 'preact';
import { useComputed, useSignal } from '@preact/signals';
import { bytesText, countText, shortCount } from '../base/format';
import { TEXTS } from '../base/texts';
import { tellsFlops, tellsSavedBytes } from '../model/costs';
import { largest, layerRows, sortRows, type LayerRow, type ShapeCell, type Sort, type SortKey } from '../model/rows';
import { stateText } from '../model/states';
import { shownRows } from '../model/tree';
import { select } from '../state/actions';
import * as app from '../state/app_state';
import { useOpenRows } from '../state/open_rows';
import { CaseBadges } from '../widgets/case_badge';
import { Chevron } from '../widgets/chevron';
import { Icon } from '../widgets/icon';
import { toggled } from '../widgets/row_keys';
import { ShapeText } from '../widgets/shape';
import { NumberWithBar, Table, type Column } from '../widgets/table';

const SORTED: readonly SortKey[] = ['name', 'params', 'trainable', 'outputBytes', 'flops', 'savedBytes'];

export function LayersPanel(): VNode {
  const all = useComputed(() => (app.record.value ? layerRows(app.record.value) : []));
  const most = useComputed(() => largest(all.value));
  const sort = useSignal<Sort | null>(null);
  const selected = useComputed(() => keyOfSelection(all.value));
  const open = useOpenRows(all, selected);
  const toggle = (key: string): void => void (open.value = toggled(open.peek(), key));
  const sortBy = (column: string): void => {
    const by = SORTED.find((each) => each === column);
    if (by) sort.value = nextSort(sort.peek(), by);
  };
  const rows = shownRows(sortRows(all.value, sort.value), open.value);
  if (app.record.value && all.value.length === 0) return <p class="panel-empty muted">{TEXTS.noLayers}</p>;
  return (
    <Table
      label={TEXTS.layers}
      columns={[...textColumns(open.value, toggle), ...numberColumns(most.value), ...costColumns(most.value)]}
      rows={rows}
      open={open.value}
      selected={selected.value}
      reveal={app.revealRequest.value}
      sort={sort.value}
      rowClass={(row) =>
        [
          row.depth === 0 ? 'total' : '',
          row.state === 'never called' || row.state === 'not run' ? 'ghost' : '',
          row.counts.errors && row.inside === 0 ? 'failed' : '',
        ].join(' ')
      }
      select={(row) => select(row.subject, true)}
      toggle={toggle}
      sortBy={sortBy}
    />
  );
}

/** Numbers fall first, names rise first; the third press gives execution order back. */
function nextSort(now: Sort | null, by: SortKey): Sort | null {
  const first = by !== 'name';
  if (now?.by !== by) return { by, descending: first };
  return now.descending === first ? { by, descending: !first } : null;
}

function keyOfSelection(rows: readonly LayerRow[]): string | null {
  const [record, selection] = [app.record.value, app.selection.value];
  if (!record || !selection || selection.kind === 'tensor') return null;
  const call = selection.kind === 'op' ? (record.ops.call[selection.id] ?? -1) : selection.kind === 'call' ? selection.id : -1;
  const key = selection.kind === 'module' ? `module-${selection.id}` : `call-${call}`;
  return rows.some((row) => row.key === key) ? key : null;
}

function textColumns(open: ReadonlySet<string>, toggle: (key: string) => void): readonly Column<LayerRow>[] {
  const text = { numeric: false, bars: false, stays: false, sorts: false };
  return [
    {
      ...text,
      id: 'name',
      title: TEXTS.columnLayer,
      least: 160,
      share: 3,
      stays: true,
      sorts: true,
      cell: (row) => <Name row={row} open={open} toggle={toggle} />,
    },
    { ...text, id: 'type', title: TEXTS.columnType, least: 140, share: 3, cell: (row) => <Type row={row} /> },
    { ...text, id: 'input', title: TEXTS.columnInput, least: 130, share: 2, cell: (row) => <Cell row={row} cell={row.input} /> },
    {
      ...text,
      id: 'output',
      title: TEXTS.columnOutput,
      least: 150,
      share: 2,
      cell: (row) => <Cell row={row} cell={row.output} />,
    },
  ];
}

function numberColumns(most: ReturnType<typeof largest>): readonly Column<LayerRow>[] {
  const number = { numeric: true, bars: true, stays: false, sorts: true };
  const share = (row: LayerRow, value: number | null, end: number): number => (row.depth > 0 && value && end ? value / end : 0);
  return [
    {
      ...number,
      id: 'params',
      title: TEXTS.columnParameters,
      least: 200,
      share: 3,
      stays: true,
      cell: (row) =>
        row.countedIn ? (
          <NumberWithBar text={TEXTS.countedIn(row.countedIn)} share={0} muted />
        ) : (
          <NumberWithBar text={countText(row.params)} share={share(row, row.params, most.params)} />
        ),
    },
    {
      ...number,
      bars: false,
      id: 'trainable',
      title: TEXTS.columnTrainable,
      least: 100,
      share: 1,
      cell: (row) => (row.countedIn ? '' : countText(row.trainable)),
    },
    {
      ...number,
      id: 'outputBytes',
      title: TEXTS.columnOutputBytes,
      least: 200,
      share: 3,
      cell: (row) => <NumberWithBar text={outputText(row)} share={share(row, row.outputBytes, most.outputBytes)} />,
    },
  ];
}

/** What the record tells of costs: a column of nothing but unknown is left out. */
function costColumns(most: ReturnType<typeof largest>): readonly Column<LayerRow>[] {
  const record = app.record.value;
  const number = { numeric: true, bars: true, stays: false, sorts: true, least: 160, share: 2 };
  const bar = (row: LayerRow, value: number | null, end: number): number => (row.depth > 0 && value && end ? value / end : 0);
  const flops: Column<LayerRow> = {
    ...number,
    id: 'flops',
    title: TEXTS.columnFlops,
    cell: (row) => <NumberWithBar text={flopsText(row)} share={bar(row, row.flops, most.flops)} />,
  };
  const saved: Column<LayerRow> = {
    ...number,
    id: 'savedBytes',
    title: TEXTS.columnSaved,
    cell: (row) => <NumberWithBar text={ran(row, bytesText(row.savedBytes))} share={bar(row, row.savedBytes, most.savedBytes)} />,
  };
  return [...(record && tellsFlops(record) ? [flops] : []), ...(record && tellsSavedBytes(record) ? [saved] : [])];
}

const ran = (row: LayerRow, text: string): string => (row.call < 0 ? TEXTS.dash : text);

function flopsText(row: LayerRow): string {
  const text = shortCount(row.flops);
  return ran(row, row.flopsComplete ? text : TEXTS.atLeast(text));
}

function outputText(row: LayerRow): string {
  if (row.output.tensor < 0) return TEXTS.dash;
  const bytes = bytesText(row.outputBytes);
  return row.bytesVary ? TEXTS.atMost(bytes) : bytes;
}

function Type({ row }: { readonly row: LayerRow }): VNode {
  const below = (app.record.value?.modules.path.length ?? 1) - 1;
  const text = row.depth === 0 && below > 0 ? TEXTS.modules(below) : row.type;
  return (
    <span class="muted cut-off" data-tip={row.fullType}>
      {text}
    </span>
  );
}

function Name({
  row,
  open,
  toggle,
}: {
  readonly row: LayerRow;
  readonly open: ReadonlySet<string>;
  readonly toggle: (key: string) => void;
}): VNode {
  const { errors, warnings, followers } = row.counts;
  return (
    <span class="layer-name" style={{ paddingLeft: `${row.depth * 16}px` }}>
      <Chevron inside={row.inside > 0} open={open.has(row.key)} toggle={() => toggle(row.key)} />
      <b title={row.name}>{row.name}</b>
      {row.ofSeveral && <span class="muted">{TEXTS.callNumber(row.number)}</span>}
      {row.state !== 'not run' && <CaseBadges cases={row.cases} all={app.record.value?.cases ?? []} />}
      {errors > 0 && <Marked name="error" words={TEXTS.errors(errors)} />}
      {followers > 0 && <Marked name="close" words={TEXTS.followers(followers)} />}
      {warnings > 0 && <Marked name="warn" words={TEXTS.warnings(warnings)} />}
    </span>
  );
}

/** A cross alone stands for failures that another one led to. */
function Marked({ name, words }: { readonly name: 'error' | 'warn' | 'close'; readonly words: string }): VNode {
  return (
    <span class={`mark ${name === 'close' ? 'follows' : `tone-${name}`}`} data-tip={words}>
      <Icon name={name} />
      <span class="for-readers">{words}</span>
    </span>
  );
}

function Cell({ row, cell }: { readonly row: LayerRow; readonly cell: ShapeCell }): VNode {
  const record = app.record.value;
  if (record && (row.state === 'never called' || row.state === 'not run')) return <span>{stateText(record, row.state)}</span>;
  if (cell.tensor < 0) return <span class="muted">{TEXTS.dash}</span>;
  return (
    <span class="cut-off">
      <ShapeText dims={cell.dims} assumed={cell.assumed} />
      {cell.more > 0 && <span class="muted"> {TEXTS.more(cell.more)}</span>}
      {cell.assumed && <span class="word"> {TEXTS.assumed}</span>}
    </span>
  );
}
