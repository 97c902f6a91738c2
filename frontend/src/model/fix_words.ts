/** A fix's text in pieces: the code to write, and the words around it. */

export interface FixPiece {
  readonly text: string;
  readonly isCode: boolean;
}

const BRACKETS: Readonly<globalThis.Record<string, number>> = { '(': 1, '[': 1, '{': 1, ')': -1, ']': -1, '}': -1 };
const OPERATOR = /^ (?:=|\+|-|\*|@|\/) /;
const AND = ' and ';

/** `F.pad(z, [0, 1]) in cat` is the code `F.pad(z, [0, 1])` and the words ` in cat`; what holds no call and no assignment is words alone. */
export function fixPieces(text: string): readonly FixPiece[] {
  const end = codeEnd(text);
  if (end === 0) return [{ text, isCode: false }];
  const code = { text: text.slice(0, end), isCode: true };
  const rest = text.slice(end);
  if (rest === '') return [code];
  if (rest.startsWith(AND) && codeEnd(rest.slice(AND.length)) > 0)
    return [code, { text: AND, isCode: false }, ...fixPieces(rest.slice(AND.length))];
  return [code, { text: rest, isCode: false }];
}

/** What is worth copying: the code, a line each; the text itself where there is none. */
export function fixCode(text: string): string {
  const code = fixPieces(text).filter(({ isCode }) => isCode);
  return code.length ? code.map((piece) => piece.text).join('\n') : text;
}

/** Where the expression or assignment that a text begins with ends; 0 where it begins with none. */
function codeEnd(text: string): number {
  let depth = 0;
  let at = 0;
  for (; at < text.length; at++) {
    const sign = text[at] ?? '';
    depth += BRACKETS[sign] ?? 0;
    if (depth > 0) continue;
    const operator = OPERATOR.exec(text.slice(at))?.[0];
    if (operator) at += operator.length - 1;
    else if (sign === ' ' || sign === ',' || sign === ';' || sign === ':') break;
  }
  return /[([=]/.test(text.slice(0, at)) ? at : 0;
}
