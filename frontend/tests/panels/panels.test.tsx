// @vitest-environment happy-dom
/** The panels, drawn for the record of a model whose fc1 has a guessed width. */

import { render, type ComponentType } from 'preact';
import { act as flush } from 'preact/test-utils';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { TEXTS } from '../../src/base/texts';
import type { ModelEntry } from '../../src/model/listing';
import type { Record } from '../../src/model/record';
import { EmptyPanel } from '../../src/panels/empty';
import { HelpPanel } from '../../src/panels/help';
import { InspectorPanel } from '../../src/panels/inspector';
import { LayersPanel } from '../../src/panels/layers';
import { OutlinePanel } from '../../src/panels/outline';
import { ProblemBanner, ProblemCard } from '../../src/panels/problems';
import { ToolbarPanel } from '../../src/panels/toolbar';
import * as actions from '../../src/state/actions';
import * as app from '../../src/state/app_state';
import { KEYS } from '../../src/state/keys';
import { goldenRecord } from '../golden/records';

/** Runs something and draws what follows from it; nothing of ours draws later than that. */
function act(run: () => void): void {
  void flush(() => {
    run();
  });
}

let problem: Record;
let healthy: Record;
let root: HTMLElement;

beforeAll(async () => {
  [problem, healthy] = await Promise.all([goldenRecord('problem'), goldenRecord('healthy')]);
});
beforeEach(() => {
  root = document.createElement('div');
  document.body.append(root);
  app.models.value = null;
  app.loading.value = { state: 'idle' };
  app.helpShown.value = false;
  actions.showRecord(problem);
});
afterEach(() => {
  act(() => render(null, root));
  root.remove();
});

const draw = (Panel: ComponentType): void => act(() => render(<Panel />, root));
const words = (selector: string): string => root.querySelector(selector)?.textContent.replace(/\s+/g, ' ').trim() ?? '';
const all = (selector: string): string[] =>
  [...root.querySelectorAll(selector)].map((each) => each.textContent.replace(/\s+/g, ' ').trim());
const click = (element: Element | null | undefined): void =>
  act(() => element?.dispatchEvent(new MouseEvent('click', { bubbles: true })));
const press = (selector: string, key: string): void =>
  act(() => root.querySelector(selector)?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })));
const entry = (name: string, more: Partial<ModelEntry> = {}): ModelEntry => ({
  ...{
    run: 'run1',
    tag: name,
    name,
    steps: [0],
    completed: true,
    errors: 0,
    warnings: 0,
    ops: 10,
    params: 153260,
    problem: null,
  },
  ...more,
});

describe('the red sentence', () => {
  test('is the finding, whole, with its file and line', () => {
    draw(ProblemBanner);
    expect(words('h2')).toBe('fc1: the last dim of its input is 864, in_features is 1176');
    expect(words('.link')).toMatch(/renew\.py:\d+$/);
  });

  test('leads to the failing node in one click', () => {
    draw(ProblemBanner);
    actions.select(null);
    const reveals = app.revealRequest.value;
    click(root.querySelector('.sentence'));
    expect(app.selection.value?.kind).toBe('call');
    expect(app.revealRequest.value).toBe(reveals + 1);
  });

  test('is absent where all is well', () => {
    actions.showRecord(healthy);
    draw(ProblemBanner);
    expect(root.textContent).toBe('');
  });

  test('is absent for warnings alone, which still have a card', () => {
    actions.showRecord({
      ...healthy,
      findings: problem.findings.map((finding) => ({ ...finding, severity: 'warning' as const })),
    });
    draw(ProblemBanner);
    expect(root.textContent).toBe('');
    draw(ProblemCard);
    expect(root.textContent).toBe('');
    act(() => actions.stepProblem(1));
    expect(words('.card b')).toBe('fc1');
  });

  test('is the exception itself where the run stopped and nothing explains it', () => {
    actions.showRecord({ ...problem, findings: [], error: 'RuntimeError: boom' });
    draw(ProblemBanner);
    expect(words('h2')).toBe('RuntimeError: boom');
  });
});

describe('the card', () => {
  test('has the four lines, without those that say nothing', () => {
    draw(ProblemCard);
    expect(all('dt')).toEqual([TEXTS.where, TEXTS.what, TEXTS.from, TEXTS.try]);
    expect(words('dd:nth-of-type(1)')).toMatch(/^fc1 \(Linear, .*renew\.py:\d+, call 1\)$/);
    expect(all('.clash')).toEqual(['864', '1176', '864', '1176']);
    const bare = problem.findings.map((finding) => ({ ...finding, fixes: [], origin: null, why: '' }));
    act(() => actions.showRecord({ ...problem, findings: bare }));
    expect(all('dt')).toEqual([TEXTS.where, TEXTS.what]);
  });

  test('leads to the op that made the number', () => {
    draw(ProblemCard);
    click(root.querySelector('.origin-name'));
    expect(app.selection.value).toEqual({ kind: 'op', id: 3 });
  });

  test('ticks only a fix that was tried', () => {
    const fixes = [
      { text: 'maybe this', verified: false, cost: '' },
      { text: 'nn.Linear(864, 120)', verified: true, cost: '' },
    ];
    actions.showRecord({ ...problem, findings: problem.findings.map((finding) => ({ ...finding, fixes })) });
    draw(ProblemCard);
    expect(all('.fix')).toEqual(['nn.Linear(864, 120) runs', 'maybe thisnot verified']);
    expect(all('.suggested .fix')).toEqual(['maybe thisnot verified']);
    expect(root.querySelectorAll('.fix .icon-ok')).toHaveLength(1);
  });

  test('writes untrusted names as text, never as markup', () => {
    const evil = '<img src=x onerror=alert(1)>';
    actions.showRecord({
      ...problem,
      findings: problem.findings.map((finding) => ({ ...finding, message: evil, module: evil })),
    });
    draw(ProblemCard);
    expect(root.querySelector('img')).toBeNull();
    expect(root.textContent).toContain(evil);
  });
});

test('problems are stepped through in a ring', () => {
  const findings = problem.findings.flatMap((finding) => [finding, { ...finding, kind: 'other' }]);
  actions.showRecord({ ...problem, findings });
  actions.stepProblem(1);
  expect(app.problemIndex.value).toBe(1);
  actions.stepProblem(1);
  expect(app.problemIndex.value).toBe(0);
  actions.stepProblem(-1);
  expect(app.problemIndex.value).toBe(1);
});

describe('the outline', () => {
  test('is a tree with every module, its number and its state in words', () => {
    draw(OutlinePanel);
    expect(all('[role=treeitem]')).toEqual([
      'Net 153,26011 error',
      'conv1 Conv2d156',
      'pool MaxPool2d0',
      'drop Dropout0',
      'fc1 Linear141,2401 error',
      'fc2 Linear, assumed10,164',
      'fc3 Linear, assumed850',
      'aux Linear, never called850',
    ]);
  });

  test('has the failing layer selected, and moves with the arrow keys', () => {
    draw(OutlinePanel);
    expect(words('[aria-selected=true]')).toContain('fc1');
    press('[role=tree]', 'ArrowDown');
    expect(words('[aria-selected=true]')).toContain('fc2');
    press('[role=tree]', 'Home');
    press('[role=tree]', 'ArrowLeft');
    expect(all('[role=treeitem]')).toHaveLength(1);
    expect(root.querySelector('[role=treeitem]')?.getAttribute('aria-expanded')).toBe('false');
  });
});

describe('the table of layers', () => {
  const names = (): string[] => all('.layer-name b');

  test('stands in execution order, with assumed and never called in words', () => {
    draw(LayersPanel);
    expect(names()).toEqual(['Net', 'conv1', 'pool', 'drop', 'fc1', 'fc2', 'fc3', 'aux']);
    expect(words('[aria-selected=true]')).toContain('Linear 1176→1204×864');
    expect(all('[role=row]').at(-1)).toContain('never callednever called850');
    expect(all('[role=row]').at(6)).toContain('4×84 assumed');
  });

  test('sorts by a press on a head: falling, rising, and back', () => {
    draw(LayersPanel);
    const head = (): Element | undefined =>
      [...root.querySelectorAll('.sort')].find((each) => each.textContent === TEXTS.columnParameters);
    click(head());
    expect(names().slice(0, 3)).toEqual(['Net', 'fc1', 'fc2']);
    expect(head()?.parentElement?.getAttribute('aria-sort')).toBe('descending');
    click(head());
    expect(names().slice(0, 3)).toEqual(['Net', 'pool', 'drop']);
    click(head());
    expect(names().slice(0, 3)).toEqual(['Net', 'conv1', 'pool']);
  });

  test('selects in all panels', () => {
    draw(LayersPanel);
    click([...root.querySelectorAll('.table-row')].at(1));
    expect(app.selection.value).toEqual({ kind: 'call', id: 1 });
  });
});

describe('the inspector', () => {
  test('tells got against wanted of the failing layer', () => {
    draw(InspectorPanel);
    expect(words('h2')).toBe('fc1');
    expect(all('.dims tr')).toEqual(['dim 0dim 1', 'got4 864 ', 'wantedany1176', '−312'].map((text) => text.trim()));
  });

  test('goes from a layer to a tensor, and from the tensor to the op that made it', () => {
    draw(InspectorPanel);
    click(root.querySelector('.plain-link'));
    expect(app.selection.value?.kind).toBe('tensor');
    expect(words('h2')).toBe('dropout');
    click(root.querySelector('.lines .link'));
    expect(words('h2')).toBe('dropout');
    expect(app.selection.value?.kind).toBe('op');
  });

  test('tells the whole model where nothing is selected', () => {
    actions.select(null);
    draw(InspectorPanel);
    expect(words('h2')).toBe('problem');
    expect(words('.inspector')).toContain('parameters153,260');
  });

  test('tells what memory a training step takes, where its peak is, and what is no part of it', () => {
    actions.showRecord(healthy);
    actions.select(null);
    draw(InspectorPanel);
    const told = words('.inspector');
    expect(told).toContain('saved for backward');
    expect(told).toMatch(/At the peakopaten\.\S+ in fc1 \(step\)parameters[\d.]+ KiB/);
    expect(told).toContain(TEXTS.memoryIsTensors);
  });

  test('says why a figure of the memory is unknown', () => {
    const unknown = new Map([['peak_bytes', 'loss_fn raised KeyError']]);
    const memory = healthy.memory && { ...healthy.memory, unknown };
    actions.showRecord({ ...healthy, memory, totals: { ...healthy.totals, peakBytes: null } });
    actions.select(null);
    draw(InspectorPanel);
    expect(words('.inspector')).toContain('peak of a stepunknown');
    expect(words('.inspector')).toContain('Unknown figures: loss_fn raised KeyError.');
  });
});

describe('the toolbar', () => {
  beforeEach(() => {
    app.models.value = [
      entry('problem'),
      entry('broken', { run: 'run2', problem: 'no header' }),
      entry('many', { steps: [0, 10] }),
    ];
    app.current.value = { run: 'run1', tag: 'problem', step: 0 };
  });

  test('names model, run and step, and counts the errors', () => {
    draw(ToolbarPanel);
    expect(words('.menu-face')).toBe('Model and run: problemrun1, step 0');
    expect(words('.count')).toBe('1 error');
  });

  test('opens a list of models, and one that cannot be read says so', () => {
    draw(ToolbarPanel);
    click(root.querySelector('.menu-face'));
    expect(all('[role=option]')[1]).toContain('broken');
    expect(all('[role=option]')[1]).toContain(TEXTS.cannotBeRead);
    press('[role=listbox]', 'End');
    press('[role=listbox]', 'Enter');
    expect(app.current.value).toEqual({ run: 'run1', tag: 'many', step: 10 });
    expect(all('.menu-face')[1]).toBe('Step: step 10');
  });

  test('says that there are no problems only where the run completed', () => {
    actions.showRecord(healthy);
    draw(ToolbarPanel);
    expect(words('.count')).toBe(TEXTS.noProblems);
    act(() => actions.showRecord({ ...healthy, completed: false }));
    expect(words('.count')).toBe(TEXTS.stopped);
  });
});

describe('in place of a record', () => {
  beforeEach(() => {
    actions.showRecord(null);
    app.models.value = [];
  });

  test('an empty tab says what to write and what is read here', () => {
    app.status.value = {
      runs: [{ run: 'first', plugins: ['scalars'] }],
      logdir: 'runs',
      tensorboard: '2.21.0',
      loader: 'fast',
      shapes: '0.1.0',
      draft: 1,
    };
    draw(EmptyPanel);
    expect(words('.marked')).toBe('shapes.add_shapes(writer, model, images)');
    expect(all('tbody tr')).toEqual(['firstscalarsnone']);
    expect(words('.facts')).toContain('2.21.0, fast loader');
  });

  test('a record that cannot be read says what, where and what to do; the others stay', () => {
    app.models.value = [entry('a'), entry('b')];
    app.current.value = { run: 'run1', tag: 'a', step: 0 };
    actions.setLoading({ state: 'failed', what: 'run1, model a, step 0', why: 'It is damaged.', wayOut: 'Log it again.' });
    draw(EmptyPanel);
    expect(words('.cannot')).toBe('It is damaged.run1, model a, step 0. The other model can be read.Log it again.try again');
  });

  test('loading says nothing for 200 ms, then what and how much', () => {
    vi.useFakeTimers();
    app.models.value = [entry('a')];
    actions.setLoading({ state: 'loading', what: 'run1, model a, step 0', bytes: 2048 });
    draw(EmptyPanel);
    expect(root.textContent).toBe('');
    act(() => vi.advanceTimersByTime(250));
    expect(words('[role=status]')).toBe('run1, model a, step 0, reading 2.00 KiB');
    vi.useRealTimers();
  });
});

test('the sheet lists every key that works, and Esc closes what is open before it unselects', () => {
  draw(HelpPanel);
  expect(root.textContent).toBe('');
  act(() => actions.toggleHelp());
  expect(all('kbd').slice(0, KEYS.length)).toEqual(KEYS.map(({ id }) => (id === 'Escape' ? 'Esc' : id)));
  act(() => actions.back());
  expect(app.helpShown.value).toBe(false);
  expect(app.selection.value).not.toBeNull();
  actions.back();
  expect(app.selection.value).toBeNull();
});
