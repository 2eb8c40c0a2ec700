import { broken } from '../objects/broken.js';
import type { CheckpointObject } from '../objects/checkpoint-object.js';
import type { ContentId } from '../objects/content-id.js';
import type { Tree } from '../tree/tree-entry.js';

/** Files of the root `meta`: one chunk each, kept in memory. */
export class MetaFiles {
  private readonly names = new Map<string, ContentId | null>();
  private readonly chunks = new Map<ContentId, Buffer>();

  constructor(tree: Tree) {
    for (const entry of tree) {
      if (entry.kind !== 'file' || entry.chunks.length > 1 || entry.chunks[0]?.id === null)
        throw broken('what lies beside its files is no small file');
      this.names.set(entry.name, entry.chunks[0]?.id ?? null);
    }
  }

  take({ id, bytes }: CheckpointObject): void {
    if ([...this.names.values()].includes(id)) this.chunks.set(id, Buffer.from(bytes));
  }

  files(): Readonly<Record<string, Uint8Array>> {
    const files: Record<string, Uint8Array> = {};
    for (const [name, id] of this.names) {
      const bytes = id === null ? Buffer.alloc(0) : this.chunks.get(id);
      if (bytes === undefined) throw broken('a file beside its files is missing');
      files[name] = bytes;
    }
    return files;
  }
}
