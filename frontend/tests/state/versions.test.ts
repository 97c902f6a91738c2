/** Logged models as the pickers list them. */

import { expect, test } from 'vitest';
import type { ModelEntry } from '../../src/model/listing';
import { findVersion, firstChoice, loggedModels } from '../../src/state/versions';

const entry = (run: string, name: string, hash: string, steps: number[], more: Partial<ModelEntry> = {}): ModelEntry => ({
  ...{ run, name, tag: `__shapes__/graph/${name}@${hash}`, steps },
  ...{ completed: true, errors: 0, warnings: 0, ops: 1, params: 1, problem: null },
  ...more,
});

test('a model logged again after a change is one model with two steps, though its tags differ', () => {
  const models = loggedModels([entry('a', 'Net', 'bb', [10]), entry('a', 'Net', 'aa', [0]), entry('b', 'Net', 'cc', [0])]);
  expect(models.map(({ run, versions }) => [run, versions.map(({ step }) => step)])).toEqual([
    ['a', [0, 10]],
    ['b', [0]],
  ]);
});

test('two at the same step are told apart by what they hold, others are not', () => {
  const [model] = loggedModels([entry('a', 'Net', 'aa', [0, 5]), entry('a', 'Net', 'bb', [0])]);
  expect(model?.versions.map(({ step, mark }) => [step, mark])).toEqual([
    [0, 'aa'],
    [0, 'bb'],
    [5, ''],
  ]);
});

test('the version in the address is found, and one that is gone is not', () => {
  const models = loggedModels([entry('a', 'Net', 'aa', [0, 5])]);
  const at = { run: 'a', tag: '__shapes__/graph/Net@aa', step: 5 };
  expect(findVersion(models, at)?.version.step).toBe(5);
  expect(findVersion(models, { ...at, step: 6 })).toBeNull();
  expect(findVersion(models, null)).toBeNull();
});

test('first comes a broken model, then the first that can be read, then anything', () => {
  const fine = entry('a', 'Fine', 'aa', [0]);
  const broken = entry('b', 'Broken', 'bb', [0, 3], { errors: 1, completed: false });
  const garbage = entry('0', 'Garbage', 'cc', [0], { problem: 'its header is no JSON' });
  const first = (...entries: ModelEntry[]): string | undefined => firstChoice(loggedModels(entries))?.entry.name;
  expect(first(garbage, fine, broken)).toBe('Broken');
  expect(firstChoice(loggedModels([broken]))?.step).toBe(3);
  expect(first(garbage, fine)).toBe('Fine');
  expect(first(garbage)).toBe('Garbage');
  expect(first()).toBeUndefined();
});
