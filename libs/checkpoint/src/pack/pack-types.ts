import type { CheckpointObject } from '../objects/checkpoint-object.js';
import type { ContentId } from '../objects/content-id.js';

/** Name and key of one pack. The key, 32 bytes, is used for this pack alone and never again, also not on a retry. */
export interface PackIdentity {
  readonly orgId: string;
  readonly packId: string;
  readonly key: Uint8Array;
}

export interface WritePacks {
  readonly objects: AsyncIterable<CheckpointObject> | Iterable<CheckpointObject>;
  /** Called before each pack. */
  readonly nextPack: () => PackIdentity | Promise<PackIdentity>;
  /** Puts one pack. Must read `body` to its end. */
  readonly store: (pack: PackIdentity, body: AsyncIterable<Buffer>) => Promise<void>;
  readonly signal: AbortSignal;
}

export interface WrittenPack {
  readonly packId: string;
  /** As stored. */
  readonly bytes: number;
  /** Before compression. */
  readonly plainBytes: number;
  readonly objects: number;
}

export interface OpenPack {
  readonly identity: PackIdentity;
  /** Of the stored object, from the store. */
  readonly bytes: number;
  /** Bytes of the stored object from an offset on; fewer than asked is an error of the pack. */
  readonly getRange: (offset: number, length: number) => Promise<Uint8Array>;
}

export interface PackedObject {
  readonly kind: 'tree' | 'chunk';
  readonly id: ContentId;
  readonly length: number;
}

/** @throws SlipwayError `checkpoint.broken` for anything that this key did not write under this name. */
export interface PackReader {
  /** In the order of the pack: trees, then chunks. */
  readonly contents: readonly PackedObject[];
  has(id: ContentId): boolean;
  read(id: ContentId): Promise<Uint8Array>;
  /** Those wanted (`null`: all), in the order of the pack, with the memory of a few frames. */
  objects(wanted: ReadonlySet<ContentId> | null): AsyncIterable<CheckpointObject>;
}
