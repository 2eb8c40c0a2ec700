import { MAX_INGEST_BYTES } from '@slipway/contracts/events';
import { type NoSlot, type ReadSlot, ReadSlots } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';

const MIB = 1024 * 1024;
/** A sandbox sends one batch and one piece of deltas at a time; one that is hostile gets no further. */
const OF_SANDBOX = {
  slots: 20_000,
  slotsPerOrg: 4,
  bytes: 20_000 * MAX_INGEST_BYTES,
  bytesPerOrg: 2 * MAX_INGEST_BYTES + MIB,
  waiting: 2_000,
  waitMs: 5_000,
};
/**
 * Bodies that are here or on their way. One takes at most five times its bytes while it is read: 64 MiB are 320 MiB of
 * the 1 GiB that the chart gives this process.
 */
const OF_ORG = { slots: 512, slotsPerOrg: 128, bytes: 64 * MIB, bytesPerOrg: 24 * MIB, waiting: 2_000, waitMs: 5_000 };

/** How much sandboxes may send at once. */
export class IngestRoom {
  private readonly ofSandbox = new ReadSlots(OF_SANDBOX);
  private readonly ofOrg = new ReadSlots(OF_ORG);

  /**
   * Room for one body, before a byte of it is read. @param length `content-length`; without it the largest body is
   * expected.
   * @returns what gives the room back. @throws SlipwayError `rate.limited` for what the sandbox or its organization has
   * under way, `service.unavailable` for all others.
   */
  async enter(orgId: string, conversationId: string, length: string | undefined): Promise<() => void> {
    const bytes = bytesOf(length);
    const own = opened(await this.ofSandbox.enter(conversationId), bytes);
    try {
      const shared = opened(await this.ofOrg.enter(orgId), bytes);
      return () => {
        shared.leave();
        own.leave();
      };
    } catch (error) {
      own.leave();
      throw error;
    }
  }
}

/** What a body may come to, by its `content-length`. */
export function bytesOf(length: string | undefined): number {
  return length === undefined ? MAX_INGEST_BYTES : Math.min(Number(length) || 0, MAX_INGEST_BYTES);
}

function opened(slot: ReadSlot | NoSlot, bytes: number): ReadSlot {
  if (slot === 'org')
    throw new SlipwayError('rate.limited', 'Too many batches of this sandbox, or of its organization, are under way.', {
      retryAfterSeconds: 1,
    });
  if (slot === 'process') throw full();
  if (slot.take(bytes)) return slot;
  slot.leave();
  throw full();
}

function full(): SlipwayError {
  return new SlipwayError('service.unavailable', 'Batches of sandboxes take all the memory that they may.', {
    retryAfterSeconds: 1,
  });
}
