/** How numbers, bytes and compact tensor types are written: the same text as tb_shapeplugin/base/units.py. */

const DTYPES: ReadonlyMap<string, readonly [short: string, itemBytes: number]> = new Map([
  ['bool', ['bool', 1]],
  ['uint8', ['u8', 1]],
  ['int8', ['i8', 1]],
  ['uint16', ['u16', 2]],
  ['int16', ['i16', 2]],
  ['uint32', ['u32', 4]],
  ['int32', ['i32', 4]],
  ['uint64', ['u64', 8]],
  ['int64', ['i64', 8]],
  ['float16', ['f16', 2]],
  ['bfloat16', ['bf16', 2]],
  ['float32', ['f32', 4]],
  ['float64', ['f64', 8]],
  ['complex32', ['c32', 4]],
  ['complex64', ['c64', 8]],
  ['complex128', ['c128', 16]],
  ['quint8', ['qu8', 1]],
  ['qint8', ['qi8', 1]],
  ['qint32', ['qi32', 4]],
  ['float8_e4m3fn', ['f8e4m3', 1]],
  ['float8_e5m2', ['f8e5m2', 1]],
  ['float8_e4m3fnuz', ['f8e4m3fnuz', 1]],
  ['float8_e5m2fnuz', ['f8e5m2fnuz', 1]],
  ['float8_e8m0fnu', ['f8e8m0', 1]],
]);

/** torch's dtype name in its short form; an unknown one stays as it is: `compactDtype('float32') === 'f32'`. */
export function compactDtype(dtype: string): string {
  return DTYPES.get(dtype)?.[0] ?? dtype;
}

/** Bytes of one element, or null for a dtype that isn't known. */
export function itemBytes(dtype: string): number | null {
  return DTYPES.get(dtype)?.[1] ?? null;
}

/** A tensor's type on one line, the device only where it is given: `f32[4,864]`, `i64[]@cuda:0`. */
export function compactType(dtype: string, shape: readonly (number | string)[], device = ''): string {
  return `${compactDtype(dtype)}[${shape.join(',')}]${device && `@${device}`}`;
}

/** A shape as people write it: `4×3×224×224`; a scalar is `scalar`. */
export function shapeText(shape: readonly number[]): string {
  return shape.length ? shape.join('×') : 'scalar';
}

/** A dim that may vary: `64`, `64…512`. */
export function dimText(least: number, most: number): string {
  return least === most ? String(least) : `${least}…${most}`;
}

/** A short mark for the thing of that index: A to Z, then AA, AB, … */
export function letterOf(index: number): string {
  const letter = String.fromCharCode(65 + (index % 26));
  return index < 26 ? letter : letterOf(Math.floor(index / 26) - 1) + letter;
}

/** A count with thousands separated by commas; null is `unknown`, and minus is −. */
export function countText(count: number | null): string {
  if (count === null) return 'unknown';
  const digits = Math.abs(count)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ',');
  return count < 0 ? `−${digits}` : digits;
}

/** Bytes in B, KiB, MiB or GiB with three digits; null is `unknown`. */
export function bytesText(size: number | null): string {
  if (size === null) return 'unknown';
  if (size < 1024) return `${size} B`;
  let value = size;
  let unit = 'B';
  for (unit of ['KiB', 'MiB', 'GiB', 'TiB', 'PiB']) {
    value /= 1024;
    if (value < 999.5) break;
  }
  return `${fixed(value, value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2)} ${unit}`;
}

/** A unit of bytes: `{ name: 'GiB', bytes: 2 ** 30 }`. */
export interface ByteUnit {
  readonly name: string;
  readonly bytes: number;
}

const BYTE_UNITS: readonly ByteUnit[] = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'].map((name, power) => ({
  name,
  bytes: 1024 ** power,
}));

/** The unit in which `bytesText` writes so many bytes, or one that is `finer` steps smaller. */
export function byteUnit(size: number, finer = 0): ByteUnit {
  const at = BYTE_UNITS.findIndex(({ bytes }) => size < (bytes === 1 ? 1024 : 999.5 * bytes));
  return BYTE_UNITS[Math.max(0, (at < 0 ? BYTE_UNITS.length - 1 : at) - finer)] ?? { name: 'B', bytes: 1 };
}

/** Bytes in a given unit without its name, thousands separated: `30,293.3`. */
export function inUnit(size: number, unit: ByteUnit, digits: number): string {
  const [whole = '0', part] = (size / unit.bytes).toFixed(unit.bytes === 1 ? 0 : digits).split('.');
  return part === undefined ? countText(Number(whole)) : `${countText(Number(whole))}.${part}`;
}

/** Values rounded to a multiple of `grain` so that they still add up: what is cut off goes to those that lost most. */
export function roundedToSum(values: readonly number[], grain: number): readonly number[] {
  const floors = values.map((value) => Math.floor(value / grain));
  const whole = Math.round(values.reduce((sum, value) => sum + value, 0) / grain);
  const missing = whole - floors.reduce((sum, value) => sum + value, 0);
  const lost = values
    .map((value, i) => ({ i, part: value / grain - (floors[i] ?? 0) }))
    .sort((a, b) => b.part - a.part || a.i - b.i);
  for (const { i } of lost.slice(0, Math.max(0, missing))) floors[i] = (floors[i] ?? 0) + 1;
  return floors.map((value) => value * grain);
}

/** A large count in three digits: `1.23 G`; null is `unknown`. */
export function shortCount(count: number | null): string {
  if (count === null) return 'unknown';
  if (count < 1000) return String(count);
  let value = count;
  let unit = '';
  for (unit of ['K', 'M', 'G', 'T', 'P', 'E']) {
    value /= 1000;
    if (value < 999.5) break;
  }
  return `${fixed(value, value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2)} ${unit}`;
}

/** Python rounds exact halves to even, `toFixed` rounds them up; bytes over 1024 are exact halves often. */
function fixed(value: number, digits: number): string {
  const scaled = value * 10 ** digits;
  const below = Math.floor(scaled);
  const rounded = scaled - below === 0.5 ? below + (below % 2) : Math.round(scaled);
  return (rounded / 10 ** digits).toFixed(digits);
}

/** A path, or a place in a file, that is too long: its end, as many parts as fit. */
export function pathEnd(path: string, most: number): string {
  if (path.length <= most) return path;
  const parts = path.split('/');
  let end = parts.pop() ?? '';
  for (let part = parts.pop(); part !== undefined && end.length + part.length + 3 <= most; part = parts.pop())
    end = `${part}/${end}`;
  return end.length + 2 > most ? `…${end.slice(1 - most)}` : `…/${end}`;
}
