/** Marks the origin of a number and what failed on it, and says beside them what became of it. */

import { TEXTS } from '../base/texts';
import type { GraphNode, GraphPlaces } from './graph';
import { OP_ASSUMED, OP_FAILED, row, type Finding, type Record } from './record';

type Markable = { -readonly [K in keyof GraphNode]: GraphNode[K] };

interface Drawn {
  readonly nodes: readonly Markable[];
  readonly nodeOfOp: GraphPlaces['nodeOfOp'];
  readonly sourceOf: Int32Array; // the node that each tensor comes from
  readonly rootOf: (tensor: number) => number; // what a view views
}

const WORST = { error: 3, origin: 2, warn: 1, '': 0 } as const;

/** Marks what every finding stands at; of the told one also where its number comes from, in words beside the nodes. */
export function markFindings(record: Record, drawn: Drawn, told: Finding | null): void {
  const put = (op: number, mark: Markable['mark']): void => raise(drawn.nodes[drawn.nodeOfOp[op] ?? -1], mark);
  for (const { severity, opIndex, places } of record.findings) {
    if (severity === 'note') continue;
    for (const op of [opIndex, ...places.map((place) => place.opIndex)]) put(op, severity === 'error' ? 'error' : 'warn');
  }
  record.ops.flags.forEach((flags, op) => {
    if (flags & OP_FAILED) put(op, 'error');
  });
  if (!told) return;
  markOrigin(drawn, told);
  const failed = drawn.nodes[drawn.nodeOfOp[told.opIndex] ?? -1];
  if (failed?.state === 'failed') failed.remark = remarkOf(record, told.opIndex);
}

/** The op that introduced the number; of one that an input or parameter brought along, that. */
function markOrigin(drawn: Drawn, { origin, got, why, opIndex }: Finding): void {
  if (!origin) return;
  const { nodes, nodeOfOp } = drawn;
  const isOp = origin.opIndex >= 0;
  const node = isOp ? nodes[nodeOfOp[origin.opIndex] ?? -1] : bringerOf(drawn, origin.tensor, nodeOfOp[opIndex] ?? -1);
  raise(node, 'origin');
  if (node && !isOp) node.state = 'origin';
  if (node?.state !== 'origin') return;
  node.aside = originWords([...got.values()][0], why, isOp ? origin.shape : null);
  const id = nodes.indexOf(node);
  node.asideRight = node.kind === 'op' && nodes.some((other) => other.host === id);
}

function raise(node: Markable | undefined, mark: Markable['mark']): void {
  if (node && WORST[mark] > WORST[node.mark]) node.mark = mark;
}

/** The input a tensor came in by, or its box: beside what failed rather than elsewhere. */
function bringerOf({ nodes, sourceOf, rootOf }: Drawn, tensor: number, failed: number): Markable | undefined {
  if (tensor < 0) return undefined;
  const root = rootOf(tensor);
  const boxes = nodes.filter((node) => node.kind === 'value' && node.tensor === root);
  const input = nodes[sourceOf[root] ?? -1];
  return boxes.find((node) => node.host === failed) ?? boxes[0] ?? (input?.kind === 'input' ? input : undefined);
}

/** `makes 864` and `= 6·12·12`; of what was there before, `brings 50`; no number where the reason is none, as of a device. */
function originWords(number: number | undefined, why: string, made: readonly number[] | null): readonly string[] {
  const isMade = made !== null;
  const steps = (why.split('; ')[0] ?? '').split(', ').map((step) => step.split(' = '));
  const [result, arithmetic] = steps.find(([size]) => made?.includes(Number(size))) ?? [];
  if (result && arithmetic) return [TEXTS.makes(result), `= ${arithmetic}`];
  const isReason = number !== undefined && (why === '' || new RegExp(`\\b${number}\\b`).test(why));
  if (!isReason) return [isMade ? TEXTS.madeIt : TEXTS.broughtIt];
  return [isMade ? TEXTS.makes(String(number)) : TEXTS.brings(String(number))];
}

/** What became of the run below a failed op; none where it went on as if nothing had been. */
function remarkOf(record: Record, failed: number): readonly string[] {
  const { flags } = record.ops;
  for (let op = failed + 1; op < flags.length; op++) if ((flags[op] ?? 0) & OP_ASSUMED) return TEXTS.nothingBelowRan;
  return failed === flags.length - 1 ? TEXTS.endedHere : [];
}

/** Whether a tensor that was there before is the origin of the told number. */
export function bringsNumber(told: Finding | null, tensor: number, root: number): boolean {
  const origin = told?.origin;
  return !!origin && origin.opIndex < 0 && origin.tensor >= 0 && (origin.tensor === tensor || origin.tensor === root);
}

/** The op's input that a number came along on. */
export function firstInput(record: Record, op: number): number {
  return op < 0 ? -1 : (row(record.ops.inputs, op)[0] ?? -1);
}
