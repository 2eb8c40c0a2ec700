import type { FileHandle } from 'node:fs/promises';
import { SlipwayError } from '@slipway/errors';

/** Most entries of an archive, and most of its list of them. Bytes. */
const MAX_ENTRIES = 200_000;
const MAX_LIST = 64 * 1024 * 1024;

export interface ZipEntry {
  /** Relative, without `.` and `..`; of a folder without the slash at its end. */
  readonly name: string;
  readonly isFolder: boolean;
  readonly executable: boolean;
  readonly method: 'stored' | 'deflated';
  readonly sum: number;
  readonly packed: number;
  readonly size: number;
  /** Of the entry's own header, which its content follows. */
  readonly offset: number;
}

/**
 * What is in a zip archive. The list at its end counts, as every program reads it.
 * @throws SlipwayError `request.invalid` for what is no such archive, for an entry that is encrypted, packed otherwise
 * or a link, and for a name that leads out of the archive.
 */
export async function zipEntries(handle: FileHandle, length: number): Promise<ZipEntry[]> {
  const { start, size, count } = await listOf(handle, length);
  if (count > MAX_ENTRIES || size > MAX_LIST) throw broken(`it has ${count} entries; the limit is ${MAX_ENTRIES}`);
  const list = await bytesAt(handle, start, size);
  const entries: ZipEntry[] = [];
  const names = new Set<string>();
  for (let at = 0; entries.length < count; ) {
    if (at + 46 > list.length || list.readUInt32LE(at) !== 0x02014b50) throw broken('its list of entries is cut off');
    const [nameLength, extraLength, commentLength] = [
      list.readUInt16LE(at + 28),
      list.readUInt16LE(at + 30),
      list.readUInt16LE(at + 32),
    ];
    const end = at + 46 + nameLength + extraLength + commentLength;
    if (end > list.length) throw broken('its list of entries is cut off');
    const given = list.subarray(at + 46, at + 46 + nameLength).toString('utf8');
    const wide = wideNumbers(list.subarray(at + 46 + nameLength, at + 46 + nameLength + extraLength));
    const number = (where: number): number =>
      list.readUInt32LE(where) === 0xffff_ffff ? (wide.shift() ?? Number.NaN) : list.readUInt32LE(where);
    const [sizeOf, packed, offset] = [number(at + 24), number(at + 20), number(at + 42)];
    if (![sizeOf, packed, offset].every(Number.isSafeInteger))
      throw broken(`the size of ${shown(given)} cannot be read`);
    // Only archives of Unix say what a file is and who may run it.
    const mode = list[at + 5] === 3 ? list.readUInt16LE(at + 40) : 0;
    const kind = mode & 0xf000;
    if (kind !== 0 && kind !== 0x8000 && kind !== 0x4000) throw broken(`${shown(given)} is a link or a device`);
    if ((list.readUInt16LE(at + 8) & 1) !== 0) throw broken(`${shown(given)} is encrypted`);
    const method = list.readUInt16LE(at + 10);
    if (method !== 0 && method !== 8) throw broken(`${shown(given)} is packed in a way that is not known here`);
    const name = safeName(given);
    if (names.has(name)) throw broken(`it has ${shown(given)} twice`);
    names.add(name);
    entries.push({
      name,
      isFolder: given.endsWith('/'),
      executable: (mode & 0o100) !== 0,
      method: method === 0 ? 'stored' : 'deflated',
      sum: list.readUInt32LE(at + 16),
      packed,
      size: sizeOf,
      offset,
    });
    at = end;
  }
  return entries;
}

/** Where the content of an entry begins. @throws SlipwayError `request.invalid`. */
export async function contentStart(handle: FileHandle, { offset, name }: ZipEntry): Promise<number> {
  const head = await bytesAt(handle, offset, 30);
  if (head.readUInt32LE(0) !== 0x04034b50) throw broken(`the content of ${shown(name)} is not where its list says`);
  return offset + 30 + head.readUInt16LE(26) + head.readUInt16LE(28);
}

export function broken(why: string): SlipwayError {
  return new SlipwayError('request.invalid', `The zip archive was not taken: ${why}.`);
}

/** Nothing is written for a name that could lead out of the folder, however it is written. */
function safeName(given: string): string {
  const name = given.endsWith('/') ? given.slice(0, -1) : given;
  const parts = name.split('/');
  const bad =
    name.includes('\0') ||
    name.includes('\\') ||
    /^[A-Za-z]:/.test(name) ||
    parts.some((part) => part === '' || part === '.' || part === '..');
  if (bad || name.length > 4_000) throw broken(`the name ${shown(given)} is not one of a file inside it`);
  return name;
}

async function listOf(handle: FileHandle, length: number): Promise<{ start: number; size: number; count: number }> {
  const tail = await bytesAt(handle, Math.max(0, length - 65_557), Math.min(length, 65_557));
  const at = tail.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]));
  if (at < 0 || at + 22 > tail.length) throw broken('it is no zip archive, or is cut off');
  const end = {
    count: tail.readUInt16LE(at + 10),
    size: tail.readUInt32LE(at + 12),
    start: tail.readUInt32LE(at + 16),
  };
  const wide = at >= 20 && tail.readUInt32LE(at - 20) === 0x07064b50;
  const found = wide ? await wideList(handle, Number(tail.readBigUInt64LE(at - 12))) : end;
  if (!Number.isSafeInteger(found.start) || !Number.isSafeInteger(found.size) || found.start + found.size > length)
    throw broken('its list of entries is cut off');
  return found;
}

async function wideList(handle: FileHandle, offset: number): Promise<{ start: number; size: number; count: number }> {
  const record = await bytesAt(handle, offset, 56);
  if (record.readUInt32LE(0) !== 0x06064b50) throw broken('its end cannot be read');
  return {
    count: Number(record.readBigUInt64LE(32)),
    size: Number(record.readBigUInt64LE(40)),
    start: Number(record.readBigUInt64LE(48)),
  };
}

/** The numbers of the wide form, in the order in which they stand for those that are too large. */
function wideNumbers(extra: Buffer): number[] {
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== 1) continue;
    const body = extra.subarray(at + 4, at + 4 + extra.readUInt16LE(at + 2));
    return Array.from({ length: Math.floor(body.length / 8) }, (_, index) => Number(body.readBigUInt64LE(index * 8)));
  }
  return [];
}

async function bytesAt(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  if (!Number.isSafeInteger(position) || position < 0) throw broken('it points outside of itself');
  const bytes = Buffer.alloc(length);
  const { bytesRead } = await handle.read(bytes, 0, length, position);
  if (bytesRead < length) throw broken('it is cut off');
  return bytes;
}

function shown(name: string): string {
  return JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name);
}
