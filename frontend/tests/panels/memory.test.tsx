// @vitest-environment happy-dom
/** The memory screen, drawn for records that one can add up by hand. */

import { render } from 'preact';
import { act as flush } from 'preact/test-utils';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TEXTS } from '../../src/base/texts';
import type { Record } from '../../src/model/record';
import { MemoryPanel } from '../../src/panels/memory';
import { ToolbarPanel } from '../../src/panels/toolbar';
import * as actions from '../../src/state/actions';
import * as app from '../../src/state/app_state';
import { KEYS } from '../../src/state/keys';
import { SMALL_WHAT_IF, smallBuilder, smallRecord, visionRecord } from '../memory_models';

function act(run: () => void): void {
  void flush(() => {
    run();
  });
}

let root: HTMLElement;

beforeEach(() => {
  root = document.createElement('div');
  document.body.append(root);
  actions.setDeviceLimit(null);
});
afterEach(() => {
  act(() => render(null, root));
  root.remove();
  app.screen.value = 'graph';
});

function show(record: Record): void {
  actions.showRecord(record, { memory: { cursor: null, sizes: [], variant: '', limit: null } });
  actions.select(null);
  act(() => render(<MemoryPanel />, root));
}
const whatIfRecord = (): Record => smallBuilder({}, SMALL_WHAT_IF).build();
const text = (element: Element | null | undefined): string => element?.textContent.replace(/\s+/g, ' ').trim() ?? '';
const words = (selector: string): string => text(root.querySelector(selector));
const all = (selector: string): string[] => [...root.querySelectorAll(selector)].map(text);
function click(element: Element | null | undefined): void {
  act(() => element?.dispatchEvent(new MouseEvent('click', { bubbles: true })));
}
function press(selector: string, key: string): void {
  const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true });
  act(() => root.querySelector(selector)?.dispatchEvent(event));
}
function cells(row: number): string[] {
  const at = [...root.querySelectorAll('.table-row')][row];
  return [...(at?.querySelectorAll('[role=gridcell]') ?? [])].map(text);
}

describe('the strip', () => {
  test('tells the peak with how exact it is, and what it is made of, which adds up', () => {
    show(smallRecord());
    expect(words('.peak-number')).toBe('650 B exact');
    expect(words('.peak-figure')).toContain('fits 24 GiB, 24.00 GiB free');
    expect(words('.peak-figure')).toContain('first step 350 B (no optimizer state yet)');
    expect(words('.peak-figure')).toContain(TEXTS.notCounted);
    expect(all('.part-figures dd')).toEqual(['150', '300', '0', '40', '140', '20', '650 B']);
  });

  test('adds up to three decimals whatever the parts', () => {
    show(visionRecord());
    const numbers = all('.part-figures dd').map((each) => Number.parseFloat(each));
    const whole = numbers.pop() ?? 0;
    expect(numbers.reduce((sum, each) => sum + each, 0)).toBeCloseTo(whole, 9);
  });

  test('is red with a mark and words where the device is too small', () => {
    show(visionRecord());
    act(() => actions.setDeviceLimit(24));
    expect(words('.verdict')).toMatch(/^5\.\d\d GiB over 24 GiB$/);
    expect(root.querySelector('.peak-figure .icon-error')).not.toBeNull();
    expect(root.querySelector('.peak-number.tone-error')).not.toBeNull();
  });

  test('takes a device of the usual sizes, or of one’s own', () => {
    show(smallRecord());
    const radios = root.querySelectorAll('.device-choice [role=radio]');
    click(radios.item(1));
    expect(app.deviceLimit.value).toBe(40);
    press('.device-choice [role=radiogroup]', 'ArrowRight');
    expect(app.deviceLimit.value).toBe(80);
    const own = root.querySelector<HTMLInputElement>('.device-choice input');
    act(() => {
      if (own) own.value = '11.5';
      own?.dispatchEvent(new Event('change', { bubbles: true }));
    });
    expect(app.deviceLimit.value).toBe(11.5);
    expect(words('.peak-figure')).toContain('fits 11.5 GiB');
  });

  test('says estimated, and why', () => {
    show(smallRecord({ estimated: { peak_bytes: 'a kernel keeps a workspace' } }));
    expect(words('.peak-number')).toBe('650 B estimated');
    expect(words('.peak-figure')).toContain('estimated: a kernel keeps a workspace');
  });

  test('says unknown and why, never 0, and what ran up to there', () => {
    show(smallRecord({ unknown: { peak_bytes: 'loss_fn raised KeyError', optimizer_bytes: 'loss_fn raised KeyError' } }));
    expect(words('.peak-number')).toBe('unknown');
    expect(words('.peak-figure')).toContain('loss_fn raised KeyError');
    expect(words('.peak-figure')).toContain('what ran up to there: 650 B');
    expect(words('.peak-figure')).toContain('optimizer state unknown: loss_fn raised KeyError');
    expect(root.querySelector('.verdict')).toBeNull();
  });
});

describe('what if', () => {
  test('says how to get it where nobody asked', () => {
    show(smallRecord());
    expect(words('.what-if')).toBe(TEXTS.whatIfMissing);
    expect(root.querySelector('input[type=range]')).toBeNull();
  });

  test('tells the peak at another size, and the largest that fits', () => {
    show(whatIfRecord());
    expect(words('.what-if-outcome')).toContain('650 B');
    const slider = root.querySelector<HTMLInputElement>('input[type=range]');
    expect(slider?.getAttribute('aria-valuetext')).toBe('batch 4');
    act(() => {
      if (slider) slider.value = '8';
      slider?.dispatchEvent(new Event('input', { bubbles: true }));
    });
    expect(app.memorySizes.value).toEqual([8]);
    expect(words('.asked-number')).toBe('850 B');
    expect(words('.what-if-outcome')).toContain('what if batch 8');
    act(() => actions.setDeviceLimit(0.001));
    expect(words('.what-if-size')).toContain('is the largest batch that fits');
    click(root.querySelector('.what-if-outcome .link'));
    expect(app.memorySizes.value).toEqual([]);
    expect(words('.asked-number')).toBe('650 B');
  });

  test('offers other ways to train, and says which cannot be told', () => {
    show(visionRecord(2));
    const logged = words('.asked-number');
    act(() => actions.askVariant('dtype bfloat16'));
    expect(words('.what-if-outcome')).toContain('what if bfloat16');
    expect(words('.asked-number')).not.toBe(logged);
    expect(words('.what-if')).toContain('checkpointing unknown: a block reads a value');
  });
});

describe('the cursor', () => {
  test('starts at the peak, moves with the keys of a slider, and goes back', () => {
    show(smallRecord());
    const value = (): string | null | undefined => root.querySelector('.memory-handle')?.getAttribute('aria-valuetext');
    expect(value()).toBe('backward of fc2, aten.mm, op 4, 650 B alive');
    press('.memory-handle', 'ArrowLeft');
    expect(value()).toBe('loss, aten.sum, op 3, 630 B alive');
    press('.memory-handle', 'End');
    expect(value()).toBe('optimizer step, aten._foreach_add_, op 7, 590 B alive');
    press('.memory-handle', 'ArrowRight');
    expect(app.memoryCursor.value).toBe(7);
    press('.memory-handle', 'Home');
    expect(app.memoryCursor.value).toBe(0);
    expect(cells(0)[1]).toBe('570');
    click(root.querySelector('.memory-timeline .link'));
    expect(app.memoryCursor.value).toBeNull();
    expect(cells(0)[1]).toBe('650');
  });

  test('names peak and phases', () => {
    show(smallRecord());
    expect(words('.peak-name')).toContain('peak 650 B');
    expect(all('.phase-name b')).toEqual(['forward', 'backward']);
  });
});

describe('the treemap', () => {
  test('has a block for each reason, told whole to readers', () => {
    show(smallRecord());
    const labels = [...root.querySelectorAll('.treemap-cell')].map((cell) => cell.getAttribute('aria-label'));
    expect(labels).toContain('fc1 80 B kept as input of act (relu), activations, f32[4,20]');
    expect(labels.some((label) => label?.startsWith('fc1 300 B optimizer state'))).toBe(true);
  });

  test('is one stop of the keyboard, moved in with the arrows, which select', () => {
    show(smallRecord());
    expect(root.querySelectorAll('.treemap-cell[tabindex="0"]')).toHaveLength(1);
    press('.treemap', 'ArrowDown');
    expect(app.selection.value?.kind).toBe('call');
    expect(root.querySelectorAll('.treemap-cell[tabindex="0"]')).toHaveLength(1);
    press('.treemap', 'End');
    expect(root.querySelectorAll('.treemap-cell[tabindex="0"]')).toHaveLength(1);
  });

  test('says inside which ×N a block stands', () => {
    show(visionRecord());
    const labels = [...root.querySelectorAll('.treemap-cell')].map((cell) => cell.getAttribute('aria-label'));
    expect(labels.find((label) => label?.startsWith('mlp.fc1'))).toContain('inside blocks ×12');
    expect(words('.treemap-head')).toMatch(/^blocks ×12 activations, .* each$/);
  });
});

describe('the table', () => {
  test('adds up to the strip at the peak', () => {
    show(smallRecord());
    expect(all('[role=columnheader]')).toEqual([
      'Layer',
      'Live at cursor, B',
      'activations',
      'temporaries',
      'gradients',
      'optimizer',
      'parameters',
      'inputs, buffers',
    ]);
    expect(cells(0)).toEqual(['all', '650', '140', '20', '–', '300', '150', '40']);
    expect(cells(1)).toEqual(['fc1', '480', '80', '–', '–', '300', '100', '–']);
  });

  test('tells equal blocks once, opened where most is', () => {
    show(visionRecord());
    expect(cells(1)[0]).toBe('blocks×12');
    expect(cells(2)[0]).toBe('mlp');
  });

  test('sorts by a press on a head', () => {
    show(smallRecord());
    click([...root.querySelectorAll('.sort')].find((head) => text(head) === 'activations'));
    expect([1, 2, 3].map((row) => cells(row)[0])).toEqual(['fc1', 'act', 'fc2']);
  });
});

describe('selection', () => {
  test('made in the table is a call of the model, in sight on the graph', () => {
    const record = smallRecord();
    show(record);
    const reveals = app.revealRequest.value;
    click(root.querySelectorAll('.table-row').item(1));
    expect(app.selection.value).toEqual({ kind: 'call', id: 1 });
    expect(app.revealRequest.value).toBe(reveals + 1);
    expect(words('.selected-lives')).toBe('fc1 alive from op 0 to 5');
    expect(root.querySelectorAll('.lives')).toHaveLength(1);
  });

  test('made on the graph is marked here: an op by the module that it ran in', () => {
    show(smallRecord());
    act(() => actions.select({ kind: 'op', id: 1 }));
    expect(words('.table-row[aria-selected=true]')).toContain('act');
    expect(root.querySelectorAll('.treemap-cell.selected').length).toBeGreaterThan(0);
  });
});

describe('where there is no memory', () => {
  const none = (more: Partial<Record>): Record => ({ ...smallRecord(), memory: null, ...more });

  test('it says what to write', () => {
    show(none({}));
    expect(words('.no-memory')).toContain('what_if=True');
  });

  test('it says that the run failed, and leads to the problem', () => {
    show(none({ completed: false }));
    app.screen.value = 'memory';
    expect(words('.no-memory')).toContain(TEXTS.noMemoryFailed);
    click(root.querySelector('.no-memory .button'));
    expect(app.screen.value).toBe('graph');
  });

  test('it says that several inputs were logged at once', () => {
    const one = { name: 'a', completed: true, error: '', execution: 'fake', inputs: [], outputs: [], shapes: new Map() };
    const rows = { ops: new Int32Array(), calls: new Int32Array(), values: new Int32Array() };
    show(none({ cases: [{ ...one, ...rows }] }));
    expect(words('.no-memory')).toContain(TEXTS.noMemoryCases);
  });

  test('it says why nothing ran', () => {
    show(smallRecord({ ops: [], phases: [], storages: [], unknown: { peak_bytes: 'the forward raised KeyError' } }));
    expect(words('.no-memory')).toContain('unknown: the forward raised KeyError');
  });
});

test('the toolbar and a key lead there and back', () => {
  actions.showRecord(smallRecord());
  act(() => render(<ToolbarPanel />, root));
  click(root.querySelectorAll('[role=radio]').item(1));
  expect(app.screen.value).toBe('memory');
  KEYS.find(({ id }) => id === 'm')?.run();
  expect(app.screen.value).toBe('graph');
  actions.showScreen('memory');
  actions.goToProblem(0);
  expect(app.screen.value).toBe('memory');
});
