/** TensorBoard's door: builds the state from address and host, fetches what it names, and mounts the panels. */

import { computed, effect, untracked } from '@preact/signals';
import { render as mount, type ComponentChildren, type VNode } from 'preact';
import { TEXTS } from './base/texts';
import { PANELS } from './panels';
import type { Slot } from './panels/panel';
import { pickedName } from './model/case_sets';
import { layerRows } from './model/rows';
import * as actions from './state/actions';
import * as app from './state/app_state';
import { followReload, followTheme } from './state/host';
import { isPlainKey, KEYS } from './state/keys';
import { addressStore, readAddress, sameAddress, writeAddress, type Address, type Store } from './state/url';
import { firstChoice, loggedModels } from './state/versions';
import { THEMES } from './theme';
import { cssVariables } from './theme/css';
import { copyText } from './widgets/clipboard';
import { Frame } from './widgets/frame';
import { Guarded } from './widgets/guarded';
import { keep, recall } from './widgets/remembered';
import { Tooltip } from './widgets/tooltip';
import { decodeRecord } from './wire/decode';
import { RecordError } from './wire/errors';
import { fetchModels, fetchRecord, fetchStatus } from './wire/fetch';

const NOTICE_MS = 2000;
const WRITE_ADDRESS_MS = 250;
const LIMIT = 'device-limit';

/** Called by TensorBoard's page once this module is loaded. */
export function render(): void {
  const store = addressStore(window);
  document.title = TEXTS.shapes;
  document.documentElement.lang = 'en';
  linkStyle();
  followTheme(window, actions.setTheme);
  effect(paintTheme);
  followReload(window, actions.reload);
  document.addEventListener('keydown', pressKey);
  effect(fadeNotice);
  actions.setDeviceLimit(recall(LIMIT));
  effect(() => keep(LIMIT, app.deviceLimit.value));
  copyLinks(store);
  followAddress(store);
  followModels(store);
  followRecord(store);
  mount(<App />, document.body);
}

function linkStyle(): void {
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  link.href = new URL('static/style.css', import.meta.url).href;
  document.head.append(link);
}

function paintTheme(): void {
  const root = document.documentElement;
  const name = app.theme.value;
  root.dataset['theme'] = name;
  for (const [variable, value] of cssVariables(THEMES[name])) root.style.setProperty(variable, value);
}

function pressKey(event: KeyboardEvent): void {
  const key = isPlainKey(event) ? KEYS.find(({ id }) => id === event.key) : undefined;
  if (!key) return;
  event.preventDefault();
  key.run();
}

function fadeNotice(): () => void {
  const timer = app.notice.value ? setTimeout(() => actions.say(''), NOTICE_MS) : undefined;
  return () => clearTimeout(timer);
}

function copyLinks(store: Store): void {
  effect(() => {
    if (app.linkRequest.value === 0) return;
    writeAddress(store, untracked(addressNow));
    void copyText(store.href()).then((done) => done && actions.say(TEXTS.linkCopied));
  });
}

function addressNow(): Address {
  const current = app.current.value;
  return {
    run: current?.run ?? null,
    tag: current?.tag ?? '',
    step: current?.step ?? 0,
    case: app.record.value ? pickedName(app.record.value) : '',
    selection: app.selection.value,
    problem: app.problemIndex.value,
    open: [...app.openCalls.value],
    view: app.view.value,
    screen: app.screen.value,
    memory: {
      cursor: app.memoryCursor.value,
      sizes: app.memorySizes.value,
      variant: app.memoryVariant.value,
      limit: app.deviceLimit.value,
    },
  };
}

/** State to address, a moment after it rests; address to state when somebody else changed it. */
function followAddress(store: Store): void {
  effect(() => {
    const address = addressNow();
    // While another model is being read, the place is still that of the one before.
    if (app.loading.value.state === 'loading' || !app.record.value) return;
    const timer = setTimeout(() => writeAddress(store, address), WRITE_ADDRESS_MS);
    return () => clearTimeout(timer);
  });
  store.listen(() => {
    const address = readAddress(store);
    const current = app.current.value;
    if (address.run === null) return;
    const same = current?.run === address.run && current.tag === address.tag && current.step === address.step;
    if (!same) actions.openModel(address.run, address.tag, address.step);
    else if (!sameAddress(address, addressNow())) actions.showRecord(app.logged.value, address);
  });
}

/** The list of models, at the start and at each reload; the first choice is the address's, else a broken model, else the first. */
function followModels(store: Store): void {
  let abort = new AbortController();
  app.reloadRequest.subscribe(() => {
    abort.abort();
    abort = new AbortController();
    const { signal } = abort;
    void fetchModels(signal)
      .then(async (models) => {
        actions.setModels(models);
        if (models.length === 0) {
          actions.setStatus(await fetchStatus(signal));
          actions.setLoading({ state: 'idle' });
        }
        if (!app.current.value) chooseModel(readAddress(store));
      })
      .catch((error: unknown) => {
        // What is on the screen stays there when a reload fails.
        if (app.record.value && error instanceof RecordError) actions.say(error.message);
        else fail(error, TEXTS.listOfModels, signal);
      });
  });
}

function chooseModel(address: Address): void {
  const chosen = firstChoice(loggedModels(app.models.value ?? []));
  if (address.run !== null) actions.openModel(address.run, address.tag, address.step);
  else if (chosen) actions.openModel(chosen.entry.run, chosen.entry.tag, chosen.step);
}

function followRecord(store: Store): void {
  let first = true;
  let shown: typeof app.current.value = null;
  const wanted = computed(() => ({ current: app.current.value, asked: app.reloadRequest.value }));
  effect(() => {
    const { current } = wanted.value;
    // Tags are content-addressed: what is shown can't have changed.
    if (!current || current === shown) return;
    shown = null;
    const entry = untracked(() => app.models.value?.find(({ run, tag }) => run === current.run && tag === current.tag));
    const what = TEXTS.recordOf(entry?.name ?? current.tag, current.run, current.step);
    const abort = new AbortController();
    const told = (bytes: number): void => actions.setLoading({ state: 'loading', what, bytes });
    told(0);
    void fetchRecord(current, told, abort.signal)
      .then(decodeRecord)
      .then((record) => {
        if (abort.signal.aborted) return;
        actions.setLoading({ state: 'idle' });
        const address = readAddress(store);
        const asked = first || (address.run === current.run && address.tag === current.tag && address.step === current.step);
        actions.showRecord(record, asked ? address : {});
        first = false;
        shown = current;
      })
      .catch((error: unknown) => fail(error, what, abort.signal));
    return () => abort.abort();
  });
}

function fail(error: unknown, what: string, signal: AbortSignal): void {
  if (signal.aborted) return;
  if (!(error instanceof RecordError)) throw error;
  actions.setLoading({ state: 'failed', what, why: error.message, wayOut: error.wayOut });
  actions.showRecord(null);
}

function slot(name: Slot): ComponentChildren {
  return PANELS.filter((panel) => panel.slot === name).map(({ id, title, component: Panel }) => (
    <Guarded key={id} title={title}>
      <Panel />
    </Guarded>
  ));
}

/** What stands in place of all panels: the memory screen below the red sentence, or what is told where there is no record. */
function whole(): ComponentChildren {
  if (!app.record.value) return slot('empty');
  if (app.screen.value === 'graph') return null;
  return (
    <>
      {slot('banner')}
      {slot('memory')}
    </>
  );
}

function App(): VNode {
  const record = app.record.value;
  return (
    <>
      <Frame
        toolbar={slot('toolbar')}
        banner={slot('banner')}
        card={app.problemShown.value ? slot('card') : null}
        outline={slot('outline')}
        graph={slot('graph')}
        inspector={slot('inspector')}
        table={slot('table')}
        whole={whole()}
        tableRows={record ? layerRows(record).filter(({ depth }) => depth < 2).length : 0}
        outlineShown={app.outlineShown.value}
        dimmed={app.loading.value.state === 'loading'}
      />
      {slot('sheet')}
      <Tooltip />
    </>
  );
}
