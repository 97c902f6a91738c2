// @vitest-environment happy-dom
/** The red sentence and the card where a problem has more than four plain lines: other places, followers, suggestions, no graph. */

import { render, type ComponentType } from 'preact';
import { act as flush } from 'preact/test-utils';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { TEXTS } from '../../src/base/texts';
import { problemsOf } from '../../src/model/findings';
import type { Finding, Record } from '../../src/model/record';
import { InspectorPanel } from '../../src/panels/inspector';
import { LayersPanel } from '../../src/panels/layers';
import { OutlinePanel } from '../../src/panels/outline';
import { ProblemBanner, ProblemCard } from '../../src/panels/problems';
import * as actions from '../../src/state/actions';
import * as app from '../../src/state/app_state';
import { goldenRecord } from '../golden/records';
import { brokenBlocks, broughtAlong } from '../models';

function act(run: () => void): void {
  void flush(() => {
    run();
  });
}

let problem: Record;
let healthy: Record;
let root: HTMLElement;
let copied: string[];

beforeAll(async () => {
  [problem, healthy] = await Promise.all([goldenRecord('problem'), goldenRecord('healthy')]);
});
beforeEach(() => {
  root = document.createElement('div');
  document.body.append(root);
  copied = [];
  vi.stubGlobal('navigator', { clipboard: { writeText: (text: string) => Promise.resolve(void copied.push(text)) } });
});
afterEach(() => {
  act(() => render(null, root));
  root.remove();
  vi.unstubAllGlobals();
});

const show = (record: Record, Panel: ComponentType): void =>
  act(() => {
    actions.showRecord(record);
    render(<Panel />, root);
  });
const told = (fields: Partial<Finding>, of: Record = problem): Record => ({
  ...of,
  findings: problem.findings.map((finding) => ({ ...finding, ...fields })),
});
const all = (selector: string): string[] =>
  [...root.querySelectorAll(selector)].map((each) => each.textContent.replace(/\s+/g, ' ').trim());
const click = (element: Element | null | undefined): void =>
  act(() => element?.dispatchEvent(new MouseEvent('click', { bubbles: true })));
const button = (label: string): Element | null => root.querySelector(`button[aria-label="${label}"]`);

describe('a fault at many places', () => {
  test('has them folded under WHERE, each leading to its node', () => {
    const record = brokenBlocks(12);
    show(record, ProblemCard);
    expect(all('summary')).toEqual([TEXTS.otherPlaces(11), TEXTS.follows(1)]);
    expect(root.querySelector('details[open]')).toBeNull();
    const links = [...root.querySelectorAll('details')].flatMap((folded, i) => (i ? [] : [...folded.querySelectorAll('button')]));
    expect(links).toHaveLength(11);
    expect(links[10]?.textContent).toBe('block11.narrow');
    click(links[10]);
    const call = app.selection.value?.id ?? -1;
    expect(record.strings[record.modules.path[record.calls.module[call] ?? -1] ?? -1]).toBe('block11.narrow');
    expect(links[10]?.getAttribute('aria-current')).toBe('true');
    expect(app.revealRequest.value).toBeGreaterThan(0);
  });

  test('says how many more there are than it lists', () => {
    const [first] = brokenBlocks(1).findings;
    const place = first?.places[0];
    if (!place) throw new Error('the fault has no place');
    show(told({ places: Array.from({ length: 140 }, () => place) }), ProblemCard);
    expect(all('details .lines li')).toHaveLength(101);
    expect(all('details .lines li').at(-1)).toBe(TEXTS.moreLines(39));
  });

  test('is marked at each of them in outline and table, what follows quietly', () => {
    show(brokenBlocks(2), OutlinePanel);
    const rows = (): string[] => all('[role=treeitem]');
    expect(rows()[0]).toMatch(/1 problem that follows from another ?1 ?1 error/);
    expect(rows().filter((row) => row.includes('1 error'))).toHaveLength(4); // Deep, block0 and its narrow, block1
    show(brokenBlocks(2), LayersPanel);
    const head = [...root.querySelectorAll('[role=row]')].find((row) => row.textContent.startsWith('head'));
    expect(head?.querySelector('.mark')?.className).toContain('follows');
    expect(head?.querySelector('.icon-error')).toBeNull();
  });
});

test('what follows is folded under its cause and leads to where it shows', () => {
  const record = brokenBlocks(1);
  show(record, ProblemCard);
  click([...root.querySelectorAll('details .lines button')].at(-1));
  expect(app.selection.value).toEqual({ kind: 'call', id: record.calls.module.length - 1 });
  show(record, ProblemBanner);
  expect(root.querySelector('.steps')).toBeNull();
});

describe('what is copied', () => {
  const fixes = [
    { text: 'nn.Linear(864, 120), and the same in 2 more places', verified: true, cost: "loses fc1's pretrained weights" },
    { text: 'as many targets as predictions', verified: false, cost: '' },
  ];

  test('of a fix is the code to write, of a suggestion in words the words', () => {
    show(told({ fixes }), ProblemCard);
    click(button('Copy nn.Linear(864, 120)'));
    click(button('Copy as many targets as predictions'));
    expect(copied).toEqual(['nn.Linear(864, 120)', 'as many targets as predictions']);
  });

  test('of FROM is its line, of the error its own words', () => {
    show(told({ torchMessage: 'mat1 and mat2\n  differ' }), ProblemCard);
    click(button(TEXTS.copyWhat(TEXTS.origin)));
    click(button(TEXTS.copyWhat(TEXTS.errorMessage)));
    expect(copied[0]).toMatch(
      /^864 = 6·12·12, made by flatten of pool f32\[.*\] \(.*:\d+\); 1176 = 6·14·14 is what 32×32 for x gives$/,
    );
    expect(copied[1]).toBe('mat1 and mat2\n  differ');
  });

  test('of the red sentence is the sentence with the four lines', () => {
    show(told({ fixes }), ProblemBanner);
    click(button('Copy problem'));
    expect(copied[0]?.split('\n').map((line) => line.slice(0, 5))).toEqual(['fc1: ', 'WHERE', 'WHAT ', 'FROM ', 'TRY  ']);
  });
});

describe('suggestions', () => {
  const maybe = { text: 'x.float()', verified: false, cost: '' };

  test('stand apart, as maybe, with no tick', () => {
    show(told({ fixes: [maybe, { text: 'nn.Linear(864, 120)', verified: true, cost: '' }] }), ProblemCard);
    expect(all('.suggested.apart')).toEqual([`${TEXTS.maybe}x.float()${TEXTS.notVerified}`]);
    expect(root.querySelector('.suggested .icon-ok')).toBeNull();
  });

  test('alone leave the line TRY without its tick', () => {
    show(told({ fixes: [maybe] }), ProblemCard);
    expect(root.querySelector('.card-mark .icon-ok, .chip')).toBeNull();
    expect(all('.suggested .fix')).toHaveLength(1);
  });
});

test('what would have fitted stands below who made the number', () => {
  show(told({ why: '864 = 6·12·12; 1176 = 6·14·14 is what 32×32 for x gives' }), ProblemCard);
  expect(all('.from .muted')).toEqual(['1176 = 6·14·14 is what 32×32 for x gives']);
  expect(all('.from b')).toEqual(['864 = 6·12·12']);
});

test('the other explanation of a clash is told beside it', () => {
  show(told({ readings: ['norm and fc1 are both 1176 wide where pool gives 864'] }), ProblemCard);
  expect(all('dd')[1]).toContain('or: norm and fc1 are both 1176 wide where pool gives 864');
});

test("what PyTorch says is folded; an error of the user's own is no word of PyTorch's", () => {
  show(told({ torchMessage: 'boom' }), ProblemCard);
  expect(all('summary')).toEqual([TEXTS.torchSays]);
  expect(root.querySelector('details')?.open).toBe(false);
  for (const own of [{ kind: 'user_error' }, { op: 'python.error' }]) {
    show(told({ torchMessage: "'lr'", ...own }), ProblemCard);
    expect(all('summary')).toEqual([TEXTS.errorSays]);
  }
});

describe('a fault outside of the model', () => {
  const outside = {
    ...{ module: '', moduleType: '', call: 0, op: 'torch.stack', opIndex: -1, origin: null, why: '', marks: [], places: [] },
    ...{ file: 'site-packages/torch/utils/data/_utils/collate.py', line: 272, code: 'return torch.stack(batch)' },
  };

  test('has a full card with the failing statement, and selects nothing', () => {
    show(told(outside, healthy), ProblemCard);
    expect(all('dd')[0]).toMatch(/^torch\.stack \(…\/.*collate\.py:272\) ?return torch\.stack\(batch\)$/);
    expect(app.selection.value).toBeNull();
    const link = root.querySelector('dd .link');
    expect(link?.getAttribute('aria-label')).toBe('site-packages/torch/utils/data/_utils/collate.py:272');
    show(told({ ...outside, op: '' }, healthy), ProblemCard);
    expect(all('dd b')[0]).toBe(TEXTS.outsideTheModel);
  });

  test('is in the inspector of the whole, and takes the selection of the problem before with it', () => {
    const record = { ...problem, findings: [...problem.findings, ...told(outside).findings] };
    show(record, InspectorPanel);
    expect(app.selection.value).not.toBeNull();
    act(() => actions.stepProblem(1));
    expect(app.selection.value).toBeNull();
    expect(all('.findings li')).toHaveLength(2);
    click(root.querySelector('.findings button'));
    expect(app.problemIndex.value).toBe(0);
  });
});

describe('many problems', () => {
  const many = (severity: Finding['severity']): Record => {
    const [first] = problem.findings;
    if (!first) throw new Error('the golden record has lost its finding');
    return { ...problem, findings: Array.from({ length: 40 }, (_, i) => ({ ...first, severity, message: `fault ${i}` })) };
  };

  test('are a list to choose from, in which the told one is chosen', () => {
    show(many('error'), ProblemBanner);
    click(root.querySelector('.menu-face'));
    expect(root.querySelectorAll('[role=option]')).toHaveLength(40);
    click(root.querySelectorAll('[role=option]')[31]);
    expect(app.problemIndex.value).toBe(31);
    expect(all('.menu-face')[0]).toContain('problem 32 of 40');
  });

  test('that are warnings alone are walked through in the card, without red', () => {
    show(many('warning'), ProblemCard);
    expect(root.textContent).toBe('');
    act(() => actions.stepProblem(1));
    expect(all('.card .steps')).toHaveLength(1);
    click(button(TEXTS.nextProblem));
    expect(app.problemIndex.value).toBe(1);
    expect(root.querySelector('.icon-error, .tone-error')).toBeNull();
    expect(root.querySelectorAll('.card-mark .icon-warn')).toHaveLength(1);
  });
});

describe('the inspector of what failed', () => {
  test('sets the numbers against each other where no one dim says it', () => {
    show(told({ marks: [], got: new Map([['max_index', 100]]), want: new Map([['num_embeddings', 99]]) }), InspectorPanel);
    expect(all('.dims tr')).toEqual(['gotwanted', 'max index100 –', 'num embeddings– 99']);
  });

  test('has the sentence where no number says it', () => {
    show(told({ marks: [], got: new Map(), want: new Map() }), InspectorPanel);
    expect(all('.findings li')).toEqual([problemsOf(problem)[0]?.finding.message]);
    expect(root.querySelector('.dims')).toBeNull();
  });

  test('tells more of a shape than is wanted with a plus', () => {
    show(broughtAlong('input'), InspectorPanel);
    expect(all('.dims tr').at(-1)).toBe('+33');
  });

  test('at another place of the fault has its sentence, but not the dims of the first', () => {
    const record = brokenBlocks(2);
    show(record, InspectorPanel);
    act(() => actions.select({ kind: 'call', id: 6 }));
    expect(all('h2')).toEqual(['narrow']);
    expect(all('.findings li')).toEqual(['block0.narrow: too wide']);
  });
});
