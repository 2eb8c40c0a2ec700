import { createHash } from 'node:crypto';
import { inflateSync } from 'node:zlib';
import { BUNDLE_REF } from '@slipway/contracts/repositories';
import { MAX_BUNDLE_BYTES } from '../../clients/sandbox-reads.js';
import type { Slices } from './slices.js';
import { tooLarge, unsound } from './unsound.js';

export type ObjectType = 'commit' | 'tree' | 'blob';

export interface PackedObject {
  readonly type: ObjectType;
  /** Of commits and trees. What blobs hold is inflated again when it is asked for. */
  readonly content: Buffer | null;
  /** Where its bytes begin in the pack, and how long they are when inflated. */
  readonly at: number;
  readonly size: number;
}

/** A git bundle as a sandbox gave it away. */
export interface Bundle {
  readonly head: string;
  /** Commits that are not in it, and that it stands on. */
  readonly prerequisites: ReadonlySet<string>;
  readonly objects: ReadonlyMap<string, PackedObject>;
  readonly pack: Buffer;
}

export const BUNDLE_LIMITS = {
  /** Of the whole bundle. Bytes; it is held in memory. */
  bytes: MAX_BUNDLE_BYTES,
  objects: 50_000,
  /** Of one object when inflated. Bytes. */
  object: 32 * 1024 * 1024,
  /** Of all objects when inflated. Bytes. */
  inflated: 384 * 1024 * 1024,
  /** Of all commits and trees, which are kept. Bytes. */
  kept: 24 * 1024 * 1024,
  /** Names in all folders that are new: each is an object in memory, some 150 bytes. */
  entries: 300_000,
} as const;
const MAX_HEADER_BYTES = 128 * 1024;
const HASH_BYTES = 20;

const TYPES: Readonly<Record<number, ObjectType>> = { 1: 'commit', 2: 'tree', 3: 'blob' };

/**
 * Reads a bundle that may be anything. No program of git sees it: a part of it is a number, a hash or bytes, and
 * nothing in it is a path or a command to anybody here. Objects stand whole in it; one that is made of another (a
 * delta) is refused, so that nothing grows by more than zlib lets it.
 * @throws SlipwayError `pull-request.unsound`, `pull-request.too-large`, and the signal's reason.
 */
export async function readBundle(bytes: Buffer, slices: Slices): Promise<Bundle> {
  const { head, prerequisites, packAt } = readHeader(bytes);
  const pack = bytes.subarray(packAt);
  if (pack.length < 12 + HASH_BYTES || pack.toString('latin1', 0, 4) !== 'PACK' || pack.readUInt32BE(4) !== 2)
    throw unsound('It holds no pack of git.');
  const count = pack.readUInt32BE(8);
  if (count > BUNDLE_LIMITS.objects)
    throw tooLarge(`There are more than ${BUNDLE_LIMITS.objects} new files, folders and commits.`);
  const end = pack.length - HASH_BYTES;
  if (!createHash('sha1').update(pack.subarray(0, end)).digest().equals(pack.subarray(end)))
    throw unsound('The pack does not match its own hash.');
  const objects = new Map<string, PackedObject>();
  let at = 12;
  let inflated = 0;
  let kept = 0;
  for (let read = 0; read < count; read += 1) {
    const entry = readEntryHead(pack, at, end);
    inflated += entry.size;
    if (inflated > BUNDLE_LIMITS.inflated)
      throw tooLarge(`The changes are larger than ${BUNDLE_LIMITS.inflated / 1024 / 1024} MiB.`);
    const { content, next } = inflate(pack, entry.at, end, entry.size);
    const keeps = entry.type !== 'blob';
    if (keeps) kept += content.length;
    if (kept > BUNDLE_LIMITS.kept) throw tooLarge('There are too many or too large folders.');
    const hash = createHash('sha1').update(`${entry.type} ${content.length}\0`).update(content).digest('hex');
    objects.set(hash, { type: entry.type, content: keeps ? content : null, at: entry.at, size: entry.size });
    at = next;
    if (slices.over) await slices.rest();
  }
  if (at !== end) throw unsound('The pack has more in it than it says.');
  return { head, prerequisites, objects, pack };
}

/** What a blob of the bundle holds. */
export function contentOf({ pack }: Bundle, { content, at, size }: PackedObject): Buffer {
  return content ?? inflate(pack, at, pack.length - HASH_BYTES, size).content;
}

function readHeader(bytes: Buffer): { head: string; prerequisites: ReadonlySet<string>; packAt: number } {
  const ends = bytes.subarray(0, MAX_HEADER_BYTES).indexOf('\n\n');
  if (ends === -1) throw unsound('It is no bundle of git.');
  const [signature, ...lines] = bytes.toString('latin1', 0, ends).split('\n');
  if (signature !== '# v2 git bundle') throw unsound('It is no bundle of git.');
  const prerequisites = new Set<string>();
  const refs: string[] = [];
  for (const line of lines) {
    const [, prerequisite] = /^-([0-9a-f]{40})(?: .*)?$/.exec(line) ?? [];
    const [, hash, ref] = /^([0-9a-f]{40}) (.+)$/.exec(line) ?? [];
    if (prerequisite !== undefined) prerequisites.add(prerequisite);
    else if (hash !== undefined && ref === BUNDLE_REF) refs.push(hash);
    else throw unsound('It brings an unexpected branch or tag.');
  }
  const [head] = refs;
  if (head === undefined || refs.length !== 1) throw unsound('It does not bring one branch.');
  return { head, prerequisites, packAt: ends + 2 };
}

function readEntryHead(pack: Buffer, from: number, end: number): { type: ObjectType; size: number; at: number } {
  let at = from;
  const next = (): number => {
    if (at >= end) throw unsound('The pack ends within an object.');
    return pack[at++] as number;
  };
  let byte = next();
  const type = TYPES[(byte >> 4) & 7];
  let size = byte & 15;
  for (let factor = 16; (byte & 128) !== 0; factor *= 128) {
    byte = next();
    size += (byte & 127) * factor;
    if (size > BUNDLE_LIMITS.object) throw tooLarge(`A file is larger than ${BUNDLE_LIMITS.object / 1024 / 1024} MiB.`);
  }
  if (type === undefined) throw unsound('The pack holds an object that is no whole commit, folder or file.');
  return { type, size, at };
}

/** @returns the object, which is as long as it says, and where the next one begins. */
function inflate(pack: Buffer, at: number, end: number, size: number): { content: Buffer; next: number } {
  let answer: { buffer: Buffer; engine: { bytesWritten: number } };
  try {
    answer = inflateSync(pack.subarray(at, end), {
      info: true,
      maxOutputLength: Math.max(size, 1),
    }) as unknown as typeof answer;
  } catch {
    throw unsound('The pack holds an object that cannot be inflated, or is longer than it says.');
  }
  if (answer.buffer.length !== size) throw unsound('The pack holds an object that is shorter than it says.');
  return { content: answer.buffer, next: at + answer.engine.bytesWritten };
}
