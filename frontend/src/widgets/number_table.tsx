/** Numbers that came beside those that were wanted, a line each. */

import type { VNode } from 'preact';
import { TEXTS } from '../base/texts';
import { Icon } from './icon';

interface Props {
  readonly pairs: readonly { readonly word: string; readonly got: number | null; readonly wanted: number | null }[]; // null: none
}

export function NumberTable({ pairs }: Props): VNode {
  return (
    <div class="boxed">
      <table class="dims">
        <thead>
          <tr>
            <td />
            <th scope="col">{TEXTS.got}</th>
            <th scope="col">{TEXTS.wanted}</th>
          </tr>
        </thead>
        <tbody>
          {pairs.map(({ word, got, wanted }) => (
            <tr key={word}>
              <th scope="row">{word.replaceAll('_', ' ')}</th>
              <td class={got === null ? 'mono muted' : 'mono clash'}>
                {got ?? TEXTS.dash} {got !== null && <Icon name="error" />}
              </td>
              <td class={wanted === null ? 'mono muted' : 'mono clash'}>{wanted ?? TEXTS.dash}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
