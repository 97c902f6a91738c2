/** What the backend tells of a logdir: its models, and what else stands in it. */

/** One logged model of one run, as /models lists it. */
export interface ModelEntry {
  readonly run: string;
  readonly tag: string;
  readonly name: string;
  readonly steps: readonly number[];
  readonly completed: boolean | null;
  readonly errors: number | null;
  readonly warnings: number | null;
  readonly ops: number | null;
  readonly params: number | null;
  readonly problem: string | null; // a sentence where its header can't be read
}

/** What this TensorBoard reads, told where no model was logged. */
export interface Status {
  readonly runs: readonly { readonly run: string; readonly plugins: readonly string[] }[];
  readonly logdir: string;
  readonly tensorboard: string;
  readonly loader: string;
  readonly shapes: string;
  readonly draft: number;
}
