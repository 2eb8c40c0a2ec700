import { broken, tooLarge } from '../objects/broken.js';
import { ByteReader } from '../objects/byte-reader.js';
import { ID_BYTES } from '../objects/content-id.js';
import { MAX_CHUNK_BYTES, MAX_FILE_BYTES, MAX_NAME_BYTES, MAX_PATH_BYTES, MAX_TREE_BYTES } from '../objects/limits.js';
import { FLAGS, KINDS, TREE_FORMAT } from './encode-tree.js';
import type { Chunk, FileEntry, FolderEntry, LinkEntry, Tree, TreeEntry } from './tree-entry.js';

/** Shortest entry: a name of one byte, its length, its kind. Bounds what a count may claim. */
const LEAST_ENTRY_BYTES = 3;

/**
 * The entries of one folder. Accepts the canonical bytes only: sorted, without duplicates, names that are one step,
 * modes without setuid and setgid, nothing behind the last entry. Depth is for whoever walks from tree to tree.
 * @throws SlipwayError `checkpoint.broken`, or `checkpoint.too-large` over 16 MiB.
 */
export function decodeTree(bytes: Uint8Array): Tree {
  if (bytes.length > MAX_TREE_BYTES) throw tooLarge(`a folder of more than ${MAX_TREE_BYTES} bytes`);
  const reader = new ByteReader(bytes);
  if (reader.byte() !== TREE_FORMAT) throw broken('a folder has an unknown format');
  const count = reader.varint();
  if (count * LEAST_ENTRY_BYTES > reader.left) throw broken('a folder claims more entries than it has');
  const entries: TreeEntry[] = [];
  let last = '';
  for (let index = 0; index < count; index += 1) {
    const entry = readEntry(reader);
    if (index > 0 && entry.name <= last) throw broken('names are not in order, or one is there twice');
    last = entry.name;
    entries.push(entry);
  }
  if (reader.left > 0) throw broken('a folder has bytes behind its last entry');
  return entries;
}

/** Whether it is one step of a path: not empty, `.`, `..`, and without `/` and NUL. */
export function isName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && name.length <= MAX_NAME_BYTES && !/[/\0]/.test(name);
}

function readEntry(reader: ByteReader): TreeEntry {
  const name = reader.text(MAX_NAME_BYTES);
  if (!isName(name)) throw broken('a name is not allowed');
  const kind = reader.byte();
  switch (kind) {
    case KINDS.file:
      return readFile(reader, name);
    case KINDS.folder:
      return readFolder(reader, name);
    case KINDS.link:
      return readLink(reader, name);
    case KINDS.uncaptured:
      return { kind: 'uncaptured', name };
    default:
      throw broken('an entry has an unknown kind');
  }
}

function readFile(reader: ByteReader, name: string): FileEntry {
  const mode = readMode(reader);
  const size = reader.varint();
  if (size > MAX_FILE_BYTES) throw broken('a file is too long');
  const chunks = readChunks(reader, size);
  const flags = readFlags(reader, FLAGS.linked);
  const mtime = reader.signed();
  const linkedTo = flags === 0 ? null : reader.text(MAX_PATH_BYTES);
  if (linkedTo !== null && !linkedTo.split('/').every(isName)) throw broken('a hard link leads to no path');
  return { kind: 'file', name, mode, mtime, size, chunks, linkedTo };
}

function readFolder(reader: ByteReader, name: string): FolderEntry {
  const mode = readMode(reader);
  const tree = reader.hex(ID_BYTES);
  const flags = readFlags(reader, FLAGS.heavy | FLAGS.stale);
  const mtime = reader.signed();
  return {
    kind: 'folder',
    name,
    mode,
    mtime,
    tree,
    heavy: (flags & FLAGS.heavy) !== 0,
    stale: (flags & FLAGS.stale) !== 0,
  };
}

function readLink(reader: ByteReader, name: string): LinkEntry {
  const target = reader.text(MAX_PATH_BYTES);
  if (target === '' || target.includes('\0')) throw broken('a link leads nowhere');
  readFlags(reader, 0);
  return { kind: 'link', name, mtime: reader.signed(), target };
}

/** @param size of the file, in bytes: what its chunks must add up to. */
export function readChunks(reader: ByteReader, size: number): Chunk[] {
  const count = reader.varint();
  if (count > reader.left) throw broken('a file claims more chunks than it has');
  const chunks: Chunk[] = [];
  let [sum, hole] = [0, false];
  for (let index = 0; index < count; index += 1) {
    const word = reader.varint();
    const length = Math.floor(word / 2);
    const isHole = word % 2 === 1;
    if (length === 0 || (!isHole && length > MAX_CHUNK_BYTES)) throw broken('a chunk has a length that is not allowed');
    if (isHole && hole) throw broken('a hole is in two parts');
    sum += length;
    if (sum > size) throw broken('the chunks of a file are longer than it');
    chunks.push({ id: isHole ? null : reader.hex(ID_BYTES), length });
    hole = isHole;
  }
  if (sum !== size) throw broken('the chunks of a file are shorter than it');
  return chunks;
}

function readMode(reader: ByteReader): number {
  const mode = reader.varint();
  if ((mode & ~0o1777) !== 0 || mode > 0o1777) throw broken('a mode is not allowed');
  return mode;
}

function readFlags(reader: ByteReader, allowed: number): number {
  const flags = reader.byte();
  if ((flags & ~allowed) !== 0) throw broken('an entry has an unknown flag');
  return flags;
}
