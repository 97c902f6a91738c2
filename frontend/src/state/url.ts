/** Selection and place in the address, where a link can be copied from: TensorBoard's own store, its hash, else ours. */

import { idText, parseId } from '../base/ids';
import { sensibleLimit } from '../model/device';
import type { MemoryPlace, Place } from './actions';
import type { Selection } from './app_state';

/** All that the address holds. */
export interface Address extends Place {
  readonly run: string | null; // null where the address names no model
  readonly tag: string;
  readonly step: number;
}

const PREFIX = 'p.shapes.';
const PLACE_KEYS = ['run', 'tag', 'step', 'case', 'sel', 'problem', 'open', 'view', 'screen'] as const;
const MEMORY_KEYS = ['cursor', 'sizes', 'way', 'limit'] as const;
const KEYS = [...PLACE_KEYS, ...MEMORY_KEYS] as const;
type Words = Readonly<globalThis.Record<(typeof KEYS)[number], string>>;
/** So that places thousands of units away from the middle come back to the pixel. */
const ZOOM_DIGITS = 6;
const SELECTABLE: readonly Selection['kind'][] = ['op', 'call', 'module', 'tensor'];

/** Where words are kept under their keys; "" is an absent one. */
export interface Store {
  get(key: string): string;
  set(words: Readonly<globalThis.Record<string, string>>): void;
  href(): string;
  listen(changed: () => void): void;
}

interface TensorBoardStorage {
  getString(key: string, options: { defaultValue: string }): string;
  setString(key: string, value: string, options: { defaultValue: string; useLocationReplace: boolean }): void;
}

const toDigits = (value: number, digits: number): number => Number(value.toFixed(digits));

/** The words of an address. */
export function wordsOf(address: Address): Words {
  const { view } = address;
  return {
    run: address.run ?? '',
    tag: address.tag,
    step: address.run === null ? '' : String(address.step),
    case: address.case,
    sel: address.selection ? idText(address.selection.kind, address.selection.id) : '',
    problem: address.problem ? String(address.problem) : '',
    open: address.open.join('.'),
    view: view ? [toDigits(view.x, 3), toDigits(view.y, 3), toDigits(view.zoom, ZOOM_DIGITS)].join('_') : '',
    screen: address.screen === 'graph' ? '' : address.screen,
    cursor: address.memory.cursor === null ? '' : String(address.memory.cursor),
    sizes: address.memory.sizes.join('.'),
    way: address.memory.variant,
    limit: address.memory.limit === null ? '' : String(address.memory.limit),
  };
}

/** The address that words tell; what can't be read is left out. */
export function addressOf(words: Words): Address {
  const [x = NaN, y = NaN, zoom = NaN] = words.view.split('_').map(Number);
  return {
    run: words.tag === '' ? null : words.run,
    tag: words.tag,
    step: /^-?\d{1,15}$/.test(words.step) ? Number(words.step) : 0,
    case: words.case,
    selection: parseId(words.sel, SELECTABLE),
    problem: wholes(words.problem)[0] ?? 0,
    open: wholes(words.open),
    view: words.view !== '' && [x, y, zoom].every(Number.isFinite) && zoom > 0 ? { x, y, zoom } : null,
    screen: words.screen === 'memory' ? 'memory' : 'graph',
    memory: memoryPlaceOf(words),
  };
}

function memoryPlaceOf(words: Words): MemoryPlace {
  return {
    cursor: wholes(words.cursor)[0] ?? null,
    sizes: wholes(words.sizes),
    variant: words.way,
    limit: words.limit === '' ? null : sensibleLimit(Number(words.limit)),
  };
}

/** The numbers between dots; what is none is left out. */
function wholes(text: string): readonly number[] {
  return text.split('.').flatMap((word) => (/^\d{1,9}$/.test(word) ? [Number(word)] : []));
}

/** Whether two addresses are written alike: cameras a hair apart are. */
export function sameAddress(a: Address, b: Address): boolean {
  const [mine, theirs] = [wordsOf(a), wordsOf(b)];
  return KEYS.every((key) => mine[key] === theirs[key]);
}

/** Reads the address. */
export function readAddress(store: Store): Address {
  const words = Object.fromEntries(KEYS.map((key) => [key, store.get(PREFIX + key)])) as Words;
  return addressOf(words);
}

/** Writes the address; true where it changed. */
export function writeAddress(store: Store, address: Address): boolean {
  const words = wordsOf(address);
  const changed = KEYS.filter((key) => store.get(PREFIX + key) !== words[key]);
  if (changed.length) store.set(Object.fromEntries(changed.map((key) => [PREFIX + key, words[key]])));
  return changed.length > 0;
}

/** The store to use in this window. */
export function addressStore(window: Window): Store {
  try {
    const { parent } = window;
    if (parent !== window) {
      const storage = (parent as Window & { tensorboard?: { tf_storage?: TensorBoardStorage } }).tensorboard?.tf_storage;
      const hash = hashStore(parent);
      hash.href(); // throws where another origin frames us
      return storage ? tensorBoardStore(storage, hash) : hash;
    }
  } catch {
    // Its address is none of our business.
  }
  return hashStore(window);
}

function tensorBoardStore(storage: TensorBoardStorage, hash: Store): Store {
  return {
    ...hash,
    get: (key) => storage.getString(key, { defaultValue: '' }),
    set: (words) => {
      for (const [key, value] of Object.entries(words))
        storage.setString(key, value, { defaultValue: '', useLocationReplace: true });
    },
  };
}

/** A hash as TensorBoard writes it: the tab's name, then `&key=value`. */
function hashStore(window: Window): Store {
  const parts = (): string[] => window.location.hash.replace(/^#/, '').split('&').filter(Boolean);
  const keyOf = (part: string): string => decode(part.split('=', 1)[0] ?? '');
  return {
    get: (key) => {
      const part = parts().find((each) => each.includes('=') && keyOf(each) === key);
      return part === undefined ? '' : decode(part.slice(part.indexOf('=') + 1));
    },
    set: (words) => {
      const kept = parts().filter((part) => !(keyOf(part) in words));
      const added = Object.entries(words).flatMap(([key, value]) =>
        value === '' ? [] : [`${encodeURIComponent(key)}=${encodeURIComponent(value)}`],
      );
      window.history.replaceState(window.history.state, '', `#${[...kept, ...added].join('&')}`);
    },
    href: () => window.location.href,
    listen: (changed) => window.addEventListener('hashchange', changed),
  };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a lone % that somebody typed
  }
}
