/**
 * Gives `work` a signal that ends with `signal`, or after `timeoutMs`. Nothing of it is left when the work is over:
 * `AbortSignal.any` would leave something on a signal that lasts as long as the leader for each of ten thousand
 * sandboxes.
 */
export async function within<T>(
  timeoutMs: number,
  signal: AbortSignal,
  work: (limit: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const abort = (): void => limit.abort(signal.reason);
  const timer = setTimeout(
    () => limit.abort(new DOMException(`not done within ${timeoutMs} ms`, 'TimeoutError')),
    timeoutMs,
  );
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await work(limit.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}
