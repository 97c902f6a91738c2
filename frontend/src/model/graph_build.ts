/** From a record and the calls that are open to the graph that is seen. Linear in the ops, without recursion. */

import { TEXTS } from '../base/texts';
import { areAlternatives, casesOfTensor, isThere, type CaseSet } from './case_sets';
import { allEnds } from './case_view';
import { CasesOfGraph } from './graph_cases';
import type { Graph, GraphEdge, GraphNode, GraphPlaces, LabelPart } from './graph';
import { compactArguments, compactConfig, familyOf, opTitle, signOf } from './graph_words';
import type { GraphIndex } from './graph_index';
import { dimParts, dimTexts, edgeLabel, isUnchanged, marksOf, sameType, tensorLabel, viewWords } from './graph_labels';
import { ghostsOf, MOST_BESIDE } from './graph_ghosts';
import { markValues } from './graph_values';
import { bringsNumber, firstInput, markFindings } from './graph_remarks';
import { guiltyPath } from './graph_path';
import { row, OP_ASSUMED, OP_FAILED, TENSOR_ASSUMED, type Finding, type Record } from './record';

/** What decides which part of a record is seen, and how. */
export interface GraphView {
  readonly openCalls: ReadonlySet<number>;
  /** Ops that are nodes though they only view: what is selected. */
  readonly revealed: ReadonlySet<number>;
  /** The problem that is told at the moment, or null. */
  readonly finding: Finding | null;
  /** Whether all that isn't on the problem's path steps back. */
  readonly dims: boolean;
}

type Draft = { -readonly [K in keyof GraphNode]: GraphNode[K] };
interface EdgeDraft {
  readonly source: number;
  readonly target: number;
  readonly tensors: number[];
}

/** A node whose other facts are the usual ones. All fields are written in one order: engines keep objects alike in one layout. */
function drafted(node: Partial<Draft> & Pick<Draft, 'kind' | 'parent' | 'name'>): Draft {
  return {
    kind: node.kind,
    parent: node.parent,
    host: node.host ?? -1,
    open: node.open ?? false,
    op: node.op ?? -1,
    single: node.single ?? false,
    call: node.call ?? -1,
    module: node.module ?? -1,
    tensor: node.tensor ?? -1,
    name: node.name,
    detail: node.detail ?? '',
    family: node.family ?? 0,
    sign: node.sign ?? '',
    state: node.state ?? 'plain',
    mark: node.mark ?? '',
    value: '',
    cases: [],
    differs: false,
    absent: false,
    keepsShape: false,
    weight: node.weight ?? 1,
    caption: node.caption ?? '',
    label: node.label ?? [],
    aside: [],
    asideRight: false,
    remark: [],
    guilty: false,
    dimmed: false,
  };
}

/** Builds the graph of a view, and where each op and call of the record is found on it. */
export function buildGraph(index: GraphIndex, view: GraphView): Graph & GraphPlaces {
  return new Builder(index, view).build();
}

class Builder {
  private readonly record: Record;
  private readonly nodes: Draft[] = [];
  private readonly edges: EdgeDraft[] = [];
  private readonly edgeByEnds = new Map<number, EdgeDraft>();
  private readonly valueByUse = new Map<string, number>();
  private readonly nodeOfOp: Int32Array;
  private readonly nodeOfCall: Int32Array;
  private readonly scopeOfCall: Int32Array; // the open group that things of a call stand in, -1 at the top
  private readonly sourceOf: Int32Array; // the node that a tensor comes from, by tensor
  private readonly lastView: Int32Array; // the view on an edge that made a tensor, by tensor
  private readonly taken: number[][] = []; // the first tensor that each node takes from another, in one case or the other
  private readonly revealedIn = new Map<number, number>(); // how many revealed ops a call holds
  private readonly revealed: ReadonlySet<number>;

  constructor(
    private readonly index: GraphIndex,
    private readonly view: GraphView,
  ) {
    const { record } = index;
    this.record = record;
    this.nodeOfOp = new Int32Array(record.ops.name.length).fill(-1);
    this.nodeOfCall = new Int32Array(record.calls.module.length).fill(-1);
    this.scopeOfCall = new Int32Array(record.calls.module.length).fill(-1);
    this.sourceOf = new Int32Array(record.tensors.shape.length).fill(-1);
    this.lastView = new Int32Array(record.tensors.shape.length).fill(-1);
    const origin = view.finding?.origin?.opIndex ?? -1;
    this.revealed = new Set([...view.revealed, origin].filter((op) => index.viewOnly[op] === 1));
    for (const op of this.revealed) {
      for (let call = record.ops.call[op] ?? -1; call >= 0; call = record.calls.parent[call] ?? -1) {
        this.revealedIn.set(call, (this.revealedIn.get(call) ?? 0) + 1);
      }
    }
  }

  build(): Graph & GraphPlaces {
    this.addInputs();
    this.addCallsAndOps();
    this.addOutputs();
    this.addGhosts();
    const { nodes, nodeOfOp, sourceOf } = this;
    markFindings(this.record, { nodes, nodeOfOp, sourceOf, rootOf: (tensor) => this.rootOf(tensor) }, this.view.finding);
    markValues(this.record, this.nodes, this.sourceOf, this.nodeOfCall);
    const cases = new CasesOfGraph(this.record, this.nodes, this.edges, this.sourceOf);
    const path = guiltyPath(this.nodes, this.edges, this.ends(), (edge) => cases.isOnWayOf(this.view.finding, edge));
    this.nodes.forEach((node, id) => {
      node.guilty = path.nodes.has(id);
      const stepsBack = this.view.dims && path.nodes.size > 0 && !node.guilty && this.dims(node, path.nodes);
      node.dimmed = node.absent || stepsBack;
    });
    const edges = this.finishedEdges(path.edges, cases);
    return { nodes: this.nodes, edges, nodeOfOp: this.nodeOfOp, nodeOfCall: this.nodeOfCall };
  }

  private text(column: Int32Array, i: number): string {
    return this.record.strings[column[i] ?? 0] ?? '';
  }

  private add(node: Partial<Draft> & Pick<Draft, 'kind' | 'parent' | 'name'>): number {
    return this.nodes.push(drafted(node)) - 1;
  }

  private addInputs(): void {
    const ends = allEnds(this.record, 'inputs').filter((end) => end.tensor >= 0);
    ends.forEach((end, i) => {
      const rest = ends.length > MOST_BESIDE && i >= MOST_BESIDE - 1;
      const first = rest && i >= MOST_BESIDE;
      const name = rest ? TEXTS.moreInputs(ends.length - MOST_BESIDE + 1) : end.name;
      this.sourceOf[end.tensor] = first
        ? this.nodes.length - 1
        : this.add({ kind: 'input', parent: -1, name, tensor: end.tensor });
    });
  }

  private pathOfCall(call: number): string {
    return call < 0 ? '' : this.text(this.record.modules.path, this.record.calls.module[call] ?? 0);
  }

  private addOutputs(): void {
    const ends = allEnds(this.record, 'outputs').filter((end) => end.tensor >= 0);
    let rest = -1;
    ends.forEach((end, i) => {
      const crowded = ends.length > MOST_BESIDE && i >= MOST_BESIDE - 1;
      const assumed = ((this.record.tensors.flags[end.tensor] ?? 0) & TENSOR_ASSUMED) !== 0;
      let node = crowded ? rest : -1;
      if (node < 0) {
        const name = crowded ? TEXTS.moreOutputs(ends.length - MOST_BESIDE + 1) : end.name || TEXTS.output.toLowerCase();
        node = this.add({ kind: 'output', parent: -1, name, tensor: end.tensor, state: assumed ? 'assumed' : 'plain' });
      }
      if (crowded) rest = node;
      this.connect(end.tensor, node);
    });
  }

  private addCallsAndOps(): void {
    const { calls, ops } = this.record;
    let next = 0;
    for (let op = 0; op < ops.name.length; op++) {
      for (; next < calls.module.length && (calls.firstOp[next] ?? 0) <= op; next++) this.addCall(next);
      this.addOp(op);
    }
  }

  private addCall(call: number): void {
    const { calls, modules } = this.record;
    const outer = calls.parent[call] ?? -1;
    const hidden = outer < 0 ? -1 : (this.nodeOfCall[outer] ?? -1);
    const scope = outer < 0 ? -1 : (this.scopeOfCall[outer] ?? -1);
    this.scopeOfCall[call] = scope;
    if (hidden >= 0 && !this.nodes[hidden]?.open) {
      this.nodeOfCall[call] = hidden;
      return;
    }
    const first = calls.firstOp[call] ?? 0;
    const end = calls.endOp[call] ?? 0;
    const weight = (this.index.nodesBefore[end] ?? 0) - (this.index.nodesBefore[first] ?? 0) + (this.revealedIn.get(call) ?? 0);
    const module = calls.module[call] ?? 0;
    const path = this.text(modules.path, module);
    if (path === '' || weight === 0) return; // the model itself, and what only views, have no box
    const type = this.text(modules.type, module);
    const config = compactConfig(type, this.text(modules.config, module));
    const single = weight === 1 && !this.index.hasCalls[call];
    const open = !single && this.view.openCalls.has(call);
    const outerPath = outer < 0 ? '' : this.text(modules.path, calls.module[outer] ?? 0);
    const name = outerPath && path.startsWith(`${outerPath}.`) ? path.slice(outerPath.length + 1) : path;
    const number = calls.number[call] ?? 1;
    const assumed = calls.outcome[call] === 2;
    const node = this.add({
      kind: single ? 'op' : 'group',
      parent: scope,
      open,
      single,
      op: single ? this.onlyOp(first, end) : -1,
      call,
      name: number > 1 ? TEXTS.nthCall(name, number) : name,
      detail: single && config ? `${type} ${config}` : type,
      state: assumed ? 'assumed' : 'plain',
      weight,
    });
    this.nodeOfCall[call] = node;
    if (open) this.scopeOfCall[call] = node;
  }

  private onlyOp(first: number, end: number): number {
    for (let op = first; op < end; op++) if (!this.index.viewOnly[op] || this.revealed.has(op)) return op;
    return -1;
  }

  private addOp(op: number): void {
    const { ops } = this.record;
    const call = ops.call[op] ?? -1;
    const around = call < 0 ? -1 : (this.nodeOfCall[call] ?? -1);
    let node = around >= 0 && !this.nodes[around]?.open ? around : -1;
    const shown = !this.index.viewOnly[op] || this.revealed.has(op);
    if (node < 0 && shown) node = this.addOpNode(op, call);
    else if (node >= 0 && this.nodes[node]?.op === op) this.describeSingle(node, op);
    this.nodeOfOp[op] = node;
    const inputs = row(ops.inputs, op);
    const outputs = row(ops.outputs, op);
    if (node >= 0) {
      for (const tensor of inputs) this.connect(tensor, node, op);
      for (const tensor of outputs) if (this.isMadeBy(tensor, op)) this.sourceOf[tensor] = node;
      this.settleShape(node, op, outputs);
      return;
    }
    const main = inputs[0] ?? -1;
    for (const tensor of outputs) {
      if (!this.isMadeBy(tensor, op)) continue;
      this.sourceOf[tensor] = this.sourceOf[main] ?? -1;
      this.lastView[tensor] = op;
    }
  }

  private isMadeBy(tensor: number, op: number): boolean {
    return this.record.tensors.producer[tensor] === op;
  }

  private addOpNode(op: number, call: number): number {
    const short = this.shortOf(op);
    const pairs = row(this.record.argumentLists, this.record.ops.arguments[op] ?? 0);
    const settings: [string, string][] = [];
    for (let i = 0; i + 1 < pairs.length; i += 2) settings.push([this.text(pairs, i), this.text(pairs, i + 1)]);
    return this.add({
      kind: 'op',
      parent: call < 0 ? -1 : (this.scopeOfCall[call] ?? -1),
      op,
      call,
      name: opTitle(short),
      detail: compactArguments(settings),
      family: familyOf(short),
      sign: this.stateOf(op) === 'failed' ? '' : signOf(short),
      state: this.stateOf(op),
    });
  }

  /** A module that is one op takes the op's family and state; its type tells more where the op's name says nothing. */
  private describeSingle(id: number, op: number): void {
    const node = this.nodes[id];
    if (!node) return;
    node.family = familyOf(node.detail.split(' ')[0] ?? '') || familyOf(this.shortOf(op));
    const state = this.stateOf(op);
    if (state !== 'plain') node.state = state;
  }

  private shortOf(op: number): string {
    return this.index.shortNames[this.record.ops.name[op] ?? 0] ?? '';
  }

  private stateOf(op: number): Draft['state'] {
    const flags = this.record.ops.flags[op] ?? 0;
    if (flags & OP_FAILED || (this.view.finding?.severity === 'error' && this.view.finding.opIndex === op)) return 'failed';
    if (this.view.finding?.origin?.opIndex === op) return 'origin';
    return flags & OP_ASSUMED ? 'assumed' : 'plain';
  }

  private settleShape(id: number, op: number, outputs: Int32Array): void {
    const node = this.nodes[id];
    const before = this.taken[id]?.[0] ?? -1;
    const after = outputs[0] ?? -1;
    if (node?.op === op && before >= 0 && after >= 0) node.keepsShape = sameType(this.record, before, after);
  }

  /** Draws a tensor into a node: as an edge from where it comes from, or as a box beside the node. */
  private connect(tensor: number, target: number, op = -1): void {
    const source = this.sourceOf[tensor] ?? -1;
    if (source === target) return;
    if (source < 0) {
      if (op >= 0) this.addValue(tensor, target, op);
      return;
    }
    this.take(target, tensor);
    const key = source * 2 ** 24 + target;
    const known = this.edgeByEnds.get(key);
    if (known) {
      if (!known.tensors.includes(tensor) && known.tensors.length < 64) known.tensors.push(tensor);
      return;
    }
    const edge = { source, target, tensors: [tensor] };
    this.edgeByEnds.set(key, edge);
    this.edges.push(edge);
  }

  /** The first tensor that a node takes, or what stands in its place in other cases. */
  private take(target: number, tensor: number): void {
    const place = this.taken[target];
    if (!place) this.taken[target] = [tensor];
    else if (place.every((other) => areAlternatives(this.record, tensor, other))) place.push(tensor);
  }

  private takenIn(source: number, among: CaseSet): readonly number[] {
    const place = this.taken[source] ?? [];
    return place.length < 2
      ? place
      : place.filter((tensor) => casesOfTensor(this.record, tensor).some((one) => among.includes(one)));
  }

  /** A parameter, buffer or constant, where the module that uses it doesn't already stand for it, or where it clashes. */
  private addValue(tensor: number, target: number, op: number): void {
    const root = this.rootOf(tensor);
    const { tensors, calls, modules } = this.record;
    const name = this.text(tensors.name, root);
    const kind = tensors.kind[root] ?? 0;
    const host = this.nodes[target];
    const clashing = marksOf(this.view.finding?.marks ?? [], tensor);
    if (host?.op !== op || (kind === 0 && !name)) return;
    if (!clashing.size && !bringsNumber(this.view.finding, tensor, root)) {
      if (kind === 4 && !dimTexts(this.record, [tensor]).length) return;
      const owner =
        host.call >= 0 && this.nodeOfCall[host.call] === target ? this.text(modules.path, calls.module[host.call] ?? 0) : null;
      if (owner !== null && (kind === 4 || name.startsWith(`${owner}.`))) return;
    }
    const around = host.parent < 0 ? '' : this.pathOfCall(this.nodes[host.parent]?.call ?? -1);
    const title = (around && name.startsWith(`${around}.`) ? name.slice(around.length + 1) : name) || TEXTS.constant;
    const use = `${target} ${tensor}`;
    if (this.valueByUse.has(use)) return;
    this.valueByUse.set(use, this.nodes.length);
    const turned = clashing.size > 0 && this.shortOf(op) === 'linear' && dimTexts(this.record, [tensor]).length === 2;
    this.add({
      kind: 'value',
      parent: host.parent,
      host: target,
      tensor: root,
      name: title,
      caption: clashing.size ? (turned ? TEXTS.transposed(name) : name || TEXTS.constant) : '',
      label: turned
        ? this.turnedLabel(tensor, clashing)
        : tensorLabel(this.record, [clashing.size ? tensor : root], [], this.view.finding?.marks ?? []),
    });
  }

  private rootOf(tensor: number): number {
    let root = tensor;
    for (let view = this.lastView[root] ?? -1; view >= 0; view = this.lastView[root] ?? -1)
      root = row(this.record.ops.inputs, view)[0] ?? -1;
    return root;
  }

  /** A linear layer multiplies by its weight transposed; so written, the dims that clash face each other. */
  private turnedLabel(tensor: number, clashing: ReadonlySet<number>): LabelPart[] {
    return dimParts([...dimTexts(this.record, [tensor])].reverse(), null, new Set([...clashing].map((dim) => 1 - dim)));
  }

  private addGhosts(): void {
    for (const { host, module, name, mark } of ghostsOf(this.index, this.nodes, this.nodeOfCall)) {
      const parent = this.nodes[host]?.parent ?? -1;
      this.add({ kind: 'ghost', parent, host, module, name, detail: TEXTS.neverCalled, mark });
    }
  }

  private ends(): { readonly from: number; readonly to: number; readonly before: number } {
    const { finding } = this.view;
    if (finding?.severity !== 'error') return { from: -1, to: -1, before: -1 };
    const to = this.nodeOfOp[finding.opIndex] ?? -1;
    const origin = finding.origin;
    if (!origin) return { from: to, to, before: -1 };
    const from = origin.opIndex >= 0 ? (this.nodeOfOp[origin.opIndex] ?? -1) : (this.sourceOf[origin.tensor] ?? -1);
    return { from: from >= 0 ? from : to, to, before: this.sourceOf[firstInput(this.record, origin.opIndex)] ?? -1 };
  }

  private dims(node: Draft, path: ReadonlySet<number>): boolean {
    if (node.kind === 'value') return !path.has(node.host);
    return node.kind !== 'ghost' && !node.open && node.state === 'plain' && node.mark !== 'error';
  }

  private finishedEdges(guilty: ReadonlySet<number>, cases: CasesOfGraph): GraphEdge[] {
    const said = new Set<string>();
    const marks = this.view.finding?.marks ?? [];
    const finished = (edge: EdgeDraft, i: number): GraphEdge => {
      const { source, target } = edge;
      const onlyCase = cases.onlyCase(edge);
      const among = cases.toldBy(edge);
      const tensors = seenTensors(this.record, edge.tensors);
      const before = this.takenIn(source, among);
      const first = tensors[0] ?? -1;
      const marked = tensors.some((tensor) => marks.some((mark) => mark.tensor === tensor));
      const into = this.nodes[target];
      const clashing = marked && into?.state === 'failed';
      const told = clashing ? cases.having(this.view.finding, among) : among;
      const label = edgeLabel(this.record, tensors, before, clashing ? marks : [], told);
      const known = `${source} ${label.map((part) => part.text).join('')}`;
      const isNew = tensors.some((tensor) => !isUnchanged(this.record, tensor, before, among));
      const labelled = clashing || (isNew && !said.has(known));
      said.add(known);
      const assumed = tensors.some((tensor) => ((this.record.tensors.flags[tensor] ?? 0) & TENSOR_ASSUMED) !== 0);
      const onPath = guilty.has(i);
      const dimmed = !onPath && !assumed && (this.nodes[source]?.dimmed === true || into?.dimmed === true);
      const words = viewWords(this.index, this.lastView, first);
      const clash = into?.state === 'failed' && (marked || (onPath && marks.length === 0));
      return { source, target, tensors, words, label, labelled, assumed, onlyCase, guilty: onPath, clash, dimmed };
    };
    const absent = ({ source, target }: EdgeDraft): boolean => !!this.nodes[source]?.absent || !!this.nodes[target]?.absent;
    const edges: GraphEdge[] = [];
    // What ran comes first: a label that is told once is told there.
    for (const late of [false, true])
      this.edges.forEach((edge, i) => {
        if (absent(edge) === late) edges[i] = finished(edge, i);
      });
    return edges;
  }
}

/** Of several tensors, each of other cases, those of the case that is picked; all where it has none. */
function seenTensors(record: Record, tensors: readonly number[]): readonly number[] {
  const seen = tensors.filter((tensor) => isThere(record, tensor));
  return seen.length ? seen : tensors;
}
