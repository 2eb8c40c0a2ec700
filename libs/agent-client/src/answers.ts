import { pipeline, type Readable, Transform, type TransformCallback } from 'node:stream';
import { type ReadSlot, readWithin } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';

const KIB = 1024;
const MIB = 1024 * KIB;

/** What an answer may take of this process. */
export interface AnswerBound {
  /** Bytes. */
  readonly maxBytes: number;
  /** Whose memory it takes while it is read. */
  readonly slot: Pick<ReadSlot, 'take'>;
}

/**
 * The whole answer. @throws SlipwayError `file.too-large` beyond the bound, `service.unavailable` when the slot has no
 * room for it.
 */
export async function bytesWithin(body: Readable, { maxBytes, slot }: AnswerBound): Promise<Buffer> {
  const parts = await readWithin(body, maxBytes, slot);
  if (typeof parts !== 'string') return Buffer.concat(parts);
  discard(body);
  if (parts === 'too-large') throw tooLarge(maxBytes);
  throw new SlipwayError('service.unavailable', 'Answers of sandboxes take all the memory that they may.', {
    retryAfterSeconds: 2,
  });
}

/**
 * The answer as it comes, for a reader at its own pace; nothing of it is kept. Beyond the bound it ends with an error:
 * a part is never taken for the whole.
 */
export function streamWithin(body: Readable, maxBytes: number): Readable {
  let bytes = 0;
  const bounded = new Transform({
    transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
      bytes += chunk.length;
      if (bytes > maxBytes) done(tooLarge(maxBytes));
      else done(null, chunk);
    },
  });
  return pipeline(body, bounded, () => {});
}

/** Ends an answer that nobody reads. */
export function discard(body: Readable): void {
  body.on('error', () => {}).destroy();
}

function tooLarge(maxBytes: number): SlipwayError {
  return new SlipwayError(
    'file.too-large',
    maxBytes < MIB
      ? `The sandbox answered with more than ${maxBytes / KIB} KiB.`
      : `The sandbox answered with more than ${maxBytes / MIB} MiB; ask for one file at a time, or use its terminal.`,
  );
}
