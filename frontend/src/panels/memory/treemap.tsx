/** The treemap: what is alive at the cursor, by part, module and what keeps it. */

import type { RefObject, VNode } from 'preact';
import { useComputed, useSignal, type ReadonlySignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { compactType } from '../../base/format';
import type { Box } from '../../base/geometry';
import { TEXTS } from '../../base/texts';
import { treemapCells, type Cell } from '../../layout/treemap';
import { aliveBlocks, type Block } from '../../model/memory_blocks';
import { PARTS } from '../../model/memory';
import { isWithin } from '../../model/memory_tree';
import { select } from '../../state/actions';
import * as app from '../../state/app_state';
import { PART_HUES } from '../../theme/tokens';
import { nextAt } from '../../widgets/neighbours';
import { aliveBytes, bytes, cursor, fine, memory, selected, tree } from './view';

const FIRST = { width: 560, height: 300 };
const LINE_PX = 16;
const LINES_FROM_PX = 40; // what name and bytes take

/** What is alive at the cursor, in the room that there is. */
function useCells(room: RefObject<HTMLDivElement | null>): ReadonlySignal<readonly Cell[]> {
  const size = useSignal(FIRST);
  useLayoutEffect(() => {
    const host = room.current;
    if (!host) return;
    const sizes = new ResizeObserver(() => {
      const { clientWidth: width, clientHeight: height } = host;
      if (width > 0 && height > 0) size.value = { width, height };
    });
    sizes.observe(host);
    return () => sizes.disconnect();
  }, [room, size]);
  const blocks = useComputed(() =>
    app.record.value && memory.value ? aliveBlocks(app.record.value, memory.value, tree.value, cursor.value) : [],
  );
  return useComputed(() => treemapCells(blocks.value, size.value.width, size.value.height));
}

export function Treemap(): VNode {
  const room = useRef<HTMLDivElement>(null);
  const cells = useCells(room);
  const focus = useSignal('');
  const plain = cells.value.filter(({ head }) => !head);
  const reachable = plain.find(({ block }) => block.key === focus.value) ?? plain[0];
  const take = ({ block }: Cell): void => {
    focus.value = block.key;
    choose(block);
  };
  const press = (event: KeyboardEvent): void => {
    const boxes = plain.map(({ box }) => box);
    const next = plain[nextAt(event.key, boxes, reachable ? plain.indexOf(reachable) : -1)];
    if (!next) return;
    event.preventDefault();
    take(next);
    room.current?.querySelector<HTMLElement>(`[data-key="${next.block.key}"]`)?.focus();
  };
  return (
    <section class="memory-treemap" aria-label={TEXTS.liveAtCursorTab}>
      <div class="panel-head">
        <span>{TEXTS.liveAtCursor(cursor.value)}</span>
        <span>{fine(aliveBytes.value)}</span>
      </div>
      <div class="treemap" ref={room} role="group" aria-label={TEXTS.liveAtCursor(cursor.value)} onKeyDown={press}>
        {cells.value.length === 0 && <p class="muted">{TEXTS.nothingAlive}</p>}
        {cells.value.map((cell) =>
          cell.head ? (
            <Head key={cell.block.key} cell={cell} />
          ) : (
            <CellButton key={cell.block.key} cell={cell} reachable={cell === reachable} take={() => take(cell)} />
          ),
        )}
      </div>
    </section>
  );
}

/** What a block is of gets selected; of several equal modules the first. */
function choose({ node }: Block): void {
  const subject = tree.value.nodes[node]?.subject ?? null;
  if (subject) select(subject, true);
}

const place = ({ x, y, w, h }: Box): { left: string; top: string; width: string; height: string } => ({
  left: `${x.toFixed(1)}px`,
  top: `${y.toFixed(1)}px`,
  width: `${w.toFixed(1)}px`,
  height: `${h.toFixed(1)}px`,
});

function Head({ cell }: { readonly cell: Cell }): VNode {
  const { block, box } = cell;
  const count = tree.value.nodes[block.node]?.count ?? block.times;
  return (
    <span class="treemap-head cut-off" style={place({ ...box, h: 18 })} aria-hidden="true">
      <b>
        {block.name} {TEXTS.times(block.times)}
      </b>{' '}
      <span class="muted">
        {TEXTS.parts[PARTS[block.part] ?? 'inputs']}, {bytes(block.bytes)}, {TEXTS.each(bytes(block.bytes / count))}
      </span>
    </span>
  );
}

const isHidden = (cell: Cell): boolean => cell.box.w < 46 || cell.box.h < 16;

function CellButton({
  cell,
  reachable,
  take,
}: {
  readonly cell: Cell;
  readonly reachable: boolean;
  readonly take: () => void;
}): VNode {
  const { block, box } = cell;
  const part = PARTS[block.part] ?? 'inputs';
  const hue = PART_HUES[part];
  const title = block.kind === 'part' ? TEXTS.parts[part] : block.name + (block.times > 1 ? ` ${TEXTS.times(block.times)}` : '');
  const around = cell.around.map(({ name, times }) => TEXTS.inside(`${name} ${TEXTS.times(times)}`));
  const seen = [title, bytes(block.bytes), reasonText(block)].filter(Boolean).join(' ');
  const told = [seen, block.kind === 'part' ? '' : TEXTS.parts[part], ...around, typeText(block)].filter(Boolean).join(', ');
  const isSelected =
    selected.value !== null &&
    selected.value.node >= 0 &&
    block.node >= 0 &&
    isWithin(tree.value, block.node, selected.value.node);
  // Even its padding would make a small cell larger than it is.
  const form = isHidden(cell) ? 'bare' : box.h < 40 ? 'low' : '';
  const lines = Math.min(3, Math.floor((box.h - LINES_FROM_PX) / LINE_PX));
  return (
    <button
      type="button"
      class={['treemap-cell', isSelected ? 'selected' : '', form].join(' ')}
      data-key={block.key}
      style={{ ...place(box), background: `var(--c${hue}-mid)`, borderTopColor: `var(--c${hue})` }}
      tabIndex={reachable ? 0 : -1}
      aria-pressed={isSelected}
      aria-label={told}
      data-tip={told}
      onClick={take}
    >
      {form !== 'bare' && (
        <span aria-hidden="true">
          <b class="cut-off">{title}</b> <span class="cut-off">{bytes(block.bytes)}</span>
          {lines > 0 && ' '}
          {lines > 0 && (
            <span class="treemap-why" style={{ '-webkit-line-clamp': String(lines) }}>
              {reasonText(block)}
            </span>
          )}
        </span>
      )}
    </button>
  );
}

/** Why it is alive; of several reasons none, but how many tensors they are. */
function reasonText(block: Block): string {
  const several = block.storages > 1 ? TEXTS.storages(block.storages) : '';
  return block.reason || (block.kind === 'part' ? '' : several);
}

function typeText({ shape, dtype, storages, reason }: Block): string {
  if (!shape) return '';
  const type = compactType(dtype, shape);
  return reason && storages > 1 ? `${TEXTS.storages(storages)} ${type}` : type;
}
