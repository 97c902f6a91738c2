/** A finding as the four lines WHERE, WHAT, FROM, TRY: the words of tb_shapeplugin/report/four_lines.py, in pieces. */

import { shapeText } from '../base/format';
import { TEXTS } from '../base/texts';
import { moduleOfOp, opName, pathOf } from './calls';
import { casesWith, type CaseSet } from './case_sets';
import { row, TENSOR_KINDS, type Finding, type Fix, type Origin, type Record } from './record';
import { typeOf } from './tensors';

const SPOKEN: ReadonlyMap<string, string> = new Map([
  ['__getitem__', TEXTS.indexing],
  ['__setitem__', TEXTS.assignment],
  // What a module was called with once more stands behind them: nothing of the user's made it.
  ['unpack', TEXTS.whatWasAssumed],
  ['size', TEXTS.whatWasAssumed],
  ['raise', TEXTS.whatWasAssumed],
  ['error', TEXTS.whatWasAssumed],
]);

export interface FourLines {
  readonly where: {
    readonly name: string;
    readonly type: string;
    readonly place: string;
    readonly call: number;
    readonly others: number;
  };
  readonly what: { readonly clause: string; readonly types: string };
  readonly from: {
    readonly why: string;
    readonly note: string; // what would have fitted
    readonly verb: string;
    readonly name: string;
    readonly of: string; // "in block of pool"
    readonly type: string; // of what it was made from
    readonly place: string;
  } | null;
  readonly tries: readonly Fix[];
}

/** `net.py:33`; the file alone where the line is unknown. */
export function placeText(file: string, line: number): string {
  return file !== '' && line > 0 ? `${file}:${line}` : file;
}

/** The four lines of a finding. */
export function fourLines(record: Record, finding: Finding): FourLines {
  const { origin } = finding;
  const prefix = `${finding.module}: `;
  const clause = finding.message.startsWith(prefix) ? finding.message.slice(prefix.length) : finding.message;
  return {
    where: {
      name: finding.module || finding.moduleType || finding.op,
      type: finding.module ? finding.moduleType : '',
      place: placeText(finding.file, finding.line),
      call: finding.call,
      others: Math.max(0, finding.places.length - 1),
    },
    what: { clause: clause.replace(/\.$/, ''), types: finding.types },
    from: origin
      ? {
          ...reasons(finding.why),
          ...makerOf(record, origin, casesWith(record, finding)),
          place: placeText(origin.file, origin.line),
        }
      : whyAlone(finding.why),
    tries: finding.fixes.toSorted((a, b) => Number(b.verified) - Number(a.verified)),
  };
}

/** The four lines as plain text, to be copied. */
export function fourLinesText(record: Record, finding: Finding): string {
  const { where, what, from, tries } = fourLines(record, finding);
  const details = [where.type, where.place, where.call ? TEXTS.callNumber(where.call) : ''].filter(Boolean).join(', ');
  const lines = [
    [TEXTS.where, where.name + (details && ` (${details})`) + (where.others ? ` ${TEXTS.andPlaces(where.others)}` : '')],
    [TEXTS.what, [what.clause, what.types].filter(Boolean).join('      ')],
    [TEXTS.from, from ? fromText(from) : ''],
    [
      'TRY',
      tries
        .map((fix) => `${fix.text}${fix.cost && ` (${fix.cost})`}  ${fix.verified ? `✓ ${TEXTS.runs}` : TEXTS.notVerified}`)
        .join('      '),
    ],
  ] as const;
  return lines.flatMap(([head, text]) => (text ? [head.padEnd(7) + text] : [])).join('\n');
}

/** The line FROM without its head, as plain text. */
export function fromText(from: NonNullable<FourLines['from']>): string {
  const made = [from.verb, from.name, from.of, from.type, from.place && `(${from.place})`].filter(Boolean).join(' ');
  return [[from.why, made].filter(Boolean).join(', '), from.note].filter(Boolean).join('; ');
}

/** The arithmetic, and behind a semicolon what would have fitted. */
function reasons(told: string): { readonly why: string; readonly note: string } {
  const at = told.indexOf('; ');
  return at < 0 ? { why: told, note: '' } : { why: told.slice(0, at), note: told.slice(at + 2) };
}

function whyAlone(why: string): FourLines['from'] {
  return why === '' ? null : { ...reasons(why), verb: '', name: '', of: '', type: '', place: '' };
}

type Maker = Pick<NonNullable<FourLines['from']>, 'verb' | 'name' | 'of' | 'type'>;

function makerOf(record: Record, origin: Origin, among: CaseSet | null): Maker {
  if (origin.opIndex < 0) return { verb: TEXTS.broughtBy, of: '', ...bringer(record, origin, among) };
  const first = row(record.ops.inputs, origin.opIndex)[0];
  const material = first === undefined ? '' : TEXTS.ofMaterial(materialName(record, origin, first));
  return {
    verb: TEXTS.madeBy,
    name: spoken(opName(record, origin.opIndex)),
    of: [origin.module && TEXTS.inModule(origin.module), material].filter(Boolean).join(' '),
    type: first === undefined ? '' : typeOf(record, first, among),
  };
}

function bringer(record: Record, origin: Origin, among: CaseSet | null): Pick<Maker, 'name' | 'type'> {
  if (origin.tensor < 0) return { name: origin.op || TEXTS.someTensor, type: origin.shape.length ? shapeText(origin.shape) : '' };
  return { name: tensorName(record, origin.tensor), type: typeOf(record, origin.tensor, among) };
}

/** Who made what the op was called on: the layer, or the op where it stands in the same module. */
function materialName(record: Record, origin: Origin, tensor: number): string {
  const producer = record.tensors.producer[tensor] ?? -1;
  if (producer < 0) return tensorName(record, tensor);
  const module = moduleOfOp(record, producer);
  const elsewhere = module >= 0 && module !== moduleOfOp(record, origin.opIndex);
  const name = spoken(opName(record, producer));
  return elsewhere ? pathOf(record, module) || name : name;
}

/** An op in a sentence: brackets have no name that anybody says. */
function spoken(name: string): string {
  return SPOKEN.get(name) ?? name;
}

function tensorName(record: Record, tensor: number): string {
  return record.strings[record.tensors.name[tensor] ?? 0] || (TENSOR_KINDS[record.tensors.kind[tensor] ?? 0] ?? '');
}
