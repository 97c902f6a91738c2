/** Copying text, also where the page came over plain http and the browser offers no clipboard. */

/** Copies a text; false where the browser refuses. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

function copyBySelection(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'offscreen';
  const focused = document.activeElement;
  document.body.append(area);
  area.select();
  // The one way that works without a secure context.
  const done = document.execCommand('copy'); // eslint-disable-line @typescript-eslint/no-deprecated
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return done;
}
