/** The shape that came beside the one that was wanted, dim under dim, and how much is missing. */

import type { VNode } from 'preact';
import { countText } from '../base/format';
import { TEXTS } from '../base/texts';
import { Icon } from './icon';

interface Props {
  readonly got: readonly { readonly size: number; readonly clash: boolean }[];
  readonly wanted: readonly (number | null)[]; // null: any
}

export function DimTable({ got, wanted }: Props): VNode {
  const difference = (dim: number): string => {
    const [mine, theirs] = [got[dim]?.size ?? 0, wanted[dim] ?? null];
    if (theirs === null) return '';
    return mine > theirs ? `+${countText(mine - theirs)}` : countText(mine - theirs);
  };
  return (
    <div class="boxed">
      <table class="dims">
        <thead>
          <tr>
            <td />
            {got.map((_, dim) => (
              <th key={dim} scope="col">
                {TEXTS.dim(dim)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row">{TEXTS.got}</th>
            {got.map((dim, i) => (
              <td key={i} class={dim.clash ? 'mono clash' : 'mono'}>
                {dim.size} {dim.clash && <Icon name="error" />}
              </td>
            ))}
          </tr>
          <tr>
            <th scope="row">{TEXTS.wanted}</th>
            {wanted.map((size, i) => (
              <td key={i} class={size === null ? 'mono muted' : 'mono clash'}>
                {size ?? TEXTS.any}
              </td>
            ))}
          </tr>
          <tr>
            <td />
            {got.map((_, i) => (
              <td key={i} class="mono muted">
                {difference(i)}
              </td>
            ))}
          </tr>
        </tbody>
      </table>
    </div>
  );
}
