import { SlipwayError } from '@slipway/errors';

/**
 * What becomes of something that may hang: its result, the signal's reason when that aborts first, or
 * `browser.page-hangs` with this sentence after so many milliseconds. The work itself goes on unseen.
 */
export async function within<T>(work: Promise<T>, ms: number, signal: AbortSignal, sentence: string): Promise<T> {
  work.catch(() => {});
  signal.throwIfAborted();
  let stop: () => void = () => {};
  const ended = new Promise<never>((_resolve, reject) => {
    const timer = setTimeout(() => reject(new SlipwayError('browser.page-hangs', sentence)), ms);
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    stop = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    };
  });
  try {
    return await Promise.race([work, ended]);
  } finally {
    stop();
  }
}
