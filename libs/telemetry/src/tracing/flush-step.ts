import { activeTracing } from './tracing.js';

/**
 * Longest that an exit waits for spans to be sent. Milliseconds. What an absent receiver would have got is lost, and
 * the exit is clean all the same.
 */
const FLUSH_MS = 1_000;

/** Last step of a `GracefulStop`: sends the spans that wait. */
export function flushTraces(): { readonly name: string; readonly withinMs: number; readonly run: () => Promise<void> } {
  const run = async (): Promise<void> => {
    const over = new AbortController();
    const late = new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, FLUSH_MS);
      over.signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
    });
    await Promise.race([
      activeTracing()
        .flush()
        .catch(() => {}),
      late,
    ]);
    over.abort();
  };
  return { name: 'traces', withinMs: FLUSH_MS + 500, run };
}
