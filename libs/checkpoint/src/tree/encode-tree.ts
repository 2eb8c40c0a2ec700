import { ByteWriter } from '../objects/byte-writer.js';
import { MAX_TREE_BYTES } from '../objects/limits.js';
import type { Chunk, Tree, TreeEntry } from './tree-entry.js';

/** First byte of a tree, and of one without times (content hash). */
export const TREE_FORMAT = 1;
export const CONTENT_FORMAT = 2;
export const KINDS = { file: 1, folder: 2, link: 3, uncaptured: 4 } as const;
export const FLAGS = { heavy: 1, stale: 2, linked: 4 } as const;

/**
 * Canonical bytes of one folder: equal trees have equal bytes.
 * @throws SlipwayError `checkpoint.too-large` over 16 MiB.
 */
export function encodeTree(tree: Tree): Buffer {
  const writer = new ByteWriter(MAX_TREE_BYTES);
  writer.byte(TREE_FORMAT);
  writer.varint(tree.length);
  for (const entry of tree) {
    writeContent(writer, entry);
    writeTail(writer, entry);
  }
  return writer.copy();
}

/** The part of an entry that the content hash has: name, kind, mode, bytes, target. A folder's id comes last in it. */
export function writeContent(writer: ByteWriter, entry: TreeEntry): void {
  writer.text(entry.name);
  writer.byte(KINDS[entry.kind]);
  switch (entry.kind) {
    case 'file':
      writer.varint(entry.mode);
      writer.varint(entry.size);
      writeChunks(writer, entry.chunks);
      return;
    case 'folder':
      writer.varint(entry.mode);
      writer.hex(entry.tree);
      return;
    case 'link':
      writer.text(entry.target);
      return;
    case 'uncaptured':
  }
}

function writeChunks(writer: ByteWriter, chunks: readonly Chunk[]): void {
  writer.varint(chunks.length);
  for (const { id, length } of chunks) {
    writer.varint(length * 2 + (id === null ? 1 : 0));
    if (id !== null) writer.hex(id);
  }
}

/** The part of an entry that only the state hash has: flags, time, the first of its hard links. */
export function writeTail(writer: ByteWriter, entry: TreeEntry): void {
  switch (entry.kind) {
    case 'file':
      writer.byte(entry.linkedTo === null ? 0 : FLAGS.linked);
      writer.signed(entry.mtime);
      if (entry.linkedTo !== null) writer.text(entry.linkedTo);
      return;
    case 'folder':
      writer.byte((entry.heavy ? FLAGS.heavy : 0) | (entry.stale ? FLAGS.stale : 0));
      writer.signed(entry.mtime);
      return;
    case 'link':
      writer.byte(0);
      writer.signed(entry.mtime);
      return;
    case 'uncaptured':
  }
}
