/** The only writers of app_state: what a user or the host can do. */

import { batch } from '@preact/signals';
import { TEXTS } from '../base/texts';
import { groupsAround } from '../model/calls';
import { caseView } from '../model/case_view';
import { sensibleLimit } from '../model/device';
import { callsToOpen, problemsOf, subjectOf } from '../model/findings';
import type { Heat } from '../model/heat';
import type { Record } from '../model/record';
import * as app from './app_state';
import type { ModelEntry, Status } from '../model/listing';
import type { Loading, Screen, Selection, ThemeName } from './app_state';

/** Selects something, or nothing; `reveal` also brings it into sight in every panel. */
export function select(selection: Selection | null, reveal = false): void {
  app.selection.value = selection;
  if (reveal) app.revealRequest.value++;
}

/** Opens or closes the group of a module call. */
export function toggleCall(call: number): void {
  const open = new Set(app.openCalls.value);
  if (!open.delete(call)) open.add(call);
  app.openCalls.value = open;
}

/** Opens the groups of all these calls, keeping what is open. */
export function openCalls(calls: Iterable<number>): void {
  app.openCalls.value = new Set([...app.openCalls.value, ...calls]);
}

/** Puts the camera there; null fits everything at the next chance. */
export function setView(view: typeof app.view.value): void {
  app.view.value = view;
}

/** Asks the graph to fit everything. */
export function fit(): void {
  app.fitRequest.value++;
}

/** All edges labelled, or only those where the shape changes. */
export function toggleLabels(): void {
  app.allLabels.value = !app.allLabels.value;
}

/** Takes the list of logged models over. */
export function setModels(models: readonly ModelEntry[]): void {
  app.models.value = models;
}

/** Takes over what an empty tab tells. */
export function setStatus(status: Status): void {
  app.status.value = status;
}

/** Asks for one step of one model of one run; nothing of the model before stays selected. */
export function openModel(run: string, tag: string, step: number): void {
  const now = app.current.value;
  if (now?.run === run && now.tag === tag && now.step === step) return;
  batch(() => {
    app.current.value = { run, tag, step };
    app.pickedCase.value = -1;
    app.selection.value = null;
    app.openCalls.value = new Set();
    app.view.value = null;
    app.problemIndex.value = 0;
    app.problemShown.value = false;
    placeMemory(NO_MEMORY_PLACE);
  });
}

/** Says how far a request has come. */
export function setLoading(loading: Loading): void {
  app.loading.value = loading;
}

/** Shows a record; `place` is what a link asked for. Where it says nothing, a broken run shows its first problem. */
export function showRecord(record: Record | null, place: Partial<Place> = {}): void {
  batch(() => {
    app.logged.value = record;
    app.pickedCase.value = record ? caseNamed(record, place.case ?? '') : -1;
    if (!record) return;
    const open = new Set((place.open ?? []).filter((call) => call < record.calls.module.length));
    app.openCalls.value = open;
    app.selection.value = place.selection && exists(record, place.selection) ? place.selection : null;
    app.view.value = place.view ?? null;
    const screen = place.screen ?? app.screen.value;
    if (place.memory) placeMemory(place.memory);
    const problems = problemsOf(caseView(record, app.pickedCase.value));
    app.problemIndex.value = Math.min(place.problem ?? 0, Math.max(0, problems.length - 1));
    app.problemShown.value = problems[0]?.severity === 'error';
    if (app.problemShown.value && !place.selection && !place.view) goToProblem(app.problemIndex.value);
    else if (app.selection.value && !place.view) {
      openCalls(groupsAround(record, app.selection.value));
      app.revealRequest.value++;
    }
    app.screen.value = screen;
  });
}

/** What a link says about a place inside a record. */
export interface Place {
  readonly case: string; // its name, "" for all of them
  readonly selection: Selection | null;
  readonly open: readonly number[];
  readonly problem: number;
  readonly view: typeof app.view.value;
  readonly screen: Screen;
  readonly memory: MemoryPlace;
}

/** What it says about the memory screen. */
export interface MemoryPlace {
  readonly cursor: number | null;
  readonly sizes: readonly number[];
  readonly variant: string;
  readonly limit: number | null; // GiB; null leaves it as it is
}

const NO_MEMORY_PLACE: MemoryPlace = { cursor: null, sizes: [], variant: '', limit: null };

function placeMemory({ cursor, sizes, variant, limit }: MemoryPlace): void {
  app.memoryCursor.value = cursor;
  app.memorySizes.value = sizes;
  app.memoryVariant.value = variant;
  if (limit !== null) app.deviceLimit.value = limit;
}

function exists(record: Record, { kind, id }: Selection): boolean {
  const tables = { op: record.ops.name, call: record.calls.module, module: record.modules.path, tensor: record.tensors.shape };
  return id < tables[kind].length;
}

/** Tells a problem: its card, its node selected and in sight, the groups on its path open. Counts round past the ends. */
export function goToProblem(index: number): void {
  const record = app.record.value;
  const problems = record ? problemsOf(record) : [];
  const problem = problems.at(problems.length ? index % problems.length : 0);
  if (!record || !problem) return;
  batch(() => {
    app.problemIndex.value = problems.indexOf(problem);
    app.problemShown.value = true;
    app.screen.value = 'graph';
    openCalls(callsToOpen(record, problem.finding));
    select(subjectOf(record, problem.finding), true);
  });
}

/** The next problem (1) or the one before (-1); the first step only opens the card where it is shut. */
export function stepProblem(by: 1 | -1): void {
  goToProblem(app.problemShown.value ? app.problemIndex.value + by : app.problemIndex.value);
}

const caseNamed = (record: Record, name: string): number => record.cases.findIndex((one) => one.name === name);

/** Looks at one case of the model, or at all (-1); the problem that is told stays, where the case has it. */
export function pickCase(picked: number): void {
  const before = app.record.value;
  const problem = before ? problemsOf(before)[app.problemIndex.value] : undefined;
  batch(() => {
    app.pickedCase.value = picked;
    const problems = app.record.value ? problemsOf(app.record.value) : [];
    const at = problems.findIndex(({ finding }) => finding === problem?.finding);
    app.problemIndex.value = Math.max(0, at);
    if (at < 0) app.problemShown.value = false;
  });
}

/** The next case, all of them after the last one, and says which. */
export function nextCase(): void {
  const cases = app.logged.value?.cases ?? [];
  if (cases.length < 2) return;
  const next = app.pickedCase.value + 1;
  pickCase(next < cases.length ? next : -1);
  const one = cases[next];
  say(one ? TEXTS.caseShown(one.name) : TEXTS.allCases);
}

/** Shows or hides the sheet of keys. */
export function toggleHelp(): void {
  app.helpShown.value = !app.helpShown.value;
}

/** Shows or hides the outline of a narrow window. */
export function toggleOutline(): void {
  app.outlineShown.value = !app.outlineShown.value;
}

/** One step back: closes what is open over the graph, else selects nothing. */
export function back(): void {
  if (app.helpShown.value) app.helpShown.value = false;
  else if (app.outlineShown.value) app.outlineShown.value = false;
  else if (app.selection.value) app.selection.value = null;
  else app.problemShown.value = false;
}

/** Says one short sentence for a moment. */
export function say(notice: string): void {
  app.notice.value = notice;
}

/** Shows the graph, or the memory. */
export function showScreen(screen: Screen): void {
  app.screen.value = screen;
}

/** From the one to the other. */
export function switchScreen(): void {
  showScreen(app.screen.value === 'graph' ? 'memory' : 'graph');
}

/** Looks at what is alive at an op; null is the peak. */
export function moveCursor(op: number | null): void {
  app.memoryCursor.value = op;
}

/** Asks for the memory at other sizes; none are those that were logged. */
export function askSizes(sizes: readonly number[]): void {
  app.memorySizes.value = sizes;
}

/** Asks for the memory of another way to train; "" is the logged one. */
export function askVariant(variant: string): void {
  app.memoryVariant.value = variant;
}

/** Takes a device's memory as the limit, GiB; null gives the usual choice back. */
export function setDeviceLimit(limit: number | null): void {
  app.deviceLimit.value = sensibleLimit(limit);
}

/** Fills the graph's nodes by a magnitude; null by the families of their ops. */
export function setHeat(heat: Heat | null): void {
  app.heat.value = heat;
}

/** Follows TensorBoard's theme. */
export function setTheme(theme: ThemeName): void {
  app.theme.value = theme;
}

/** Asks for the models again. */
export function reload(): void {
  app.reloadRequest.value++;
}

/** Asks for a link to this view. */
export function copyLink(): void {
  app.linkRequest.value++;
}
