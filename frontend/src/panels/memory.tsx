/** The memory screen: the peak and what if, the line over time, what is alive at the cursor as a treemap and as a table. */

import type { VNode } from 'preact';
import { useRef } from 'preact/hooks';
import { TEXTS } from '../base/texts';
import * as app from '../state/app_state';
import { useRemembered } from '../widgets/remembered';
import { Splitter } from '../widgets/splitter';
import { Tabs } from '../widgets/tabs';
import { useWidth } from '../widgets/width';
import { NoMemory } from './memory/missing';
import { Strip } from './memory/strip';
import { MemoryTable } from './memory/table';
import { Timeline } from './memory/timeline';
import { Treemap } from './memory/treemap';
import { memory } from './memory/view';

const FIRST_WIDTH_PX = 1440;
const USUAL = { treemapShare: 0.39, table: 290 };

export function MemoryPanel(): VNode | null {
  const root = useRef<HTMLDivElement>(null);
  const width = useWidth(root, FIRST_WIDTH_PX);
  const record = app.record.value;
  if (!record) return null;
  const fits = width >= 900 ? 'wide' : width >= 640 ? 'column' : 'one';
  return (
    <div class={`memory memory-${fits}`} ref={root}>
      {memory.value === null ? (
        <NoMemory record={record} />
      ) : (
        <>
          <Strip />
          {fits === 'wide' ? <Wide width={width} /> : fits === 'column' ? <Column /> : <One />}
        </>
      )}
    </div>
  );
}

function Wide({ width }: { readonly width: number }): VNode {
  const [treemap, setTreemap] = useRemembered('treemap');
  const [table, setTable] = useRemembered('memory-table');
  const right = { size: treemap ?? Math.round(width * USUAL.treemapShare), least: 240, most: 900, resize: setTreemap };
  const below = { size: table ?? USUAL.table, least: 72, most: 700, resize: setTable };
  return (
    <>
      <div class="memory-middle">
        <Timeline />
        <Splitter label={TEXTS.resize(TEXTS.liveAtCursorTab)} across="x" grows={-1} {...right} />
        <div class="treemap-room" style={{ width: `${right.size}px` }}>
          <Treemap />
        </div>
      </div>
      <Splitter label={TEXTS.resize(TEXTS.memoryTable)} across="y" grows={-1} {...below} />
      <div class="table-room" style={{ height: `${below.size}px` }}>
        <MemoryTable />
      </div>
    </>
  );
}

function Column(): VNode {
  return (
    <>
      <Timeline />
      <Treemap />
      <div class="table-room">
        <MemoryTable />
      </div>
    </>
  );
}

function One(): VNode {
  const tabs = [
    { id: 'timeline', title: TEXTS.timeline, content: <Timeline /> },
    { id: 'treemap', title: TEXTS.liveAtCursorTab, content: <Treemap /> },
    { id: 'table', title: TEXTS.layers, content: <MemoryTable /> },
  ];
  return <Tabs label={TEXTS.partsOfScreen} tabs={tabs} />;
}
