// @vitest-environment happy-dom
/** The panels of a model with two cases, all together and one alone. */

import { render, type ComponentType } from 'preact';
import { act as flush } from 'preact/test-utils';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { GraphLegend } from '../../src/panels/graph/legend';
import { InspectorPanel } from '../../src/panels/inspector';
import { LayersPanel } from '../../src/panels/layers';
import { OutlinePanel } from '../../src/panels/outline';
import { ProblemBanner, ProblemCard } from '../../src/panels/problems';
import { ToolbarPanel } from '../../src/panels/toolbar';
import * as actions from '../../src/state/actions';
import * as app from '../../src/state/app_state';
import { graphOf } from '../drawn';
import { mlp, twoWays } from '../models';
import type { Record } from '../../src/model/record';

/** Runs something and draws what follows from it. */
function act(run: () => void): void {
  void flush(() => {
    run();
  });
}

let root: HTMLElement;
let record: Record;

beforeEach(() => {
  root = document.createElement('div');
  document.body.append(root);
  app.notice.value = '';
  record = twoWays();
  actions.showRecord(record);
});
afterEach(() => {
  act(() => render(null, root));
  root.remove();
});

const draw = (Panel: ComponentType): void => act(() => render(<Panel />, root));
const textOf = (element: Element | null | undefined): string => element?.textContent.replace(/\s+/g, ' ').trim() ?? '';
const all = (selector: string): string[] => [...root.querySelectorAll(selector)].map(textOf);
const click = (element: Element | null | undefined): void =>
  act(() => element?.dispatchEvent(new MouseEvent('click', { bubbles: true })));
const press = (selector: string, key: string): void =>
  act(() => root.querySelector(selector)?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })));
const sections = (): ReadonlyMap<string, string> =>
  new Map([...root.querySelectorAll('section')].map((each) => [textOf(each.querySelector('h3')), textOf(each)]));

/** The case text failed, with a problem of its own. */
function failing(): Record {
  const cases = record.cases.map((one) => ({ ...one, completed: one.name !== 'text' }));
  const finding = {
    severity: 'error',
    message: 'embed: fails',
    module: 'embed',
    cases: ['text'],
    marks: [],
    fixes: [],
    causedBy: -1,
  } as const;
  const usual = { kind: '', moduleType: '', call: 1, op: '', file: '', line: 0, code: '', types: '', origin: null, why: '' };
  const empty = { got: new Map(), want: new Map(), torchMessage: '', places: [], readings: [], opIndex: 4 };
  return { ...record, completed: false, cases, findings: [{ ...usual, ...empty, ...finding }] };
}

describe('the picker', () => {
  test('is there only where there are several cases', () => {
    actions.showRecord(mlp());
    draw(ToolbarPanel);
    expect(all('.menu-face')).toEqual([]);
  });

  test('lists all cases, then each with its mark, its ops, and whether it failed; keys choose', () => {
    actions.showRecord(failing());
    draw(ToolbarPanel);
    expect(all('.menu-face')).toEqual(['Case: All cases2']);
    click(root.querySelector('.menu-face'));
    expect(all('[role=option]')).toEqual(['All cases', 'Aimage9 ops', 'Btext7 ops failed']);
    press('[role=listbox]', 'End');
    press('[role=listbox]', 'Enter');
    expect(app.pickedCase.value).toBe(1);
    expect(all('.menu-face')).toEqual(['Case: Btext']);
  });

  test('a case without problems says that it is that case which has none', () => {
    actions.showRecord(failing());
    actions.pickCase(0);
    draw(ToolbarPanel);
    expect(all('.count')).toEqual(['no problems in image']);
    act(() => actions.pickCase(1));
    expect(all('.count')).toEqual(['1 error']);
  });
});

describe('the key', () => {
  test('goes through the cases, back to all of them, and says which', () => {
    const seen = [0, 1, 2].map(() => {
      actions.nextCase();
      return [app.pickedCase.value, app.record.value?.picked, app.notice.value];
    });
    expect(seen).toEqual([
      [0, 0, 'case image'],
      [1, 1, 'case text'],
      [-1, undefined, 'All cases'],
    ]);
  });

  test('does nothing where there are no cases', () => {
    actions.showRecord(mlp());
    actions.nextCase();
    expect([app.pickedCase.value, app.notice.value]).toEqual([-1, '']);
  });
});

test('a link names its case; one that is not there is all of them', () => {
  actions.showRecord(record, { case: 'text' });
  expect(app.pickedCase.value).toBe(1);
  actions.showRecord(record, { case: 'sound' });
  expect([app.pickedCase.value, app.record.value]).toEqual([-1, record]);
});

test('a problem that the case has stays told, one that it has not is left', () => {
  actions.showRecord(failing());
  expect(app.problemShown.value).toBe(true);
  actions.pickCase(1);
  expect([app.problemShown.value, app.problemIndex.value]).toEqual([true, 0]);
  actions.pickCase(0);
  expect(app.problemShown.value).toBe(false);
  draw(ProblemBanner);
  expect(textOf(root)).toBe('');
});

test('the card says in which cases a problem stands', () => {
  actions.showRecord(failing());
  draw(ProblemCard);
  expect(all('.named-cases')).toEqual(['inB text']);
});

test('the outline marks what not every case ran, and says what the picked one did not; what is open stays', () => {
  draw(OutlinePanel);
  const rows = (): string[] => all('[role=treeitem]');
  expect(rows().slice(1, 3)).toEqual(['see Conv2dAonly in image0', 'embed EmbeddingBonly in text0']);
  const block = [...root.querySelectorAll('[role=treeitem]')].find((each) => textOf(each).startsWith('block'));
  click(block?.querySelector('.chevron'));
  act(() => actions.pickCase(1));
  expect(rows().slice(1)).toEqual([
    'see not run in text0',
    'embed EmbeddingBonly in text0',
    'block Block0',
    'wide not run in text0',
    'long LinearBonly in text0',
    'head Linear0',
    'aux Linear, never called0',
  ]);
});

test('the table does the same, with the shapes of the case', () => {
  draw(LayersPanel);
  const cells = (name: string): string[] => {
    const found = [...root.querySelectorAll('[role=row]')].find((each) => textOf(each.querySelector('.layer-name b')) === name);
    return [...(found?.querySelectorAll('[role=gridcell]') ?? [])].map(textOf);
  };
  expect(cells('head').slice(2, 4)).toEqual(['2…3×16', '2…3×4']);
  expect(cells('head').at(-1)).toBe('≤ 48 B');
  act(() => actions.pickCase(1));
  expect(cells('head').slice(2, 4)).toEqual(['3×16', '3×4']);
  expect(cells('head').at(-1)).toBe('48 B');
  expect(cells('see').slice(2, 4)).toEqual(['not run in text', 'not run in text']);
});

describe('the inspector', () => {
  test('tells of the whole model its cases, what never ran, and which contents were read', () => {
    draw(InspectorPanel);
    expect(sections().get('Cases')).toBe('CasesAimage9 ops, 5 only hereBtext7 ops, 3 only here');
    expect(sections().get('Never ran: 2 branches')).toMatch(
      /if self\.training:ways\.py:20–22TwoWays\.forwardelse:ways\.py:41Block\.forward$/,
    );
    expect(sections().get('Value read')).toContain('norm read 37.5 here');
    expect(sections().get('Value assumed')).toContain('Nobody gave this value: zeros were assumed.');
    expect(sections().get('Random value')).toContain('may differ from run to run');
    click([...root.querySelectorAll('section .link')].find((each) => textOf(each) === 'text'));
    expect(app.pickedCase.value).toBe(1);
    expect([...sections().keys()]).not.toContain('Random value');
    expect(textOf(root)).toContain('All cases');
  });

  test('says that every branch ran only where somebody asked', () => {
    actions.showRecord({ ...record, branches: [] });
    draw(InspectorPanel);
    expect(sections().get('Branches')).toBe('Branchesevery branch ran');
    act(() => actions.showRecord({ ...record, branches: null }));
    expect([...sections().keys()]).not.toContain('Branches');
  });

  test('tells of a module the branches of its code, and that only some cases ran it', () => {
    const block = record.calls.module.indexOf(3);
    actions.select({ kind: 'call', id: block });
    draw(InspectorPanel);
    expect(sections().get('Never ran: 1 branch')).toContain('else:');
    act(() => actions.select({ kind: 'call', id: 1 }));
    expect(all('.title .named-cases')).toEqual(['only inA image']);
    act(() => actions.pickCase(1));
    expect(textOf(root.querySelector('.title'))).toContain('not run in text');
  });

  test('tells of a tensor its shape in each case', () => {
    const merged = record.ops.outputs.values.findIndex((id) => record.cases[1]?.shapes.has(id) === true);
    actions.select({ kind: 'tensor', id: record.ops.outputs.values[merged] ?? -1 });
    draw(InspectorPanel);
    expect(sections().get('Shape in each case')).toBe('Shape in each caseimage2×8text3×8');
    expect(sections().get('Figures')).toContain('elements≤ 24');
  });
});

test('the legend names cases and marks', () => {
  const legend = (): readonly string[] => all('.graph-legend li');
  draw(() => <GraphLegend graph={graphOf(app.record.value ?? record)} />);
  expect(legend().slice(0, 5)).toEqual(['Aonly in image', 'Bonly in text', 'value read', 'value assumed', 'random value']);
  actions.pickCase(1);
  draw(() => <GraphLegend graph={graphOf(app.record.value ?? record)} />);
  expect(legend().slice(0, 3)).toEqual(['Aonly in image', 'Bonly in text', 'not run in text']);
});
