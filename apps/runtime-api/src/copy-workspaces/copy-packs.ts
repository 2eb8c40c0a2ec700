import type { PackEntry, PackStore } from '@slipway/sandbox/packs';
import { type CopyResult, copyEach } from './copy-each.js';

/** Longest copy of one pack. Milliseconds. */
const PACK_TIMEOUT_MS = 300_000;

/**
 * Copies every pack of one store into another. What is in the target already stays as it is, since no pack ever
 * changes. One that is deleted in the source meanwhile is passed over.
 * @throws SlipwayError `sandbox.archive-unavailable` when the source cannot be listed to its end.
 */
export async function copyPacks(
  from: PackStore,
  to: PackStore,
  log: (line: string) => void,
  signal: AbortSignal,
): Promise<CopyResult> {
  const nameOf = ({ orgId, packId }: PackEntry): string => `${orgId}/${packId}`;
  const copy = (pack: PackEntry, within: AbortSignal): Promise<number | null> => copyPack(from, to, pack, within);
  return copyEach(from.list(null, signal), { nameOf, copy, timeoutMs: PACK_TIMEOUT_MS, log }, signal);
}

/** @returns `null` when there was nothing to copy. */
async function copyPack(from: PackStore, to: PackStore, pack: PackEntry, signal: AbortSignal): Promise<number | null> {
  const source = await from.get(pack, null, signal);
  if (source === null) return null;
  const stored = await to.put(pack, source, signal);
  return stored.outcome === 'stored' ? stored.bytes : null;
}
