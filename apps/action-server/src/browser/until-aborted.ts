/**
 * The result of `work`, or the signal's reason as soon as it aborts, whether or not the work heeds it: it goes on
 * unobserved.
 */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  work.catch(() => {});
  signal.throwIfAborted();
  let aborted: () => void = () => {};
  const cut = new Promise<never>((_, reject) => {
    aborted = () => reject(signal.reason);
    signal.addEventListener('abort', aborted);
  });
  return Promise.race([work, cut]).finally(() => signal.removeEventListener('abort', aborted));
}
