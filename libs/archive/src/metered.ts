import { Transform } from 'node:stream';
import { SlipwayError } from '@slipway/errors';
import { collectYoungGarbage } from './young-garbage.js';

/** Longest time in which nothing passes, in either direction. Milliseconds: the other side is then taken for dead. */
const STALL_MS = 60_000;

/** Bytes that pass between two collections of what they leave behind. */
const COLLECT_EVERY = 8 * 2 ** 20;

/**
 * Passes bytes on, breaks off with `sandbox.archive-too-large` when there are more than `maxBytes`, and with
 * `sandbox.archive-broken` when nothing has moved for a minute.
 */
export function metered(maxBytes: number, stallMs = STALL_MS): Transform {
  let [bytes, collectAt] = [0, COLLECT_EVERY];
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      timer.refresh();
      bytes += chunk.length;
      if (bytes > collectAt) {
        collectAt = bytes + COLLECT_EVERY;
        collectYoungGarbage();
      }
      if (bytes > maxBytes) done(tooLarge(bytes, maxBytes));
      else done(null, chunk);
    },
    destroy(error, done) {
      clearTimeout(timer);
      done(error);
    },
  });
  const timer = setTimeout(
    () => stream.destroy(new SlipwayError('sandbox.archive-broken', `Nothing has moved for ${stallMs / 1000} s.`)),
    stallMs,
  );
  timer.unref();
  return stream;
}

export function tooLarge(bytes: number, maxBytes: number): SlipwayError {
  return new SlipwayError(
    'sandbox.archive-too-large',
    `The files have ${mebibytes(bytes)} MiB; at most ${mebibytes(maxBytes)} MiB are kept.`,
    {
      extensions: { sizeBytes: bytes, maxBytes },
    },
  );
}

function mebibytes(bytes: number): number {
  return Math.ceil((bytes / 2 ** 20) * 10) / 10;
}
