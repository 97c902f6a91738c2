/** TensorBoard around us: its theme, and its word that data were reloaded. */

import type { ThemeName } from './app_state';

const DARK_CLASS = 'dark-mode';
const RELOADED = 'experimental.DataReloaded';

/** Hears the theme now and at each change: TensorBoard's own, else the system's. */
export function followTheme(window: Window, heard: (theme: ThemeName) => void): void {
  const body = hostBody(window);
  if (!body) {
    const dark = window.matchMedia('(prefers-color-scheme: dark)');
    const tell = (): void => heard(dark.matches ? 'dark' : 'light');
    dark.addEventListener('change', tell);
    tell();
    return;
  }
  const tell = (): void => heard(body.classList.contains(DARK_CLASS) ? 'dark' : 'light');
  new MutationObserver(tell).observe(body, { attributes: true, attributeFilter: ['class'] });
  tell();
}

function hostBody(window: Window): HTMLElement | null {
  try {
    return window.parent === window ? null : window.parent.document.body;
  } catch {
    return null; // framed by another origin
  }
}

interface HostMessage {
  readonly type: string;
  readonly id: number;
  readonly isReply: boolean;
}

/** Hears each reload of TensorBoard's data. The protocol is that of its experimental plugin library, a channel of JSON. */
export function followReload(window: Window, heard: () => void): void {
  if (window.parent === window) return;
  const channel = new MessageChannel();
  channel.port1.onmessage = (event: MessageEvent<string>): void => {
    const message = JSON.parse(event.data) as HostMessage;
    if (message.isReply) return;
    channel.port1.postMessage(JSON.stringify({ type: message.type, id: message.id, payload: null, error: null, isReply: true }));
    if (message.type === RELOADED) heard();
  };
  window.parent.postMessage('experimental.bootstrap', '*', [channel.port2]);
}
