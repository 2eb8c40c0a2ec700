import { buffer } from 'node:stream/consumers';
import { type ContentId, openPack, type PackReader } from '@slipway/checkpoint';
import type { ReadablePack } from '@slipway/contracts/sandboxes';
import { SlipwayError } from '@slipway/errors';
import type { PackStore } from '@slipway/sandbox/packs';

/** Packs of one checkpoint that are opened at a time: each is two small reads of the store. */
const AT_ONCE = 8;

/** The packs of one checkpoint, open for one transfer. */
export class OpenPacks {
  private constructor(private readonly readers: readonly PackReader[]) {}

  /** @throws SlipwayError `checkpoint.broken` when one is missing or damaged, `sandbox.archive-unavailable`. */
  static async of(
    store: PackStore,
    orgId: string,
    packs: readonly ReadablePack[],
    signal: AbortSignal,
  ): Promise<OpenPacks> {
    const readers: PackReader[] = [];
    for (let at = 0; at < packs.length; at += AT_ONCE)
      readers.push(
        ...(await Promise.all(packs.slice(at, at + AT_ONCE).map((pack) => open(store, orgId, pack, signal)))),
      );
    return new OpenPacks(readers);
  }

  has(id: ContentId): boolean {
    return this.readers.some((reader) => reader.has(id));
  }

  /** @throws SlipwayError `checkpoint.broken` for one that no pack has. */
  async read(id: ContentId): Promise<Uint8Array> {
    const reader = this.readers.find((each) => each.has(id));
    if (reader === undefined)
      throw new SlipwayError('checkpoint.broken', 'The checkpoint cannot be read: an object of it is in no pack.');
    return reader.read(id);
  }

  /** Those wanted, each once, pack by pack. @throws SlipwayError `checkpoint.broken` when one is in no pack. */
  async *chunks(wanted: ReadonlySet<ContentId>): AsyncGenerator<{ kind: 'chunk'; id: ContentId; bytes: Uint8Array }> {
    const left = new Set(wanted);
    for (const reader of this.readers) {
      const here = new Set([...left].filter((id) => reader.has(id)));
      if (here.size === 0) continue;
      for await (const { id, bytes } of reader.objects(here)) {
        if (left.delete(id)) yield { kind: 'chunk', id, bytes };
      }
    }
    if (left.size > 0)
      throw new SlipwayError('checkpoint.broken', `The checkpoint cannot be read: ${left.size} objects are missing.`);
  }
}

async function open(
  store: PackStore,
  orgId: string,
  { id: packId, bytes, key }: ReadablePack,
  signal: AbortSignal,
): Promise<PackReader> {
  return openPack({
    identity: { orgId, packId, key: Buffer.from(key, 'base64') },
    bytes,
    getRange: async (start, length) => {
      const part = await store.get({ orgId, packId }, { start, length }, signal);
      if (part === null) throw new SlipwayError('checkpoint.broken', 'A pack of the checkpoint is not in the store.');
      return buffer(part);
    },
  });
}
