import type { Readable } from 'node:stream';
import { SlipwayError } from '@slipway/errors';

/** A part of keys and paths: anything else is refused. */
const ORG = /^[A-Za-z0-9_-]{1,64}$/;
const PACK = /^[0-9a-f]{32}$/;

/**
 * Begins the keys of packs. No workspace has this name, so the reaper of workspaces, also of an older release, never
 * lists it as one that nothing refers to and deletes it.
 */
export const PACK_PREFIX = '_packs/';

/** Largest pack that a store takes: 64 MiB of frames with the last one's rest and the footer. Bytes. */
export const MAX_PACK_BYTES = 128 * 2 ** 20;

export interface PackAddress {
  readonly orgId: string;
  /** 32 hexadecimal digits at random, used once. */
  readonly packId: string;
}

export interface PackEntry extends PackAddress {
  readonly bytes: number;
  /** By the store's clock. */
  readonly storedAt: Date;
}

/**
 * Where encrypted packs of checkpoints are. They are never changed: a pack is there whole, or not at all.
 *
 * Contract, checked for each store by `describePackStore`:
 * - A `put` that fails, is aborted or is killed leaves nothing that `get` or `list` shows. One that breaks off when the
 *   last byte was on its way may have won, whole.
 * - A `put` of what is there changes nothing and answers `there`. Of several at once one answers `stored`, and what is
 *   there is whole. (In a bucket without conditional writes more than one may; no transfer uses an id twice.)
 * - `list` shows what was stored before it began, in order of organization and pack; a store may show a new object
 *   late, or a deleted one for a while. It is the collector's, which waits a day or two.
 * - Every method stops at `signal`. What fails rejects with a `SlipwayError`: `sandbox.archive-unavailable` (the store:
 *   try again), `sandbox.archive-too-large`, `request.invalid` (an id that is none), the source's own error of a `put`,
 *   or the signal's reason.
 */
export interface PackStore {
  /** Reads `source` to its end, unless the pack is there already. */
  put(pack: PackAddress, source: Readable, signal: AbortSignal): Promise<StoredPack>;
  /**
   * `null` when there is no such pack. `range` in bytes; one that reaches beyond the pack's end is an error. The stream
   * ends with an error when it cannot be read to its end: an end without one is all that was asked for.
   */
  get(pack: PackAddress, range: PackRange | null, signal: AbortSignal): Promise<Readable | null>;
  /** Every pack behind `after`, of all organizations; with `null` from the beginning. */
  list(after: PackAddress | null, signal: AbortSignal): AsyncIterable<PackEntry>;
  /** Idempotent. */
  delete(pack: PackAddress, signal: AbortSignal): Promise<void>;
}

export type StoredPack = { readonly outcome: 'stored'; readonly bytes: number } | { readonly outcome: 'there' };

export interface PackRange {
  readonly start: number;
  /** At least 1. */
  readonly length: number;
}

/** Key of a pack below the store's own prefix. @throws SlipwayError `request.invalid` */
export function packKey({ orgId, packId }: PackAddress): string {
  if (ORG.test(orgId) && PACK.test(packId)) return `${orgId}/${packId}`;
  throw new SlipwayError('request.invalid', 'That is no id of a pack: it has 32 hexadecimal digits.');
}

/** The pack of a key; `null`: another object. */
export function packOfKey(key: string): PackAddress | null {
  const [orgId = '', packId = '', ...more] = key.split('/');
  return more.length === 0 && ORG.test(orgId) && PACK.test(packId) ? { orgId, packId } : null;
}

/** @throws SlipwayError `request.invalid` */
export function checkRange(range: PackRange | null): void {
  if (range === null) return;
  const { start, length } = range;
  if (Number.isSafeInteger(start) && start >= 0 && Number.isSafeInteger(length) && length > 0) return;
  throw new SlipwayError('request.invalid', 'That is no range of a pack.');
}
