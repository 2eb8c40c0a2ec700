import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { SignedInClient } from '@slipway/testing';
import type { Talk } from '../stack/talk.ts';

/** Tries of one request, and the wait before the second one, doubled for each further one. Milliseconds. */
const TRIES = 5;
const RETRY_MS = 100;
/** One request in so many is a message; the others read. */
const WRITE_EVERY = 10;
const ANSWER_MS = 10_000;

export interface LoadCounts {
  requests: number;
  /** Tries beyond the first one. */
  repeated: number;
  /** What was not answered well by the last try, in words. */
  readonly failed: string[];
  /** From the first try to the answer. Milliseconds. */
  slowestMs: number;
}

/**
 * People who read and write at a steady rate, as every client should: what got no answer, or was answered with
 * Retry-After, is repeated idempotently.
 */
export class Load {
  counts: LoadCounts = none();
  /** Ids of messages that were acknowledged, by conversation. */
  readonly sent = new Map<string, string[]>();
  private readonly user: SignedInClient;
  private readonly talks: readonly Talk[];
  private readonly underWay = new Set<Promise<void>>();
  private readonly running: Promise<void>;
  private stopping = false;

  constructor(user: SignedInClient, talks: readonly Talk[], perSecond: number) {
    this.user = user;
    this.talks = talks;
    this.running = this.run(1_000 / perSecond);
  }

  /** What was counted since the last time. */
  take(): LoadCounts {
    const { counts } = this;
    this.counts = none();
    return counts;
  }

  /** Asks nothing more, and waits for the answers. */
  async stop(): Promise<void> {
    this.stopping = true;
    await this.running;
    await Promise.all(this.underWay);
  }

  private async run(everyMs: number): Promise<void> {
    const began = performance.now();
    for (let index = 0; !this.stopping; index += 1) {
      await wait(Math.max(0, began + index * everyMs - performance.now()));
      const one = this.ask(index).finally(() => this.underWay.delete(one));
      this.underWay.add(one);
    }
  }

  private async ask(index: number): Promise<void> {
    const talk = this.talks[index % this.talks.length] as Talk;
    if (index % WRITE_EVERY === 0) {
      const id = randomUUID();
      const acknowledged = await this.tried(`${talk.path}/messages`, {
        method: 'POST',
        json: { id, text: `Mind this too: ${index}.` },
      });
      if (acknowledged) this.sent.set(talk.id, [...(this.sent.get(talk.id) ?? []), id]);
      return;
    }
    const reads = [
      '/api/v1/me',
      talk.path,
      `${talk.path}/events?limit=50&after=${Math.max(0, talk.watcher.lastSeq - 50)}`,
      `/api/v1/orgs/${talk.orgId}/conversations`,
      // A page, which web makes.
      '/login',
    ];
    await this.tried(reads[index % reads.length] as string, {});
  }

  private async tried(path: string, init: { method?: string; json?: unknown }): Promise<boolean> {
    const began = performance.now();
    this.counts.requests += 1;
    let problem = '';
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      if (attempt > 0) {
        this.counts.repeated += 1;
        await wait(RETRY_MS * 2 ** (attempt - 1));
      }
      try {
        const response = await this.user.fetch(path, { ...init, signal: AbortSignal.timeout(ANSWER_MS) });
        const text = await response.text();
        if (response.ok) {
          this.counts.slowestMs = Math.max(this.counts.slowestMs, performance.now() - began);
          return true;
        }
        problem = `${response.status} ${text.slice(0, 300)}`;
        if (![429, 502, 503, 504].includes(response.status)) break;
      } catch (error) {
        problem = String((error as Error).cause ?? error);
      }
    }
    this.counts.failed.push(`${init.method ?? 'GET'} ${path}: ${problem}`);
    return false;
  }
}

function none(): LoadCounts {
  return { requests: 0, repeated: 0, failed: [], slowestMs: 0 };
}
