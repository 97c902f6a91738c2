/** A tree of rows: role=tree, moved in with the arrow keys, only the rows in sight drawn. */

import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useId } from 'preact/hooks';
import { Chevron } from './chevron';
import { pressRow, type TreeRow } from './row_keys';
import { useSight } from './virtual';

interface Props<R extends TreeRow> {
  readonly label: string;
  readonly rows: readonly R[]; // those that are shown
  readonly open: ReadonlySet<string>;
  readonly selected: string | null;
  readonly reveal: number; // counts up when the selected row should come into sight
  readonly select: (row: R) => void;
  readonly toggle: (key: string) => void;
  readonly render: (row: R) => ComponentChildren;
}

const ROW_PX = 24;
const INDENT_PX = 16;

export function Tree<R extends TreeRow>(props: Props<R>): VNode {
  const { rows, open, selected } = props;
  const id = useId();
  const sight = useSight(rows.length, ROW_PX);
  const at = rows.findIndex(({ key }) => key === selected);
  useEffect(() => {
    if (at >= 0) sight.show(at);
  }, [at, props.reveal]);
  const press = (event: KeyboardEvent): void => {
    const acts = { move: (row: TreeRow) => props.select(row as R), toggle: (row: TreeRow) => props.toggle(row.key) };
    if (pressRow(event.key, rows, at, open, acts)) event.preventDefault();
  };
  const active = sight.rows.some(({ index }) => index === at) ? `${id}-${at}` : undefined;
  return (
    <div
      class="tree"
      ref={sight.scroller}
      role="tree"
      tabIndex={0}
      aria-label={props.label}
      aria-activedescendant={active}
      onKeyDown={press}
    >
      <div class="sight" role="presentation" style={{ height: `${sight.height}px` }}>
        {sight.rows.map(({ index, start }) => {
          const row = rows[index];
          if (!row) return null;
          return (
            <div
              key={row.key}
              id={`${id}-${index}`}
              class="tree-row"
              role="treeitem"
              aria-level={row.depth + 1}
              aria-selected={index === at}
              aria-expanded={row.inside > 0 ? open.has(row.key) : undefined}
              style={{ top: `${start}px`, paddingLeft: `${12 + row.depth * INDENT_PX}px` }}
              onClick={() => props.select(row)}
              onDblClick={() => row.inside > 0 && props.toggle(row.key)}
            >
              <Chevron inside={row.inside > 0} open={open.has(row.key)} toggle={() => props.toggle(row.key)} />
              {props.render(row)}
            </div>
          );
        })}
      </div>
    </div>
  );
}
