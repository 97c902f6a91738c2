/** The graph as it is seen: its nodes and edges, as plain data. What builds it from a record is graph_build.ts. */

import type { CaseSet } from './case_sets';
import type { Family } from './graph_words';
import type { ValueOrigin } from './values_read';

export type NodeKind = 'op' | 'group' | 'input' | 'output' | 'value' | 'ghost';
export type NodeState = 'plain' | 'failed' | 'origin' | 'assumed';
export type NodeMark = '' | 'error' | 'warn' | 'origin';

/** A stretch of an edge's label: a dim as it was, one that changed, or one that clashes. */
export interface LabelPart {
  readonly text: string;
  readonly tone: 'muted' | 'changed' | 'clash';
}

/** One thing on the graph; its index is its name to edges and layout. A group stands before what is in it. */
export interface GraphNode {
  readonly kind: NodeKind;
  readonly parent: number; // the open group around it, -1 at the top
  readonly host: number; // the node that a value or ghost stands beside, else -1
  readonly open: boolean; // a group whose inside is shown
  readonly op: number; // of an op, or of a module that is one op; else -1
  readonly single: boolean; // a module that is one op
  readonly call: number; // of a group or module, or the one that an op ran in; -1 outside any
  readonly module: number; // of a ghost; else -1
  readonly tensor: number; // of an input, output or value; else -1
  readonly name: string;
  readonly detail: string; // type and settings, or arguments
  readonly family: Family;
  readonly sign: string; // of an op drawn as a circle, else ''
  readonly state: NodeState;
  readonly mark: NodeMark; // the worst inside a closed group; an op's own
  readonly value: ValueOrigin | ''; // its contents were read: whose they were; the gravest inside a closed group
  readonly cases: CaseSet; // those that ran it, where not every case did; else []
  readonly differs: boolean; // a closed group that every case ran, each in its own way
  readonly absent: boolean; // it didn't run in the case that is picked
  readonly keepsShape: boolean;
  readonly weight: number; // ops inside that would be nodes
  readonly caption: string; // above a value's box; '' where the name stands inside
  readonly label: readonly LabelPart[]; // a value's shape
  readonly aside: readonly string[]; // words beside it, of the origin of a number
  readonly asideRight: boolean; // they stand to its right: something else is to its left
  readonly remark: readonly string[]; // words to its right, of what failed
  readonly guilty: boolean; // on the way from the origin to the failure
  readonly dimmed: boolean;
}

/** What flows from one node to another: all tensors that do, as one line. */
export interface GraphEdge {
  readonly source: number;
  readonly target: number;
  readonly tensors: readonly number[]; // as they arrive
  readonly words: readonly string[]; // the views on the way
  readonly label: readonly LabelPart[];
  readonly labelled: boolean; // the label tells something new: it is shown also when not all are
  readonly assumed: boolean;
  readonly onlyCase: number; // the only case of several that runs both its ends, else -1
  readonly guilty: boolean;
  readonly clash: boolean; // it carries a number that clashes into the failure
  readonly dimmed: boolean;
}

export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

/** The text of a label, as one string: `4×≠864`. */
export function labelText(parts: readonly LabelPart[]): string {
  return parts.map((part) => (part.tone === 'clash' ? `≠${part.text}` : part.text)).join('');
}

/** The node that stands for a call, an op or a module, or the closed group that hides it; -1 where nothing does. */
export interface GraphPlaces {
  readonly nodeOfOp: Int32Array;
  readonly nodeOfCall: Int32Array;
}
