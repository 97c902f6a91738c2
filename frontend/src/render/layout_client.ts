/** Has graphs laid out: small ones at once, large ones by the worker, so that the page stays awake. */

import type { Layout, LayoutInput } from '../layout/layout';
import { layoutGraph } from '../layout/nested';

/** Up to so many nodes the layout takes less time than the way to a worker and back. */
const SMALL = 600;

type Done = (layout: Layout) => void;

export class LayoutClient {
  private worker: Worker | null = null;
  private usable = true;
  private job = 0;
  private waiting: { readonly job: number; readonly input: LayoutInput; readonly done: Done } | null = null;

  /** `workerUrl`: where the worker's file is served. */
  constructor(private readonly workerUrl: URL) {}

  /** Calls back once with the layout, unless another one was asked for before it was done. */
  ask(input: LayoutInput, done: Done): void {
    this.job++;
    this.waiting = null;
    const worker = input.form.length > SMALL ? this.started() : null;
    if (!worker) {
      done(layoutGraph(input));
      return;
    }
    this.waiting = { job: this.job, input, done };
    worker.postMessage({ job: this.job, input });
  }

  close(): void {
    this.worker?.terminate();
    this.worker = null;
    this.waiting = null;
  }

  private started(): Worker | null {
    if (this.worker || !this.usable) return this.worker;
    try {
      this.worker = new Worker(this.workerUrl, { type: 'module' });
    } catch {
      this.usable = false; // no workers here, as in a page opened from a file
      return null;
    }
    this.worker.onmessage = ({ data }: MessageEvent<{ readonly job: number; readonly layout: Layout }>) => {
      const { waiting } = this;
      if (waiting?.job !== data.job) return;
      this.waiting = null;
      waiting.done(data.layout);
    };
    this.worker.onerror = () => this.fallBack();
    return this.worker;
  }

  /** The worker's file could not be read, or it failed: the page does it itself from now on. */
  private fallBack(): void {
    const { waiting } = this;
    this.close();
    this.usable = false;
    if (waiting) waiting.done(layoutGraph(waiting.input));
  }
}
