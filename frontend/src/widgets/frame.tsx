/** Where the parts of the screen stand, and how that changes with the window's width. Knows no contents. */

import type { ComponentChildren, VNode } from 'preact';
import { useRef } from 'preact/hooks';
import { TEXTS } from '../base/texts';
import { useRemembered } from './remembered';
import { Splitter } from './splitter';
import { Tabs, type Tab } from './tabs';
import { useWidth } from './width';

export interface Parts {
  readonly toolbar: ComponentChildren;
  readonly banner: ComponentChildren;
  readonly card: ComponentChildren; // null where there is none
  readonly outline: ComponentChildren;
  readonly graph: ComponentChildren;
  readonly inspector: ComponentChildren;
  readonly table: ComponentChildren;
}

interface Props extends Parts {
  readonly whole: ComponentChildren; // stands in place of all panels where there is no record; else null
  readonly tableRows: number; // rows of the table at its usual height
  readonly outlineShown: boolean; // where it isn't always shown
  readonly dimmed: boolean;
}

const USUAL = { outline: 248, inspector: 320, row: 24, tableRows: 9, tabsHeight: 220 };
const FIRST_WIDTH_PX = 1440;

/** What fits: all; the inspector as a tab beside the table; the outline in front too; one panel at a time. */
export function fitting(width: number): 'all' | 'tabs' | 'drawer' | 'one' {
  return width >= 1200 ? 'all' : width >= 900 ? 'tabs' : width >= 640 ? 'drawer' : 'one';
}

export function Frame(props: Props): VNode {
  const root = useRef<HTMLDivElement>(null);
  const fits = fitting(useWidth(root, FIRST_WIDTH_PX));
  return (
    <div class={`frame fits-${fits}`} ref={root}>
      {props.toolbar}
      <main class={props.dimmed ? 'panels dimmed' : 'panels'} aria-busy={props.dimmed}>
        {props.whole ?? (fits === 'one' ? <OnePanel {...props} /> : <Panels {...props} fits={fits} />)}
      </main>
    </div>
  );
}

function OnePanel(props: Props): VNode {
  const problem: Tab = { id: 'problem', title: TEXTS.problem, content: <div class="scrolls">{props.card}</div> };
  const tabs: readonly Tab[] = [
    ...(props.card === null ? [] : [problem]),
    { id: 'graph', title: TEXTS.graph, content: <div class="graph-room">{props.graph}</div> },
    { id: 'outline', title: TEXTS.outline, content: props.outline },
    { id: 'table', title: TEXTS.layers, content: props.table },
    { id: 'inspector', title: TEXTS.inspector, content: props.inspector },
  ];
  return (
    <>
      {props.banner}
      <Tabs label={TEXTS.partsOfScreen} tabs={tabs} />
    </>
  );
}

type Wide = Props & { readonly fits: 'all' | 'tabs' | 'drawer' };

function Panels(props: Wide): VNode {
  const [table, setTable] = useRemembered('table');
  const all = props.fits === 'all';
  const usual = Math.min(USUAL.tableRows, props.tableRows + 1) * USUAL.row;
  const tableHeight = table ?? (all ? usual : Math.max(USUAL.tabsHeight, usual + USUAL.row));
  const tabs: readonly Tab[] = [
    { id: 'table', title: TEXTS.layers, content: props.table },
    { id: 'inspector', title: TEXTS.inspector, content: props.inspector },
  ];
  return (
    <>
      {props.banner}
      {props.fits === 'drawer' && props.card}
      <Middle {...props} />
      <Splitter
        label={TEXTS.resize(TEXTS.layers)}
        across="y"
        grows={-1}
        size={tableHeight}
        least={48}
        most={800}
        resize={setTable}
      />
      <div class="table-room" style={{ height: `${tableHeight}px` }}>
        {all ? props.table : <Tabs label={TEXTS.partsOfScreen} tabs={tabs} />}
      </div>
    </>
  );
}

/** Outline, graph and inspector, side by side as far as they fit. */
function Middle(props: Wide): VNode {
  const [outline, setOutline] = useRemembered('outline');
  const [inspector, setInspector] = useRemembered('inspector');
  const drawer = props.fits === 'drawer';
  const left = { size: outline ?? USUAL.outline, least: 140, most: 600, resize: setOutline };
  const right = { size: inspector ?? USUAL.inspector, least: 200, most: 700, resize: setInspector };
  return (
    <div class="middle">
      {(!drawer || props.outlineShown) && (
        <div class="outline-room" style={{ width: `${left.size}px` }}>
          {props.outline}
        </div>
      )}
      {!drawer && <Splitter label={TEXTS.resize(TEXTS.outline)} across="x" grows={1} {...left} />}
      <div class="graph-room">
        {props.graph}
        {!drawer && props.card}
      </div>
      {props.fits === 'all' && (
        <>
          <Splitter label={TEXTS.resize(TEXTS.inspector)} across="x" grows={-1} {...right} />
          <div class="inspector-room" style={{ width: `${right.size}px` }}>
            {props.inspector}
          </div>
        </>
      )}
    </div>
  );
}
