import { PostHog } from 'posthog-node';
import type { WireEvent } from '../wire-event.js';

/** Longest wait for an answer. Milliseconds. */
const TIMEOUT_MS = 10_000;

/**
 * What became of a batch. `retry` and `split`: it was not taken and is to be sent again, `split` in smaller parts.
 * `afterMs`: not before.
 */
export type SendResult =
  | { readonly kind: 'sent' }
  | { readonly kind: 'retry' | 'split'; readonly reason: string; readonly afterMs: number | null };

export interface PosthogReceiver {
  /** `https://eu.i.posthog.com`. */
  readonly host: string;
  /** Key of the project. */
  readonly key: string;
  readonly timeoutMs?: number;
}

/**
 * PostHog's client, which gives up a batch that is answered with an error, keeps one that the network lost in memory,
 * and writes both to the console. It gets a `fetch` that always succeeds and notes what really happened: what was not
 * taken is still in our outbox, and its queue is empty after each call.
 */
export class PosthogSender {
  private readonly client: PostHog;
  private result: SendResult | null = null;

  constructor(receiver: PosthogReceiver) {
    const timeout = receiver.timeoutMs ?? TIMEOUT_MS;
    this.client = new PostHog(receiver.key, {
      host: receiver.host,
      // Only `send` flushes.
      flushAt: Number.MAX_SAFE_INTEGER,
      flushInterval: 0,
      maxBatchSize: 1_000,
      fetchRetryCount: 0,
      requestTimeout: timeout + 5_000,
      preloadFeatureFlags: false,
      disableGeoip: true,
      enableExceptionAutocapture: false,
      fetch: async (url, options) => {
        this.result = await this.request(url, options as RequestInit, timeout);
        return new Response('{"status":"Ok"}', { status: 200 });
      },
    });
  }

  /** Never rejects. One call at a time. */
  async send(events: readonly WireEvent[]): Promise<SendResult> {
    this.result = null;
    try {
      for (const { uuid, event, distinctId, organization, timestamp, properties } of events)
        this.client.capture({
          uuid,
          event,
          distinctId,
          timestamp,
          properties,
          groups: { organization },
          disableGeoip: true,
        });
      await this.client.flush();
    } catch (error) {
      return { kind: 'retry', reason: error instanceof Error ? error.name : 'unknown', afterMs: null };
    }
    return this.result ?? { kind: 'retry', reason: 'no-request', afterMs: null };
  }

  async close(): Promise<void> {
    await this.client.shutdown(1_000).catch(() => {});
  }

  private async request(url: string, options: RequestInit, timeout: number): Promise<SendResult> {
    try {
      const response = await fetch(url, { ...options, redirect: 'manual', signal: AbortSignal.timeout(timeout) });
      await response.body?.cancel().catch(() => {});
      if (response.ok) return { kind: 'sent' };
      const splits = response.status === 413 || response.status === 400;
      return {
        kind: splits ? 'split' : 'retry',
        reason: String(response.status),
        afterMs: retryAfter(response.headers.get('retry-after')),
      };
    } catch (error) {
      return {
        kind: 'retry',
        reason: error instanceof Error && error.name === 'TimeoutError' ? 'timeout' : 'network',
        afterMs: null,
      };
    }
  }
}

/** Milliseconds, at most an hour; `null` for none or a date. */
function retryAfter(header: string | null): number | null {
  return header !== null && /^\d{1,6}$/.test(header) ? Math.min(Number(header) * 1_000, 3_600_000) : null;
}
