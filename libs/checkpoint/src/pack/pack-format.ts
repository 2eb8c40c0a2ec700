import { createCipheriv, createDecipheriv } from 'node:crypto';
import { broken, tooLarge } from '../objects/broken.js';
import { ByteReader } from '../objects/byte-reader.js';
import { ByteWriter } from '../objects/byte-writer.js';
import { type ContentId, ID_BYTES } from '../objects/content-id.js';
import { MAX_CHUNK_BYTES, MAX_TREE_BYTES } from '../objects/limits.js';
import type { PackedObject, PackIdentity } from './pack-types.js';

/**
 * A pack: frames one after another, each AES-256-GCM of at most 256 KiB, compressed or not; then the footer, encrypted
 * the same way; then the trailer `[magic 4][format 4][footer length 4]`. Lengths of frames and objects are in the
 * footer only.
 */
export const FRAME_BYTES = 256 * 1024;
/** A pack ends with the object that reaches this. Plain bytes. */
export const PACK_BYTES = 64 * 2 ** 20;
/** Objects in one pack, at most: bounds its footer. */
export const MAX_OBJECTS = 65_536;
export const MAX_FOOTER_BYTES = 8 * 2 ** 20;
export const TRAILER_BYTES = 12;
const MAGIC = 0x504b_4c53;
const FORMAT = 1;
const TAG_BYTES = 16;
const KEY_BYTES = 32;

export interface Frame {
  /** In the pack, with its tag. */
  readonly stored: number;
  /** Before compression. */
  readonly plain: number;
  readonly compressed: boolean;
}

/** An object's place among the plain bytes of all frames. */
export interface Placed extends PackedObject {
  readonly at: number;
}

export interface Footer {
  readonly frames: readonly Frame[];
  readonly objects: readonly Placed[];
}

/** Number of the footer's nonce: no frame has it, since a pack has fewer. */
const FOOTER_NUMBER = 0xffff_ffff;

/** One key is for one pack, so that the number of the frame is a nonce that no other text has. */
function nonce(number: number): Buffer {
  const bytes = Buffer.alloc(12);
  bytes.writeUInt32BE(number, 8);
  return bytes;
}

/** Bound to organization, pack and place: a frame put elsewhere does not open. */
function boundTo({ orgId, packId }: PackIdentity, number: number, length: number): Buffer {
  return Buffer.from(JSON.stringify(['slipway pack', FORMAT, orgId, packId, number, length]));
}

/** @param end of the frames in the pack, for the footer; 0 for a frame. */
export function seal(identity: PackIdentity, number: number, plain: Uint8Array, end = 0): Buffer {
  const cipher = createCipheriv('aes-256-gcm', keyOf(identity), nonce(number));
  cipher.setAAD(boundTo(identity, number, end));
  const text = cipher.update(plain);
  cipher.final();
  return Buffer.concat([text, cipher.getAuthTag()]);
}

export function unseal(identity: PackIdentity, number: number, stored: Uint8Array, end = 0): Buffer {
  if (stored.length < TAG_BYTES) throw broken('a frame of a pack is cut');
  const decipher = createDecipheriv('aes-256-gcm', keyOf(identity), nonce(number), { authTagLength: TAG_BYTES });
  decipher.setAAD(boundTo(identity, number, end));
  decipher.setAuthTag(stored.subarray(stored.length - TAG_BYTES));
  const plain = decipher.update(stored.subarray(0, stored.length - TAG_BYTES));
  try {
    decipher.final();
  } catch (error) {
    throw broken('a pack was altered, or has another key', error);
  }
  return plain;
}

function keyOf({ key }: PackIdentity): Uint8Array {
  if (key.length !== KEY_BYTES) throw new RangeError('a pack’s key has 32 bytes');
  return key;
}

export function sealFooter(identity: PackIdentity, { frames, objects }: Footer): Buffer {
  const writer = new ByteWriter(MAX_FOOTER_BYTES);
  writer.varint(frames.length);
  let end = 0;
  for (const { stored, plain, compressed } of frames) {
    writer.varint(stored * 2 + (compressed ? 1 : 0));
    writer.varint(plain);
    end += stored;
  }
  writer.varint(objects.length);
  for (const { kind, id, length } of objects) {
    writer.varint(length * 2 + (kind === 'tree' ? 1 : 0));
    writer.hex(id);
  }
  for (const { at } of objects) writer.varint(at);
  const sealed = seal(identity, FOOTER_NUMBER, writer.view(), end);
  const trailer = Buffer.alloc(TRAILER_BYTES);
  trailer.writeUInt32LE(MAGIC, 0);
  trailer.writeUInt32LE(FORMAT, 4);
  trailer.writeUInt32LE(sealed.length, 8);
  return Buffer.concat([sealed, trailer]);
}

/** Length of the footer, from the last bytes of a pack that has so many. */
export function footerLength(trailer: Buffer, packBytes: number): number {
  if (trailer.length !== TRAILER_BYTES || trailer.readUInt32LE(0) !== MAGIC) throw broken('a pack is cut, or is none');
  if (trailer.readUInt32LE(4) !== FORMAT) throw broken('a pack has a format that this version does not know');
  const length = trailer.readUInt32LE(8);
  if (length > MAX_FOOTER_BYTES || length + TRAILER_BYTES > packBytes) throw broken('a pack is cut');
  return length;
}

export function unsealFooter(identity: PackIdentity, sealed: Uint8Array, end: number): Footer {
  const reader = new ByteReader(unseal(identity, FOOTER_NUMBER, sealed, end));
  const frames: Frame[] = [];
  let [stored, plain] = [0, 0];
  for (let left = reader.varint(); left > 0; left -= 1) {
    const word = reader.varint();
    const frame = { stored: Math.floor(word / 2), plain: reader.varint(), compressed: word % 2 === 1 };
    if (frame.plain > FRAME_BYTES || frame.plain === 0) throw broken('a frame of a pack is too long');
    stored += frame.stored;
    plain += frame.plain;
    frames.push(frame);
  }
  if (stored !== end) throw broken('a pack is longer or shorter than its frames');
  const heads: PackedObject[] = [];
  const count = reader.varint();
  if (count > MAX_OBJECTS) throw tooLarge(`more than ${MAX_OBJECTS} objects in a pack`);
  for (let index = 0; index < count; index += 1) {
    const word = reader.varint();
    const [kind, length] = [word % 2 === 1 ? ('tree' as const) : ('chunk' as const), Math.floor(word / 2)];
    if (length > (kind === 'tree' ? MAX_TREE_BYTES : MAX_CHUNK_BYTES)) throw broken('an object of a pack is too long');
    heads.push({ kind, id: reader.hex(ID_BYTES), length });
  }
  const objects = heads.map((head): Placed => {
    const at = reader.varint();
    if (at + head.length > plain) throw broken('an object lies behind the end of its pack');
    return { ...head, at };
  });
  if (reader.left > 0) throw broken('a pack’s footer has bytes behind its end');
  return { frames, objects };
}

export function placesById(objects: readonly Placed[]): Map<ContentId, Placed> {
  return new Map(objects.map((object) => [object.id, object]));
}
