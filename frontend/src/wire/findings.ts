/** Findings off the wire. */

import type * as model from '../model/record';
import { checkedColumn } from './columns';
import type { Finding, Fix, Mark, Number as Word, Origin, Place } from './gen/shapes/v1/record_pb';

interface Sizes {
  readonly tensors: number;
  readonly ops: number;
}

const SEVERITIES: readonly model.Severity[] = ['error', 'warning', 'note'];

/** The record's findings; RecordError where one points outside its table. */
export function findingsOf(from: readonly Finding[], size: Sizes): readonly model.Finding[] {
  return from.map((finding, i) => ({
    kind: finding.kind,
    severity: SEVERITIES.find((known) => known === finding.severity) ?? 'note',
    message: finding.message,
    module: finding.module,
    moduleType: finding.moduleType,
    call: finding.call,
    op: finding.op,
    file: finding.file,
    line: finding.line,
    code: finding.code,
    got: numbersOf(finding.got),
    want: numbersOf(finding.want),
    types: finding.types,
    origin: finding.origin ? originOf(finding.origin, size) : null,
    why: finding.why,
    torchMessage: finding.torchMessage,
    places: finding.places.map((place) => placeOf(place, size)),
    marks: finding.marks.map((mark) => markOf(mark, size)),
    readings: finding.readings,
    fixes: finding.fixes.map(fixOf),
    // A finding follows from an earlier one only: no circles.
    causedBy: one('findings.caused_by', finding.causedBy - 1, i),
    opIndex: one('findings.op_index', finding.opIndex - 1, size.ops),
    cases: finding.cases,
  }));
}

function one(column: string, value: number, size: number): number {
  return checkedColumn(column, [value], size, -1)[0] ?? -1;
}

function numbersOf(words: readonly Word[]): ReadonlyMap<string, number> {
  return new Map(words.map(({ word, value }) => [word, Number(value)]));
}

function placeOf(place: Place, size: Sizes): model.Place {
  const { module, call, op, file, line, code } = place;
  return { module, call, op, file, line, code, opIndex: one('places.op_index', place.opIndex - 1, size.ops) };
}

function originOf(origin: Origin, size: Sizes): model.Origin {
  const { module, op, file, line, code } = origin;
  return {
    module,
    op,
    file,
    line,
    code,
    opIndex: one('origin.op_index', origin.opIndex - 1, size.ops),
    tensor: one('origin.tensor', origin.tensor - 1, size.tensors),
    shape: origin.shape.map(Number),
  };
}

function markOf(mark: Mark, size: Sizes): model.Mark {
  return { tensor: one('marks.tensor', mark.tensor, size.tensors), dim: mark.dim };
}

function fixOf({ text, verified, cost }: Fix): model.Fix {
  return { text, verified, cost };
}
