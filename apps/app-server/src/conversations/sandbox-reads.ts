import { Injectable } from '@nestjs/common';
import { MAX_PATCH_BYTES } from '@slipway/agent-client';
import { type ReadLimits, type ReadSlot, ReadSlots } from '@slipway/domain';
import { slotOrThrow } from './sandbox-answers.js';

const MIB = 1024 * 1024;
/** Largest list that is read from a sandbox: some twenty thousand changed files. Bytes. */
export const MAX_LIST_BYTES = 2 * MIB;
/** Reads of lists. Milliseconds: what was last seen is shown after that. */
export const LIST_READ = { timeoutMs: 5_000, maxBytes: MAX_LIST_BYTES } as const;
/** Patches that go through; nothing of them is kept. */
export const PATCH_READ = {
  headTimeoutMs: LIST_READ.timeoutMs,
  timeoutMs: 120_000,
  maxBytes: MAX_PATCH_BYTES,
} as const;

/**
 * Lists that are read and parsed. One takes at most twelve times its text while it is (pieces, the whole, a string of
 * two-byte characters, objects, our own text): 12 slots × 2 MiB × 12 = 288 MiB of the 1 GiB that the chart gives this
 * process.
 */
const LISTS: ReadLimits = {
  slots: 12,
  slotsPerOrg: 3,
  bytes: 24 * MIB,
  bytesPerOrg: 6 * MIB,
  waiting: 200,
  waitMs: 3_000,
};
/**
 * Patches on their way to browsers: buffers of 256 KiB each, 16 MiB together; of what is kept in the database the
 * whole, three times over: 192 MiB together.
 */
const STREAMS: ReadLimits = {
  slots: 64,
  slotsPerOrg: 8,
  bytes: 192 * MIB,
  bytesPerOrg: 64 * MIB,
  waiting: 200,
  waitMs: 3_000,
};

/**
 * What this process reads from sandboxes at once, and of what they left behind. Control calls are not in it: a stop
 * goes through whatever else is read.
 */
@Injectable()
export class SandboxReads {
  readonly lists = new ReadSlots(LISTS);
  readonly streams = new ReadSlots(STREAMS);
  private readonly shared = new Map<string, Promise<unknown>>();

  /** @throws SlipwayError `rate.limited`, `service.unavailable` when there is no slot for it in time. */
  async list<T>(orgId: string, read: (slot: ReadSlot) => Promise<T>): Promise<T> {
    const slot = slotOrThrow(await this.lists.enter(orgId));
    try {
      return await read(slot);
    } finally {
      slot.leave();
    }
  }

  /** The slot is the caller's to leave. @throws as `list`. */
  async stream(orgId: string): Promise<ReadSlot> {
    return slotOrThrow(await this.streams.enter(orgId));
  }

  /** One read for all who ask for the same at the same time: fifty viewers of a conversation cost as much as one. */
  once<T>(key: string, read: () => Promise<T>): Promise<T> {
    const known = this.shared.get(key);
    if (known !== undefined) return known as Promise<T>;
    const reading = read().finally(() => this.shared.delete(key));
    this.shared.set(key, reading);
    return reading;
  }
}
