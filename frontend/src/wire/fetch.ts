/** The routes of the backend (tb_shapeplugin/serve/http_api.md): relative addresses, retries, errors in words. */

import type { ModelEntry, Status } from '../model/listing';
import { RecordError } from './errors';

/** Every address starts here: the folder of the bundle itself, whatever prefix or proxy stands before it. */
const BASE = import.meta.url;
const PAUSES_MS = [300, 1200];
const UNREACHABLE = 'Check that TensorBoard is still running, then reload the page.';

/** Every logged model of every run. */
export async function fetchModels(signal?: AbortSignal): Promise<readonly ModelEntry[]> {
  const answer = (await json('models', signal)) as { runs?: { run: string; models: Unnamed[] }[] };
  return (answer.runs ?? []).flatMap(({ run, models }) =>
    models.map((entry) => ({ ...entry, run, name: entry.name ?? nameInTag(entry.tag) })),
  );
}

/** As it is sent: nobody knows the name where the header can't be read. */
type Unnamed = Omit<ModelEntry, 'run' | 'name'> & { readonly name: string | null };

/** `Net` of `__shapes__/graph/Net@0123abcd`. */
function nameInTag(tag: string): string {
  return /^__shapes__\/graph\/(.+)@[^@]*$/.exec(tag)?.[1] ?? tag;
}

/** What this TensorBoard reads. */
export async function fetchStatus(signal?: AbortSignal): Promise<Status> {
  return (await json('status', signal)) as Status;
}

/** A record's bytes; `progress` hears how many have come. */
export async function fetchRecord(
  key: { readonly run: string; readonly tag: string; readonly step: number },
  progress: (bytes: number) => void,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const query = new URLSearchParams({ run: key.run, tag: key.tag, step: String(key.step) });
  const response = await answerOf(`record?${query.toString()}`, signal);
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = response.body?.getReader();
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    chunks.push(part.value);
    progress((size += part.value.length));
  }
  const bytes = new Uint8Array(size);
  chunks.reduce((at, chunk) => (bytes.set(chunk, at), at + chunk.length), 0);
  return bytes;
}

async function json(path: string, signal?: AbortSignal): Promise<unknown> {
  const response = await answerOf(path, signal);
  try {
    return await response.json();
  } catch {
    throw new RecordError(`TensorBoard's answer to ${path} is no JSON.`, 'A proxy may stand between; open TensorBoard directly.');
  }
}

async function answerOf(path: string, signal?: AbortSignal): Promise<Response> {
  for (let attempt = 0; ; attempt++) {
    try {
      const response = await fetch(new URL(`./${path}`, BASE), signal ? { signal } : {});
      if (response.ok) return response;
      if (response.status < 500 || attempt >= PAUSES_MS.length) throw await refusal(response, path);
    } catch (error) {
      if (error instanceof RecordError || signal?.aborted) throw error;
      if (attempt >= PAUSES_MS.length) throw new RecordError('TensorBoard does not answer.', UNREACHABLE);
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSES_MS[attempt]));
  }
}

/** The backend's own sentence where it gives one. */
async function refusal(response: Response, path: string): Promise<RecordError> {
  const told = (await response.json().catch(() => null)) as { error?: string } | null;
  if (told?.error) return new RecordError(told.error, '');
  return new RecordError(`TensorBoard answers ${path.split('?')[0] ?? path} with ${response.status}.`, UNREACHABLE);
}
