/** A table whose rows open and close: role=treegrid, a head that stays, sorting, only the rows in sight drawn. */

import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useId } from 'preact/hooks';
import { TEXTS } from '../base/texts';
import { Icon } from './icon';
import { pressRow, type TreeRow } from './row_keys';
import { useSight } from './virtual';
import { useWidth } from './width';

export interface Column<R> {
  readonly id: string;
  readonly title: string;
  readonly least: number; // px below which it is left out
  readonly share: number; // of the width that is left over
  readonly numeric: boolean;
  readonly bars: boolean; // its cells are NumberWithBar
  readonly stays: boolean; // never left out
  readonly sorts: boolean;
  readonly hint?: string;
  readonly cell: (row: R) => ComponentChildren;
}

export interface SortState {
  readonly by: string;
  readonly descending: boolean;
}

interface Props<R extends TreeRow> {
  readonly label: string;
  readonly columns: readonly Column<R>[];
  readonly rows: readonly R[]; // those that are shown
  readonly open: ReadonlySet<string>;
  readonly selected: string | null;
  readonly reveal: number;
  readonly sort: SortState | null;
  readonly rowClass: (row: R) => string;
  readonly select: (row: R) => void;
  readonly toggle: (key: string) => void;
  readonly sortBy: (column: string) => void;
}

const ROW_PX = 24;
const FIRST_WIDTH_PX = 1440;

/** The columns that fit, left out from the right; those that stay always do. */
export function columnsThatFit<R>(columns: readonly Column<R>[], width: number): readonly Column<R>[] {
  const shown = [...columns];
  const needed = (): number => shown.reduce((sum, column) => sum + column.least, 0);
  for (let i = shown.length - 1; i >= 0 && needed() > width; i--) if (!shown[i]?.stays) shown.splice(i, 1);
  return shown;
}

export function Table<R extends TreeRow>(props: Props<R>): VNode {
  const { rows, open } = props;
  const id = useId();
  const sight = useSight(rows.length, ROW_PX, ROW_PX);
  const columns = columnsThatFit(props.columns, useWidth(sight.scroller, FIRST_WIDTH_PX));
  const tracks = columns.map(({ least, share }) => `minmax(${least}px, ${share}fr)`).join(' ');
  const at = rows.findIndex(({ key }) => key === props.selected);
  useEffect(() => {
    if (at >= 0) sight.show(at);
  }, [at, props.reveal]);
  const press = (event: KeyboardEvent): void => {
    const acts = { move: (row: TreeRow) => props.select(row as R), toggle: (row: TreeRow) => props.toggle(row.key) };
    if (event.target === event.currentTarget && pressRow(event.key, rows, at, open, acts)) event.preventDefault();
  };
  const active = sight.rows.some(({ index }) => index === at) ? `${id}-${at}` : undefined;
  return (
    <div
      class="table"
      ref={sight.scroller}
      role="treegrid"
      tabIndex={0}
      aria-label={props.label}
      aria-rowcount={rows.length + 1}
      aria-activedescendant={active}
      onKeyDown={press}
    >
      <div class="table-head" role="row" aria-rowindex={1} style={{ gridTemplateColumns: tracks }}>
        {columns.map((column) => (
          <Head key={column.id} column={column} sort={props.sort} sortBy={props.sortBy} />
        ))}
      </div>
      <div class="sight" role="presentation" style={{ height: `${sight.height}px` }}>
        {sight.rows.map(({ index, start }) => {
          const row = rows[index];
          if (!row) return null;
          const place = { id: `${id}-${index}`, index, top: start, tracks, selected: index === at };
          return <Row key={row.key} row={row} columns={columns} place={place} table={props} />;
        })}
      </div>
    </div>
  );
}

interface Place {
  readonly id: string;
  readonly index: number;
  readonly top: number; // px
  readonly tracks: string;
  readonly selected: boolean;
}

function Row<R extends TreeRow>(props: {
  readonly row: R;
  readonly columns: readonly Column<R>[];
  readonly place: Place;
  readonly table: Props<R>;
}): VNode {
  const { row, place, table } = props;
  return (
    <div
      id={place.id}
      class={`table-row ${table.rowClass(row)}`}
      role="row"
      aria-level={row.depth + 1}
      aria-rowindex={place.index + 2}
      aria-selected={place.selected}
      aria-expanded={row.inside > 0 ? table.open.has(row.key) : undefined}
      style={{ top: `${place.top}px`, gridTemplateColumns: place.tracks }}
      onClick={() => table.select(row)}
      onDblClick={() => row.inside > 0 && table.toggle(row.key)}
    >
      {props.columns.map((column) => (
        <div key={column.id} role="gridcell" class={cellClass(column)}>
          {column.cell(row)}
        </div>
      ))}
    </div>
  );
}

function cellClass<R>({ numeric, bars }: Column<R>): string {
  return ['cell', numeric ? 'number' : '', bars ? 'bars' : ''].filter(Boolean).join(' ');
}

function Head<R>({
  column,
  sort,
  sortBy,
}: {
  readonly column: Column<R>;
  readonly sort: SortState | null;
  readonly sortBy: (id: string) => void;
}): VNode {
  const sorted = sort?.by === column.id ? (sort.descending ? 'descending' : 'ascending') : 'none';
  return (
    <div role="columnheader" class={cellClass(column)} aria-sort={column.sorts ? sorted : undefined}>
      {column.sorts ? (
        <button
          type="button"
          class={`sort ${sorted}`}
          onClick={() => sortBy(column.id)}
          data-tip={column.hint ?? TEXTS.sortBy(column.title)}
        >
          {column.title}
          {sorted !== 'none' && <Icon name="sort" size={12} />}
        </button>
      ) : (
        <span data-tip={column.hint}>{column.title}</span>
      )}
    </div>
  );
}

/** A number, right-aligned, then its bar; bars of a column have one zero and one scale. */
export function NumberWithBar({
  text,
  share,
  muted = false,
}: {
  readonly text: string;
  readonly share: number;
  readonly muted?: boolean;
}): VNode {
  return (
    <>
      <span class={muted ? 'muted' : ''}>{text}</span>
      <span class="bar-room">
        {share > 0 && <span class="bar" style={{ width: `max(1px, ${(share * 100).toFixed(2)}%)` }} />}
      </span>
    </>
  );
}
