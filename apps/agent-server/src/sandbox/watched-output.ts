import { setTimeout as wait } from 'node:timers/promises';
import type { OutputWatch } from '@slipway/agent';
import { CallOutputResponse } from '@slipway/contracts/actions';

/** A call that is over sooner has no output to show meanwhile. Milliseconds. */
const SHOWN_AFTER_MS = 300;
/**
 * From a question that had no output for an answer to the next: a busy tool process may not have the call yet.
 * Milliseconds.
 */
const ASK_AGAIN_MS = 300;
/** Longest wait for one answer: the tool process itself waits 25 seconds. Milliseconds. */
const ASK_MS = 40_000;
/** Longest wait for the last output of a call that was stopped. Milliseconds; a stop shows within two seconds. */
const LAST_MS = 500;

interface Asks {
  request(
    method: 'GET',
    path: string,
    body: undefined,
    signal: AbortSignal,
  ): Promise<{ status: number; body: unknown }>;
}

/**
 * Runs a call and passes its output to `watch` meanwhile. @throws what the work rejects with; a stopped call has passed
 * on its output by then.
 */
export async function watched<T>(
  tools: Asks,
  watch: OutputWatch,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const follower = new Follower(tools, watch);
  const following = follower.follow(AbortSignal.any([signal, over.signal])).catch(() => {});
  try {
    return await work();
  } catch (error) {
    if (signal.aborted) {
      await following;
      await follower.ask('&now=true', AbortSignal.timeout(LAST_MS)).catch(() => {});
    }
    throw error;
  } finally {
    over.abort();
  }
}

class Follower {
  private after = 0;

  constructor(
    private readonly tools: Asks,
    private readonly watch: OutputWatch,
  ) {}

  async follow(signal: AbortSignal): Promise<void> {
    await wait(SHOWN_AFTER_MS, undefined, { signal });
    while (!signal.aborted) {
      const found = await this.ask('', AbortSignal.any([signal, AbortSignal.timeout(ASK_MS)])).catch(
        () => 'no-answer' as const,
      );
      if (found === 'over') return;
      if (found === 'no-answer') await wait(ASK_AGAIN_MS, undefined, { signal });
    }
  }

  async ask(how: '' | '&now=true', signal: AbortSignal): Promise<'more' | 'over' | 'no-answer'> {
    const { status, body } = await this.tools.request(
      'GET',
      `/action/output?call=${encodeURIComponent(this.watch.call)}&after=${this.after}${how}`,
      undefined,
      signal,
    );
    if (status >= 300) return 'no-answer';
    const { text, end, over } = CallOutputResponse.parse(body);
    signal.throwIfAborted();
    this.after = end;
    this.watch.output(text);
    return over ? 'over' : 'more';
  }
}
