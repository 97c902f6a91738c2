/** The layout's worker: takes a numbered input, answers with the layout of the same number. */

import { buffersOf, type LayoutInput } from './layout/layout';
import { layoutGraph } from './layout/nested';

interface Scope {
  onmessage: ((event: MessageEvent<{ readonly job: number; readonly input: LayoutInput }>) => void) | null;
  postMessage: (message: unknown, transfer: Transferable[]) => void;
}

const scope = self as unknown as Scope; // the page's type of self has another postMessage

scope.onmessage = ({ data: { job, input } }) => {
  const layout = layoutGraph(input);
  scope.postMessage({ job, layout }, buffersOf(layout));
};
