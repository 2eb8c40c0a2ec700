import type { Readable } from 'node:stream';
import { MAX_ATTACHMENT_BYTES } from '@slipway/contracts/conversations';
import { ReadSlots } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';

const MIB = 1024 * 1024;
/** Files on their way in: each is held twice for a moment, as pieces and as a whole. */
const ROOM = { slots: 64, slotsPerOrg: 16, bytes: 96 * MIB, bytesPerOrg: 64 * MIB, waiting: 200, waitMs: 10_000 };

/** How much of uploads this process holds at once. */
export class AttachmentBodies {
  private readonly room = new ReadSlots(ROOM);

  /**
   * Reads a body, and hands it to `work` while its room is held. @param maxBytes setting of the operator.
   * @throws SlipwayError `request.not-bytes`, `request.too-large`, `request.invalid` for an empty one,
   * `service.unavailable` with no room.
   */
  async read<T>(
    orgId: string,
    body: unknown,
    { length, maxBytes }: { readonly length: string | undefined; readonly maxBytes: number },
    work: (content: Buffer) => Promise<T>,
  ): Promise<T> {
    if (!isStream(body))
      throw new SlipwayError('request.not-bytes', 'The body must be the bytes of a file, as application/octet-stream.');
    const announced = length === undefined ? maxBytes : Number(length);
    if (announced > maxBytes) throw tooLarge(maxBytes);
    const slot = await this.room.enter(orgId);
    if (typeof slot === 'string') throw busy();
    try {
      if (!slot.take(announced)) throw busy();
      return await work(await whole(body, maxBytes));
    } finally {
      slot.leave();
    }
  }
}

async function whole(body: Readable, maxBytes: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  try {
    // Leaving the loop must not take the answer's connection with it.
    for await (const piece of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (bytes > maxBytes) throw tooLarge(maxBytes);
      pieces.push(piece);
    }
  } catch (error) {
    body.resume();
    if (error instanceof SlipwayError) throw error;
    throw new SlipwayError('request.invalid', 'The upload broke off.', { cause: error });
  }
  if (bytes === 0)
    throw new SlipwayError('request.invalid', 'The file is empty.', {
      fields: [{ path: 'body', message: 'is empty' }],
    });
  return Buffer.concat(pieces, bytes);
}

function isStream(body: unknown): body is Readable {
  return typeof (body as Readable | null | undefined)?.pipe === 'function';
}

function tooLarge(maxBytes: number): SlipwayError {
  return new SlipwayError(
    'request.too-large',
    `A file may have ${Math.floor(maxBytes / MIB)} MB. Put a larger one where the agent can download it, and send its address.`,
  );
}

function busy(): SlipwayError {
  return new SlipwayError('service.unavailable', 'Too many files are being uploaded.', { retryAfterSeconds: 2 });
}

/** The bound of the contract, or less. Bytes. */
export function maxAttachmentBytes(megabytes: number): number {
  return Math.min(megabytes * MIB, MAX_ATTACHMENT_BYTES);
}
