/** A panel that fails says so inside itself; the others stay. */

import { Component, type ComponentChildren } from 'preact';
import { TEXTS } from '../base/texts';
import { Icon } from './icon';

interface Props {
  readonly title: string;
  readonly children: ComponentChildren;
}

export class Guarded extends Component<Props, { readonly failure: string | null }> {
  override state: { readonly failure: string | null } = { failure: null };

  static override getDerivedStateFromError(error: unknown): { failure: string } {
    return { failure: error instanceof Error ? error.message : String(error) };
  }

  override componentDidCatch(error: unknown): void {
    console.error(error);
  }

  override render(): ComponentChildren {
    if (this.state.failure === null) return this.props.children;
    return (
      <div class="cannot" role="alert">
        <Icon name="error" size={16} />
        <div>
          <p class="cannot-what">{TEXTS.panelFailed(this.props.title)}</p>
          <p>{this.state.failure}</p>
          <p class="muted">{TEXTS.panelFailedHint}</p>
        </div>
      </div>
    );
  }
}
