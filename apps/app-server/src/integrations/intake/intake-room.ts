import { type NoSlot, type ReadSlot, ReadSlots, readWithin } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';

const MIB = 1024 * 1024;
/**
 * Bodies of one connection, and of all, that are here or on their way. One takes about six times its bytes while it is
 * read and sealed: of the 1 GiB that the chart gives this process.
 */
const OF_CONNECTIONS = {
  slots: 512,
  slotsPerOrg: 64,
  bytes: 64 * MIB,
  bytesPerOrg: 32 * MIB,
  waiting: 2_000,
  waitMs: 2_000,
};
/**
 * Of all who name a connection that there is not: they share what one has, and take nothing from those that there are.
 */
const OF_NOBODY = { slots: 64, slotsPerOrg: 64, bytes: 32 * MIB, bytesPerOrg: 32 * MIB, waiting: 64, waitMs: 1_000 };
/** Longest that a body may take to come. Milliseconds: no provider waits longer than 20 s for its answer. */
const BODY_MS = 10_000;

/** How much providers may send at once, and how long they may take. */
export class IntakeRoom {
  private readonly ofConnections = new ReadSlots(OF_CONNECTIONS);
  private readonly ofNobody = new ReadSlots(OF_NOBODY);

  constructor(private readonly bodyMs = BODY_MS) {}

  /** Bytes of bodies that are held now. */
  get bytes(): number {
    return this.ofConnections.usage.bytes + this.ofNobody.usage.bytes;
  }

  /**
   * Room for one body, before a byte of it is read.
   * @param key the connection's; `null`: there is none.
   * @throws SlipwayError `rate.limited` for what the connection has under way, `service.unavailable` for all others.
   */
  async enter(key: string | null): Promise<ReadSlot> {
    const slot: ReadSlot | NoSlot = await (key === null ? this.ofNobody.enter('') : this.ofConnections.enter(key));
    if (slot === 'org')
      throw new SlipwayError('rate.limited', 'Too many deliveries of this connection are under way.', {
        retryAfterSeconds: 1,
      });
    if (slot === 'process') throw full();
    return slot;
  }

  /**
   * The exact bytes of a body of at most `maxBytes`, of which no more than those are ever held.
   * @param length what the sender says that it has; without it room is taken as it comes.
   * @throws SlipwayError `request.too-large`, `delivery.too-slow`, `service.unavailable`.
   */
  async read(
    chunks: AsyncIterable<Uint8Array>,
    slot: ReadSlot,
    maxBytes: number,
    length: number | undefined,
  ): Promise<Buffer> {
    if (length !== undefined && length > maxBytes) throw tooLarge(maxBytes);
    if (length !== undefined && !slot.take(length)) throw full();
    const reading = readWithin(chunks, maxBytes, length === undefined ? slot : { take: () => true });
    reading.catch(() => {});
    const late = Promise.withResolvers<'too-slow'>();
    const timer = setTimeout(() => late.resolve('too-slow'), this.bodyMs);
    try {
      const read = await Promise.race([reading, late.promise]);
      if (read === 'too-slow')
        throw new SlipwayError('delivery.too-slow', `The body did not come within ${this.bodyMs / 1_000} seconds.`);
      if (read === 'too-large') throw tooLarge(maxBytes);
      if (read === 'no-room') throw full();
      return Buffer.concat(read);
    } finally {
      clearTimeout(timer);
    }
  }
}

function tooLarge(maxBytes: number): SlipwayError {
  return new SlipwayError('request.too-large', `A delivery of this provider has at most ${maxBytes} bytes.`);
}

function full(): SlipwayError {
  return new SlipwayError('service.unavailable', 'Deliveries take all the memory that they may.', {
    retryAfterSeconds: 1,
  });
}
