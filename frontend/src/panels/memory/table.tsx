/** The table of what is alive at the cursor: a row a module, a column a part, all adding up. */

import type { VNode } from 'preact';
import { useComputed, useSignal } from '@preact/signals';
import { bytesText, byteUnit, inUnit, type ByteUnit } from '../../base/format';
import { TEXTS } from '../../base/texts';
import { PARTS, type Part } from '../../model/memory';
import { sortMemoryRows, type MemoryRow, type MemorySort } from '../../model/memory_alive';
import { shownRows } from '../../model/tree';
import { select } from '../../state/actions';
import * as app from '../../state/app_state';
import { useOpenRows } from '../../state/open_rows';
import { PART_HUES } from '../../theme/tokens';
import { Chevron } from '../../widgets/chevron';
import { toggled } from '../../widgets/row_keys';
import { NumberWithParts } from '../../widgets/stacked_bar';
import { Table, type Column } from '../../widgets/table';
import { aliveBytes, lines, rows, selected, tree } from './view';

/** What matters most for a decision stands first; narrow windows drop the last. */
const COLUMNS: readonly Part[] = ['activations', 'temporaries', 'gradients', 'optimizer', 'parameters', 'inputs'];

/** What holds so much of all is open at first: that is where one looks. */
const MOST_SHARE = 0.5;

export function MemoryTable(): VNode {
  const sort = useSignal<MemorySort | null>({ by: 'bytes', descending: true });
  const key = useComputed(() => (selected.value ? (tree.value.nodes[selected.value.node]?.key ?? null) : null));
  const open = useOpenRows(rows, key, (row) => row.depth < 4 && row.bytes > MOST_SHARE * aliveBytes.peek());
  const shown = shownRows(sortMemoryRows(rows.value, sort.value), open.value);
  const unit = byteUnit(lines.value.peak.bytes, 1);
  const toggle = (row: string): void => void (open.value = toggled(open.peek(), row));
  const most = rows.value.reduce((largest, row) => (row.depth > 0 ? Math.max(largest, row.bytes) : largest), 0);
  return (
    <Table
      label={TEXTS.memoryTable}
      columns={columnsOf(unit, most, open.value, toggle)}
      rows={shown}
      open={open.value}
      selected={key.value}
      reveal={app.revealRequest.value}
      sort={sort.value}
      rowClass={(row) => (row.depth === 0 ? 'total' : '')}
      select={(row) => row.node.subject && select(row.node.subject, true)}
      toggle={toggle}
      sortBy={(by) => (sort.value = nextSort(sort.peek(), by))}
    />
  );
}

/** Numbers fall first, names rise first; the third press gives the order of execution back. */
function nextSort(now: MemorySort | null, by: string): MemorySort | null {
  const first = by !== 'name';
  if (now?.by !== by) return { by, descending: first };
  return now.descending === first ? { by, descending: !first } : null;
}

function columnsOf(
  unit: ByteUnit,
  most: number,
  open: ReadonlySet<string>,
  toggle: (key: string) => void,
): readonly Column<MemoryRow>[] {
  const amount = (bytes: number): string => amountText(bytes, unit);
  return [
    {
      ...{ id: 'name', title: TEXTS.columnLayer, least: 160, share: 3, stays: true, sorts: true, numeric: false, bars: false },
      cell: (row) => <Name row={row} open={open.has(row.key)} toggle={() => toggle(row.key)} />,
    },
    {
      ...{
        id: 'bytes',
        title: TEXTS.columnLive(unit.name),
        least: 248,
        share: 4,
        stays: true,
        sorts: true,
        numeric: true,
        bars: true,
      },
      cell: (row) => (
        <NumberWithParts
          text={amount(row.bytes)}
          parts={PARTS.map((part, i) => ({
            hue: PART_HUES[part],
            share: row.depth > 0 && most ? (row.parts[i] ?? 0) / most : 0,
          }))}
        />
      ),
    },
    ...COLUMNS.map((part) => ({
      ...{ id: part, title: TEXTS.parts[part], least: 92, share: 2, stays: false, sorts: true, numeric: true, bars: false },
      cell: (row: MemoryRow) => amount(row.parts[PARTS.indexOf(part)] ?? 0),
    })),
  ];
}

/** In the column's unit; what would be 0.0 there keeps its own. */
function amountText(bytes: number, unit: ByteUnit): string {
  if (bytes === 0) return TEXTS.dash;
  return bytes < 0.05 * unit.bytes ? bytesText(Math.round(bytes)) : inUnit(bytes, unit, 1);
}

function Name({ row, open, toggle }: { readonly row: MemoryRow; readonly open: boolean; readonly toggle: () => void }): VNode {
  const { node } = row;
  return (
    <span class="layer-name" style={{ paddingLeft: `${row.depth * 16}px` }}>
      <Chevron inside={row.inside > 0} open={open} toggle={toggle} />
      {node.own ? <i class="cut-off">{node.name}</i> : <b title={node.name}>{node.name}</b>}
      {node.times > 1 && <span class="times-badge">{TEXTS.times(node.times)}</span>}
      {row.depth === 0 && aliveBytes.value === 0 && <span class="muted">{TEXTS.nothingAlive}</span>}
    </span>
  );
}
