import { crc32, deflateRawSync } from 'node:zlib';

/** From here on a number needs the wide form of the format. */
const WIDE = 0xffff_ffff;
const WIDE_COUNT = 0xffff;
/** UTF-8 names; sizes and sum follow the content. */
const FLAGS = 0x0808;

/** One member of a zip archive while it is written: sum and sizes are filled in when its content has gone out. */
export interface ZipMember {
  /** In UTF-8, with `/`; a folder ends in one. */
  readonly name: Buffer;
  /** As reported by `stat`. */
  readonly mode: number;
  readonly time: number;
  /** Of its header, from the beginning of the archive. Bytes. */
  readonly offset: number;
  readonly wide: boolean;
  sum: number;
  packed: number;
  size: number;
}

/** A member of `size` bytes, as far as that is known ahead, that begins at `offset`. */
export function zipMember(
  name: string,
  about: { readonly mode: number; readonly time: Date; readonly size: number; readonly offset: number },
): ZipMember {
  const { mode, time, size, offset } = about;
  return {
    name: Buffer.from(name),
    mode,
    time: dosTime(time),
    offset,
    wide: size >= WIDE - 1024 * 1024,
    sum: 0,
    packed: 0,
    size: 0,
  };
}

/** The whole of a member whose content is at hand. */
export function zipPacked(content: Buffer, member: ZipMember): Buffer {
  // Its working memory is no larger than the content: for a hundred thousand files the defaults would fill the memory
  // first.
  const windowBits = Math.min(15, Math.max(9, Math.ceil(Math.log2(content.length + 1))));
  const body = deflateRawSync(content, {
    level: 1,
    chunkSize: content.length + 64,
    windowBits,
    memLevel: Math.min(8, windowBits - 6),
  });
  Object.assign(member, { sum: crc32(content), size: content.length, packed: body.length });
  return Buffer.concat([zipHeader(member), body, zipDescriptor(member)]);
}

/** The list of all members that ends an archive, which begins at `start`. In parts. */
export function* zipEnd(members: readonly ZipMember[], start: number): Generator<Buffer> {
  let length = 0;
  for (const member of members) {
    const row = centralHeader(member);
    yield row;
    length += row.length;
  }
  yield ending(members.length, start, length);
}

/** What stands before the content of a member. */
export function zipHeader(entry: ZipMember): Buffer {
  const extra = entry.wide ? wideExtra([0, 0]) : Buffer.alloc(0);
  const head = Buffer.alloc(30);
  head.writeUInt32LE(0x04034b50, 0);
  head.writeUInt16LE(entry.wide ? 45 : 20, 4);
  head.writeUInt16LE(FLAGS, 6);
  head.writeUInt16LE(8, 8);
  head.writeUInt32LE(entry.time, 10);
  if (entry.wide) head.fill(0xff, 18, 26);
  head.writeUInt16LE(entry.name.length, 26);
  head.writeUInt16LE(extra.length, 28);
  return Buffer.concat([head, entry.name, extra]);
}

/** What stands behind it. */
export function zipDescriptor({ sum, packed, size, wide }: ZipMember): Buffer {
  const tail = Buffer.alloc(wide ? 24 : 16);
  tail.writeUInt32LE(0x08074b50, 0);
  tail.writeUInt32LE(sum, 4);
  if (wide) {
    tail.writeBigUInt64LE(BigInt(packed), 8);
    tail.writeBigUInt64LE(BigInt(size), 16);
  } else {
    tail.writeUInt32LE(packed, 8);
    tail.writeUInt32LE(size, 12);
  }
  return tail;
}

function centralHeader(entry: ZipMember): Buffer {
  const wide = entry.wide || entry.offset >= WIDE;
  const extra = wide ? wideExtra([entry.size, entry.packed, entry.offset]) : Buffer.alloc(0);
  const row = Buffer.alloc(46);
  row.writeUInt32LE(0x02014b50, 0);
  row.writeUInt16LE((3 << 8) | (wide ? 45 : 20), 4);
  row.writeUInt16LE(wide ? 45 : 20, 6);
  row.writeUInt16LE(FLAGS, 8);
  row.writeUInt16LE(8, 10);
  row.writeUInt32LE(entry.time, 12);
  row.writeUInt32LE(entry.sum, 16);
  row.writeUInt32LE(wide ? WIDE : entry.packed, 20);
  row.writeUInt32LE(wide ? WIDE : entry.size, 24);
  row.writeUInt16LE(entry.name.length, 28);
  row.writeUInt16LE(extra.length, 30);
  row.writeUInt32LE(((entry.mode & 0xffff) << 16) >>> 0, 38);
  row.writeUInt32LE(wide ? WIDE : entry.offset, 42);
  return Buffer.concat([row, entry.name, extra]);
}

function wideExtra(numbers: readonly number[]): Buffer {
  const extra = Buffer.alloc(4 + numbers.length * 8);
  extra.writeUInt16LE(1, 0);
  extra.writeUInt16LE(numbers.length * 8, 2);
  for (const [index, value] of numbers.entries()) extra.writeBigUInt64LE(BigInt(value), 4 + index * 8);
  return extra;
}

/** The end of the archive; before it the wide form of it, where the numbers need that. */
function ending(count: number, start: number, length: number): Buffer {
  const wide = count >= WIDE_COUNT || start >= WIDE || length >= WIDE;
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  for (const at of [8, 10]) end.writeUInt16LE(Math.min(count, WIDE_COUNT), at);
  end.writeUInt32LE(Math.min(length, WIDE), 12);
  end.writeUInt32LE(Math.min(start, WIDE), 16);
  if (!wide) return end;
  const record = Buffer.alloc(56);
  record.writeUInt32LE(0x06064b50, 0);
  record.writeBigUInt64LE(44n, 4);
  for (const at of [12, 14]) record.writeUInt16LE(45, at);
  for (const at of [24, 32]) record.writeBigUInt64LE(BigInt(count), at);
  record.writeBigUInt64LE(BigInt(length), 40);
  record.writeBigUInt64LE(BigInt(start), 48);
  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(0x07064b50, 0);
  locator.writeBigUInt64LE(BigInt(start + length), 8);
  locator.writeUInt32LE(1, 16);
  return Buffer.concat([record, locator, end]);
}

/** To two seconds, from 1980 on, in the zone of the machine: the format has no other. */
function dosTime(time: Date): number {
  const year = Math.min(2107, Math.max(1980, time.getFullYear()));
  const date = ((year - 1980) << 9) | ((time.getMonth() + 1) << 5) | time.getDate();
  return ((date << 16) | (time.getHours() << 11) | (time.getMinutes() << 5) | (time.getSeconds() >> 1)) >>> 0;
}
