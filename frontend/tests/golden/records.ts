/** The records under golden/, as Python wrote them. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Record } from '../../src/model/record';
import { decodeRecord } from '../../src/wire/decode';

export type Golden = 'problem' | 'healthy' | 'twice' | 'cases';

/** Stored bytes, as the backend passes them through. */
export function storedBytes(name: Golden): Uint8Array {
  return new Uint8Array(readFileSync(join(import.meta.dirname, `${name}.bin`)));
}

/** The bytes as they arrive where the transport has unzipped them. */
export function unzippedBytes(name: Golden): Uint8Array {
  return new Uint8Array(gunzipSync(storedBytes(name)));
}

export function goldenRecord(name: Golden): Promise<Record> {
  return decodeRecord(unzippedBytes(name));
}

/** What Python's console says of the record's findings. */
export function consoleText(name: Golden): string {
  return readFileSync(join(import.meta.dirname, `${name}.txt`), 'utf8');
}
