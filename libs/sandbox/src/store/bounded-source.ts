import type { Readable } from 'node:stream';
import { SlipwayError } from '@slipway/errors';

/**
 * Most bytes of one part that a store takes when nothing else is said: what comes from a sandbox is not to be trusted
 * with our disk.
 */
export const MAX_PART_BYTES = 64 * 2 ** 30;

export interface BoundedSource extends AsyncIterable<Buffer> {
  /** What has passed so far. */
  readonly bytes: number;
  /** The source's own failure, as opposed to the store's. */
  readonly failure: unknown;
}

/**
 * The bytes of a source, counted. Rejects with the source's error, with `sandbox.archive-too-large` when there are more
 * than `maxBytes`, and with the signal's reason.
 */
export function boundedSource(source: Readable, maxBytes: number, signal: AbortSignal): BoundedSource {
  const state: { bytes: number; failure: unknown } = { bytes: 0, failure: undefined };
  const abort = (): void => void source.destroy(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
  async function* read(): AsyncGenerator<Buffer> {
    signal.addEventListener('abort', abort, { once: true });
    try {
      signal.throwIfAborted();
      for await (const chunk of source as AsyncIterable<Buffer>) {
        state.bytes += chunk.length;
        if (state.bytes > maxBytes)
          throw new SlipwayError(
            'sandbox.archive-too-large',
            `The archive has more than ${Math.floor(maxBytes / 2 ** 20)} MiB, which is what the store takes.`,
          );
        yield chunk;
      }
    } catch (error) {
      state.failure = signal.aborted ? signal.reason : error;
      throw state.failure;
    } finally {
      signal.removeEventListener('abort', abort);
      source.destroy();
    }
  }
  const iterator = read();
  return Object.defineProperties({ [Symbol.asyncIterator]: () => iterator } as unknown as BoundedSource, {
    bytes: { get: () => state.bytes },
    failure: { get: () => state.failure },
  });
}
