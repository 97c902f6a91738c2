/** A shape in words: dims joined by ×, or as a type `f32[4,864]`; dims that clash are bold and red. */

import { Fragment, type VNode } from 'preact';
import { compactDtype, dimText } from '../base/format';
import { TEXTS } from '../base/texts';

interface Dim {
  readonly size: number;
  readonly most: number; // more than `size` where it varies
  readonly clash: boolean;
}

function DimText({ dim }: { readonly dim: Dim }): VNode {
  const text = dimText(dim.size, dim.most);
  return dim.clash ? <b class="clash">{text}</b> : <>{text}</>;
}

function joined(dims: readonly Dim[], by: string): VNode[] {
  return dims.map((dim, i) => (
    <Fragment key={i}>
      {i > 0 && by}
      <DimText dim={dim} />
    </Fragment>
  ));
}

/** `4×864`; an assumed one is in italics. */
export function ShapeText({ dims, assumed = false }: { readonly dims: readonly Dim[]; readonly assumed?: boolean }): VNode {
  return <span class={assumed ? 'mono assumed' : 'mono'}>{dims.length ? joined(dims, '×') : TEXTS.scalar}</span>;
}

/** `f32[4,864]`. */
export function TypeText(props: {
  readonly dtype: string;
  readonly dims: readonly Dim[];
  readonly device?: string;
  readonly assumed?: boolean;
}): VNode {
  return (
    <span class={props.assumed ? 'mono assumed' : 'mono'}>
      {compactDtype(props.dtype)}[{joined(props.dims, ',')}]{props.device && `@${props.device}`}
    </span>
  );
}
