import { closeSync, fstatSync, readSync } from 'node:fs';
import { contentIdOf } from '../objects/content-id.js';
import { MAX_CHUNK_BYTES } from '../objects/limits.js';
import type { Chunk } from '../tree/tree-entry.js';
import type { FolderHandle } from './folder-handle.js';

const ZEROS = Buffer.alloc(64 * 1024);

/** Whether a file has these bytes now: read whole, in the memory of one chunk. */
export function hasContent(folder: FolderHandle, name: string, chunks: readonly Chunk[]): boolean {
  let file: number;
  try {
    file = folder.openFile(name);
  } catch {
    return false;
  }
  try {
    const stat = fstatSync(file);
    const size = chunks.reduce((sum, { length }) => sum + length, 0);
    if (!stat.isFile() || stat.size !== size) return false;
    const buffer = Buffer.allocUnsafe(Math.min(size, MAX_CHUNK_BYTES));
    let at = 0;
    for (const { id, length } of chunks) {
      if (id === null ? !isZero(file, buffer, at, length) : !isChunk(file, buffer.subarray(0, length), at, id))
        return false;
      at += length;
    }
    return true;
  } finally {
    closeSync(file);
  }
}

function isChunk(file: number, buffer: Buffer, at: number, id: string): boolean {
  return readSync(file, buffer, 0, buffer.length, at) === buffer.length && contentIdOf(buffer) === id;
}

function isZero(file: number, buffer: Buffer, from: number, length: number): boolean {
  for (let at = from; at < from + length; ) {
    const part = buffer.subarray(0, Math.min(ZEROS.length, from + length - at, buffer.length));
    if (readSync(file, part, 0, part.length, at) !== part.length || !part.equals(ZEROS.subarray(0, part.length)))
      return false;
    at += part.length;
  }
  return true;
}
