import type { PackEntry, PackStore } from '@slipway/sandbox/packs';

/** Packs that are copied at once; each is 64 MiB at most, or a little more. */
const AT_ONCE = 4;
/** Longest copy of one pack. Milliseconds. */
const PACK_TIMEOUT_MS = 300_000;

export interface CopiedPacks {
  readonly copied: number;
  readonly bytes: number;
  /** Packs that are not whole in the target, as `organization/pack`. */
  readonly failed: readonly string[];
}

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
): Promise<CopiedPacks> {
  const failed: string[] = [];
  let [copied, bytes] = [0, 0];
  const next = from.list(null, signal)[Symbol.asyncIterator]();
  const worker = async (): Promise<void> => {
    for (let entry = await next.next(); entry.done !== true; entry = await next.next()) {
      const name = `${entry.value.orgId}/${entry.value.packId}`;
      try {
        const size = await copyPack(
          from,
          to,
          entry.value,
          AbortSignal.any([signal, AbortSignal.timeout(PACK_TIMEOUT_MS)]),
        );
        if (size === null) continue;
        copied += 1;
        bytes += size;
      } catch (error) {
        signal.throwIfAborted();
        failed.push(name);
        log(`failed to copy pack ${name}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return { copied, bytes, failed: failed.sort() };
}

/** @returns `null` when there was nothing to copy. */
async function copyPack(from: PackStore, to: PackStore, pack: PackEntry, signal: AbortSignal): Promise<number | null> {
  const source = await from.get(pack, null, signal);
  if (source === null) return null;
  const stored = await to.put(pack, source, signal);
  return stored.outcome === 'stored' ? stored.bytes : null;
}
