import { closeSync, mkdirSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import { broken } from '../objects/broken.js';
import type { ContentId } from '../objects/content-id.js';
import { decodeTree } from '../tree/decode-tree.js';
import type { Tree } from '../tree/tree-entry.js';

/** Trees of a restore, on disk: there may be more of them than memory. */
export class TreeStore {
  private readonly places = new Map<ContentId, { at: number; length: number }>();
  private readonly path: string;
  private readonly file: number;
  private end = 0;

  constructor(scratch: string) {
    mkdirSync(scratch, { recursive: true, mode: 0o700 });
    this.path = path.join(scratch, 'trees');
    rmSync(this.path, { force: true });
    this.file = openSync(this.path, 'wx+', 0o600);
  }

  add(id: ContentId, bytes: Uint8Array): void {
    if (this.places.has(id)) return;
    for (let at = 0; at < bytes.length; ) at += writeSync(this.file, bytes, at, bytes.length - at, this.end + at);
    this.places.set(id, { at: this.end, length: bytes.length });
    this.end += bytes.length;
  }

  /** @throws SlipwayError `checkpoint.broken` when it did not come, or is none. */
  tree(id: ContentId): Tree {
    const place = this.places.get(id);
    if (place === undefined) throw broken('a folder is missing');
    const bytes = Buffer.allocUnsafe(place.length);
    if (readSync(this.file, bytes, 0, place.length, place.at) !== place.length) throw broken('a folder is cut');
    return decodeTree(bytes);
  }

  close(): void {
    closeSync(this.file);
    rmSync(this.path, { force: true });
  }
}
