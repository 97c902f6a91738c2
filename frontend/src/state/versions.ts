/** Logged models as a person sees them: one name in one run, logged at several steps, whatever tags that made. */

import type { ModelEntry } from '../model/listing';

/** One logging of a model. */
export interface Version {
  readonly entry: ModelEntry;
  readonly step: number;
  readonly mark: string; // of its contents, where another one was logged at the same step; else ""
}

export interface Logged {
  readonly run: string;
  readonly name: string;
  readonly versions: readonly Version[]; // by step, at least one
}

/** The models in the order in which the backend lists them, every name once a run. */
export function loggedModels(entries: readonly ModelEntry[]): readonly Logged[] {
  const logged = new Map<string, { run: string; name: string; versions: Version[] }>();
  for (const entry of entries) {
    const key = JSON.stringify([entry.run, entry.name]);
    const model = logged.get(key) ?? { run: entry.run, name: entry.name, versions: [] };
    model.versions.push(...(entry.steps.length ? entry.steps : [0]).map((step) => ({ entry, step, mark: '' })));
    logged.set(key, model);
  }
  return [...logged.values()].map((model) => ({ ...model, versions: marked(model.versions) }));
}

function marked(versions: readonly Version[]): readonly Version[] {
  const alike = (a: Version, b: Version): boolean => a !== b && a.step === b.step;
  return versions
    .map((version) => ({
      ...version,
      mark: versions.some((other) => alike(version, other))
        ? version.entry.tag.slice(version.entry.tag.lastIndexOf('@') + 1)
        : '',
    }))
    .sort((a, b) => a.step - b.step);
}

/** The version that is looked at, and its model; null where it isn't listed. */
export function findVersion(
  models: readonly Logged[],
  current: { readonly run: string; readonly tag: string; readonly step: number } | null,
): { readonly model: Logged; readonly version: Version } | null {
  for (const model of models)
    for (const version of model.versions)
      if (model.run === current?.run && version.entry.tag === current.tag && version.step === current.step)
        return { model, version };
  return null;
}

/** What to look at first: the newest version of a broken model, else of the first that can be read, else of any. */
export function firstChoice(models: readonly Logged[]): Version | null {
  const newest = models.flatMap(({ versions }) => versions.at(-1) ?? []);
  const readable = newest.filter(({ entry }) => entry.problem === null);
  return readable.find(({ entry }) => entry.errors) ?? readable[0] ?? newest[0] ?? null;
}
