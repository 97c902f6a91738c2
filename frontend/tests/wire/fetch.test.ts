/** Requests: relative addresses only, retries where the server stumbles, errors in the backend's own words. */

import { afterEach, expect, test, vi } from 'vitest';
import { RecordError } from '../../src/wire/errors';
import { fetchModels, fetchRecord } from '../../src/wire/fetch';

const KEY = { run: 'a/b & c', tag: '__shapes__/graph/Net@01234567', step: 3 };

/** Answers in turn, the last one again and again; the addresses asked for are kept. */
function answering(...answers: (() => Response)[]): string[] {
  const asked: string[] = [];
  vi.stubGlobal('fetch', (address: URL) => {
    asked.push(address.href);
    const answer = answers[Math.min(asked.length, answers.length) - 1];
    if (!answer) throw new TypeError('network');
    return Promise.resolve(answer());
  });
  vi.stubGlobal('setTimeout', (run: () => void) => queueMicrotask(run));
  return asked;
}

afterEach(() => vi.unstubAllGlobals());

test('addresses stand beside the bundle and name run, tag and step', async () => {
  const asked = answering(() => new Response(new Uint8Array([1, 2, 3])));
  const heard: number[] = [];
  expect([...(await fetchRecord(KEY, (bytes) => heard.push(bytes)))]).toEqual([1, 2, 3]);
  const address = new URL(asked[0] ?? '');
  expect(address.pathname).toMatch(/src\/wire\/record$/);
  expect(Object.fromEntries(address.searchParams)).toEqual({ run: KEY.run, tag: KEY.tag, step: '3' });
  expect(heard.at(-1)).toBe(3);
});

test('the models of all runs come in one list', async () => {
  answering(() =>
    Response.json({
      runs: [
        { run: 'a', models: [{ tag: 't', name: 'Net', steps: [0] }] },
        { run: 'b', models: [] },
      ],
    }),
  );
  expect(await fetchModels()).toEqual([{ run: 'a', tag: 't', name: 'Net', steps: [0] }]);
});

test('a model whose header cannot be read has the name in its tag', async () => {
  const models = [{ tag: '__shapes__/graph/a@b@0123abcd', name: null, steps: [0], problem: 'no JSON' }];
  answering(() => Response.json({ runs: [{ run: 'a', models }] }));
  expect((await fetchModels())[0]?.name).toBe('a@b');
});

test('a server that stumbles is asked again', async () => {
  const asked = answering(
    () => new Response('', { status: 503 }),
    () => Response.json({ runs: [] }),
  );
  expect(await fetchModels()).toEqual([]);
  expect(asked).toHaveLength(2);
});

test("a refusal is told in the backend's sentence, at once", async () => {
  const asked = answering(() => Response.json({ error: 'run1, model Net: no record. Log it again.' }, { status: 422 }));
  await expect(fetchRecord(KEY, () => undefined)).rejects.toThrow('run1, model Net: no record. Log it again.');
  expect(asked).toHaveLength(1);
});

test('no answer at all is a sentence with a way out', async () => {
  answering();
  const refused: unknown = await fetchModels().catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(RecordError);
  expect(refused).toMatchObject({
    message: 'TensorBoard does not answer.',
    wayOut: 'Check that TensorBoard is still running, then reload the page.',
  });
});

test("a proxy's page in place of JSON is a sentence too", async () => {
  answering(() => new Response('<html>log in</html>'));
  await expect(fetchModels()).rejects.toThrow('is no JSON');
});
