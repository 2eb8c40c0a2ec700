import { type ReadLimits, type ReadSlot, ReadSlots } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';

const MIB = 1024 * 1024;

/**
 * Workspaces read at the same time. One takes at most: a patch of 8 MiB five times (pieces, the whole, a string of
 * two-byte characters, the text and the bytes for Postgres), a list of 2 MiB twelve times: 64 MiB. Six are 384 MiB of
 * the 768 MiB that the chart gives this process.
 */
export const SNAPSHOTS: ReadLimits = {
  slots: 6,
  slotsPerOrg: 2,
  bytes: 64 * MIB,
  bytesPerOrg: 24 * MIB,
  waiting: 64,
  waitMs: 20_000,
};

/** Largest bundle of a branch. Bytes. */
export const MAX_BUNDLE_BYTES = 48 * MIB;
/**
 * Branches that are published at once: each holds a bundle twice while it comes, then once with its folders (24 MiB and
 * 300,000 names): 120 MiB. One of each organization, since a sandbox may take minutes to give it away; who finds no
 * slot comes again.
 */
export const BUNDLES: ReadLimits = {
  slots: 2,
  slotsPerOrg: 1,
  bytes: 2 * MAX_BUNDLE_BYTES,
  bytesPerOrg: MAX_BUNDLE_BYTES,
  waiting: 16,
  waitMs: 200,
};

/** What one organization's sandboxes answer to this worker, and how much of it is held at once. */
export class SandboxReads {
  constructor(private readonly slots = new ReadSlots(SNAPSHOTS)) {}

  /**
   * Work that reads whole workspaces, when there is a slot for it: organizations take turns.
   * @throws SlipwayError `service.unavailable` when there is none in time. Nothing was read then; the job comes again
   * later.
   */
  async inTurn<T>(orgId: string, signal: AbortSignal, work: (slot: ReadSlot) => Promise<T>): Promise<T> {
    const slot = await this.slots.enter(orgId, signal);
    if (typeof slot === 'string')
      throw new SlipwayError('service.unavailable', 'Too many workspaces are being read.', {
        internal: `no slot for ${orgId}: ${slot}`,
        retryAfterSeconds: 5,
      });
    try {
      return await work(slot);
    } finally {
      slot.leave();
    }
  }
}
