/** The lines of the user's file around an op, as far as the record holds them, and who called them. */

import type { Record } from './record';

/** A statement of the user's file; `parts` is its text with the call itself in the middle where its columns are known. */
export interface SourceLine {
  readonly line: number;
  readonly before: string;
  readonly call: string;
  readonly after: string;
  readonly tone: 'plain' | 'here' | 'origin' | 'never ran';
}

export interface Caller {
  readonly file: string;
  readonly line: number;
  readonly code: string;
}

const AROUND = 2;

/** A statement's file and line, null where none is known. */
export function placeOf(record: Record, source: number): { readonly file: string; readonly line: number } | null {
  if (source < 0) return null;
  return { file: record.strings[record.sources.file[source] ?? 0] ?? '', line: record.sources.line[source] ?? 0 };
}

/** Up to five lines around a statement: of the function's text where it was recorded, else of the statements known nearby. */
export function sourceLines(record: Record, source: number, originSource: number): readonly SourceLine[] {
  if (source < 0) return [];
  const { sources, strings } = record;
  const line = sources.line[source] ?? 0;
  const end = Math.max(line, sources.endLine[source] ?? 0);
  const origin = originSource >= 0 && sources.file[originSource] === sources.file[source] ? (sources.line[originSource] ?? 0) : 0;
  const file = strings[sources.file[source] ?? 0] ?? '';
  const branches = record.branches?.filter((branch) => branch.file === file) ?? [];
  const tone = (at: number): SourceLine['tone'] => {
    if (at >= line && at <= end) return 'here';
    if (at === origin) return 'origin';
    return branches.some((branch) => at > branch.line && at <= branch.endLine) ? 'never ran' : 'plain';
  };
  const text = strings[sources.text[source] ?? 0] ?? '';
  const plain = (at: number, code: string): SourceLine => ({ line: at, before: code, call: '', after: '', tone: tone(at) });
  if (text === '') {
    const known = statementsNear(record, source, line - AROUND, end + AROUND);
    return [...known].sort(([a], [b]) => a - b).map(([at, code]) => plain(at, code));
  }
  const first = sources.textLine[source] ?? line;
  const lines = text.split('\n').map((code, i) => ({ at: first + i, code }));
  const near = lines.filter(({ at }) => at >= line - AROUND && at <= end + AROUND);
  const indent = Math.min(
    ...near.filter(({ code }) => code.trim() !== '').map(({ code }) => code.length - code.trimStart().length),
  );
  return near.map(({ at, code }) => {
    const [from, to] = [sources.column[source] ?? 0, sources.endColumn[source] ?? 0];
    if (at !== line || line !== end || to <= from) return plain(at, code.slice(indent));
    return {
      line: at,
      before: code.slice(indent, from),
      call: code.slice(Math.max(indent, from), to),
      after: code.slice(to),
      tone: tone(at),
    };
  });
}

function statementsNear(record: Record, source: number, from: number, to: number): ReadonlyMap<number, string> {
  const { sources, strings } = record;
  const known = new Map<number, string>();
  sources.line.forEach((line, i) => {
    if (
      sources.file[i] === sources.file[source] &&
      sources.function[i] === sources.function[source] &&
      line >= from &&
      line <= to
    )
      known.set(line, strings[sources.code[i] ?? 0] ?? '');
  });
  return known;
}

/** The statements that led to one, nearest first. */
export function callersOf(record: Record, source: number): readonly Caller[] {
  const callers: Caller[] = [];
  for (let at = source < 0 ? -1 : (record.sources.caller[source] ?? -1); at >= 0; at = record.sources.caller[at] ?? -1) {
    const place = placeOf(record, at);
    if (place) callers.push({ ...place, code: record.strings[record.sources.code[at] ?? 0] ?? '' });
  }
  return callers;
}
