import { type CheckpointObject, type ContentId, decodeTree } from '@slipway/checkpoint';
import { SlipwayError } from '@slipway/errors';

/**
 * Objects of a sandbox, which is not trusted, on their way into packs. Each tree must be one, and whatever it names
 * must be in the same transfer or in the packs of a durable checkpoint of the same conversation: so everything that a
 * checkpoint reaches can be read, and a name alone gives nobody another's content.
 */
export class CheckedObjects {
  private readonly taken = new Set<ContentId>();
  private readonly wanted = new Set<ContentId>();

  /** @param has whether the packs of the checkpoint before hold it. */
  constructor(private readonly has: (id: ContentId) => boolean) {}

  /** Those that are to be kept. @throws SlipwayError `checkpoint.broken` for a tree that is none. */
  async *of(source: AsyncIterable<CheckpointObject>): AsyncGenerator<CheckpointObject> {
    for await (const object of source) {
      if (this.taken.has(object.id)) continue;
      this.taken.add(object.id);
      this.wanted.delete(object.id);
      if (object.kind === 'tree') for (const id of idsIn(object.bytes)) this.want(id);
      if (!this.has(object.id)) yield object;
    }
  }

  /** After the last object. @throws SlipwayError `checkpoint.broken` when something is missing. */
  assertWhole(roots: readonly ContentId[]): void {
    for (const root of roots) this.want(root);
    if (this.wanted.size > 0)
      throw new SlipwayError(
        'checkpoint.broken',
        `The sandbox named ${this.wanted.size} objects that it did not send.`,
      );
  }

  private want(id: ContentId): void {
    if (!this.taken.has(id) && !this.has(id)) this.wanted.add(id);
  }
}

function* idsIn(bytes: Uint8Array): Generator<ContentId> {
  for (const entry of decodeTree(bytes)) {
    if (entry.kind === 'folder') yield entry.tree;
    if (entry.kind !== 'file') continue;
    for (const { id } of entry.chunks) if (id !== null) yield id;
  }
}
