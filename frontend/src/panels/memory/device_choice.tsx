/** The choice of the device: one of the usual sizes, or one's own in GiB. */

import type { VNode } from 'preact';
import { TEXTS } from '../../base/texts';
import { GIB, LEAST_LIMIT, MOST_LIMIT, USUAL_LIMITS } from '../../model/device';
import { setDeviceLimit } from '../../state/actions';
import { Segmented } from '../../widgets/segmented';
import { limit } from './view';

export function DeviceChoice(): VNode {
  const now = limit.value / GIB;
  const chosen = USUAL_LIMITS.find((each) => each === now);
  return (
    <div class="device-choice">
      <span class="small muted">{TEXTS.device}</span>
      <Segmented
        label={TEXTS.deviceLimit}
        choices={USUAL_LIMITS.map((each) => ({ key: String(each), title: String(each) }))}
        chosen={chosen === undefined ? '' : String(chosen)}
        choose={(key) => setDeviceLimit(Number(key))}
      />
      <input
        class={chosen === undefined ? 'number-field chosen' : 'number-field'}
        type="number"
        min={LEAST_LIMIT}
        max={MOST_LIMIT}
        step="any"
        aria-label={TEXTS.ownLimitLabel}
        placeholder={TEXTS.ownLimit}
        value={chosen === undefined ? Number(now.toFixed(3)) : ''}
        onChange={(event) => setDeviceLimit(event.currentTarget.value === '' ? null : Number(event.currentTarget.value))}
      />
      <span class="small muted">{TEXTS.gib}</span>
    </div>
  );
}
