/** A section with its head, and lines of a name and a value. */

import type { ComponentChildren, VNode } from 'preact';

export function Section({ head, children }: { readonly head: string; readonly children: ComponentChildren }): VNode {
  return (
    <section>
      <h3>{head}</h3>
      {children}
    </section>
  );
}

export function Pairs({ pairs }: { readonly pairs: readonly (readonly [name: string, value: ComponentChildren])[] }): VNode {
  return (
    <dl class="pairs">
      {pairs.map(([name, value], i) => (
        <div key={i}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A value as code, that wraps. */
export function Code({ text }: { readonly text: string }): VNode {
  return <span class="mono wraps">{text}</span>;
}
