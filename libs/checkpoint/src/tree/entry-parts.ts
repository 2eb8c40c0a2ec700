import { ByteReader } from '../objects/byte-reader.js';
import { ByteWriter } from '../objects/byte-writer.js';
import { ID_BYTES } from '../objects/content-id.js';
import { MAX_NAME_BYTES, MAX_PATH_BYTES, MAX_TREE_BYTES } from '../objects/limits.js';
import { readChunks } from './decode-tree.js';
import { CONTENT_FORMAT, TREE_FORMAT, writeContent, writeTail } from './encode-tree.js';
import type { Chunk, TreeEntry } from './tree-entry.js';

export interface EncodedEntry {
  /** As it stands in a tree. */
  readonly bytes: Buffer;
  /** How many of them the content hash has. */
  readonly content: number;
}

export function encodeEntry(entry: TreeEntry): EncodedEntry {
  const writer = new ByteWriter(MAX_TREE_BYTES);
  writeContent(writer, entry);
  const content = writer.length;
  writeTail(writer, entry);
  return { bytes: writer.copy(), content };
}

/** Chunks of a file, from the part of its entry that the content hash has. */
export function chunksOf(content: Buffer): readonly Chunk[] {
  const reader = new ByteReader(content);
  reader.text(MAX_NAME_BYTES);
  reader.byte();
  reader.varint();
  return readChunks(reader, reader.varint());
}

/** The bytes of a tree, of entries that are encoded already. */
export function joinEntries(entries: readonly Buffer[], format: 'state' | 'content'): Buffer {
  const head = new ByteWriter(16);
  head.byte(format === 'state' ? TREE_FORMAT : CONTENT_FORMAT);
  head.varint(entries.length);
  return Buffer.concat([head.view(), ...entries]);
}

/** A folder's part for the content hash: its tree's id, which comes last, is that of the tree without times. */
export function contentOfFolder(content: Buffer, contentTree: Buffer): Buffer {
  return Buffer.concat([content.subarray(0, content.length - ID_BYTES), contentTree]);
}

/** A name that no tree has, as the index keeps it. */
export function encodeName(name: string): EncodedEntry {
  const writer = new ByteWriter(MAX_TREE_BYTES);
  writer.text(name);
  return { bytes: writer.copy(), content: writer.length };
}

/** Of a file's whole entry: path of the first of its names, or `null`. */
export function linkedToOf(entry: Buffer, content: number): string | null {
  const reader = new ByteReader(entry.subarray(content));
  const flags = reader.byte();
  reader.signed();
  return flags === 0 ? null : reader.text(MAX_PATH_BYTES);
}
