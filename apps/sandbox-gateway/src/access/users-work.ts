import type { IncomingMessage } from 'node:http';
import { SANDBOX_PORTS, SANDBOX_USE_NOTED_SECONDS } from '@slipway/contracts/sandboxes';
import type { Logger } from '@slipway/telemetry';
import type { LiveGrant } from './grants.queries.js';

const NOTE_EVERY_MS = SANDBOX_USE_NOTED_SECONDS * 1_000;
/**
 * How long uses are collected before they are written together, and the retry interval of a failed write. Milliseconds.
 */
const TELL_EVERY_MS = 2_000;
/**
 * What follows upon something else within this is no page by itself. Milliseconds: pages beat every two seconds or
 * slower.
 */
const BEAT_MS = 1_000;
/** What one page does by itself is no more than so many different things. */
const MAX_HABITS = 64;
const MAX_PATH = 200;
/** A grant of which nothing was seen for this long is forgotten. Milliseconds. */
const FORGET_MS = 3_600_000;

interface Seen {
  /** When something was last counted as work and is, or will be, in the database. */
  notedAt: number;
  seenAt: number;
  readonly asked: Habits<string>;
}

export interface UsersWorkOptions {
  /** Writes which grants were used, each how many seconds ago. */
  readonly note: (uses: ReadonlyArray<readonly [id: string, secondsAgo: number]>) => Promise<void>;
  /** The write failed. */
  readonly failed: () => void;
  /** Milliseconds that only go forward. */
  readonly now: () => number;
  readonly logger: Logger;
}

/**
 * Notes with a grant that a user works through it, once a minute at most, so that the idle sweep of worker leaves their
 * sandbox alone.
 *
 * Work is what a user does, as far as it can be seen from here: a navigation, a request that changes something, the
 * first request for an address, and frames of a WebSocket that are not the same again and again. An open page polls and
 * sends its beats without a user there, and that is no work; nor is what only the sandbox sends. What goes to
 * agent-server is not counted: which itself reports users' work in its terminal, files and browser.
 *
 * Which way it fails: nothing here delays or ends the traffic that it observes. While the writes fail, a sandbox that
 * is in use may be paused as idle; its workspace is kept, and a message resumes it.
 */
export class UsersWork {
  private readonly seen = new Map<string, Seen>();
  /** Not written yet: when each was used. */
  private readonly pending = new Map<string, number>();
  private readonly timer: NodeJS.Timeout;
  private noting: Promise<void> | null = null;

  constructor(private readonly options: UsersWorkOptions) {
    this.timer = setInterval(() => void this.tell(), TELL_EVERY_MS);
    this.timer.unref();
  }

  /** A request or an upgrade that was let in. Costs no wait. */
  request(grant: LiveGrant, { method = 'GET', url = '', headers }: IncomingMessage): void {
    if (!counts(grant)) return;
    const seen = this.seenOf(grant);
    const known = seen.asked.has(`${method} ${(url.split('?', 1)[0] as string).slice(0, MAX_PATH)}`);
    const looks = method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
    if (!known || !looks || headers['sec-fetch-mode'] === 'navigate') this.used(grant.id, seen);
  }

  /** An admitted WebSocket: call for each of its client's frames with data, by its length. Bytes. */
  socket(grant: LiveGrant, upgrade: IncomingMessage): (length: number) => void {
    if (!counts(grant)) return () => {};
    this.request(grant, upgrade);
    const beats = new Habits<number>();
    let last = Number.NEGATIVE_INFINITY;
    return (length) => {
      const now = this.options.now();
      const follows = now - last < BEAT_MS;
      last = now;
      if (!beats.has(length) || follows) this.used(grant.id, this.seenOf(grant));
    };
  }

  /** Writes what is not written yet, if the database accepts it. @throws never */
  tell(): Promise<void> {
    this.noting ??= this.noteOnce().finally(() => {
      this.noting = null;
    });
    return this.noting;
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.noting;
    await this.tell();
  }

  private seenOf({ id }: LiveGrant): Seen {
    const now = this.options.now();
    const seen = this.seen.get(id) ?? { notedAt: Number.NEGATIVE_INFINITY, seenAt: now, asked: new Habits<string>() };
    seen.seenAt = now;
    this.seen.set(id, seen);
    return seen;
  }

  private used(id: string, seen: Seen): void {
    const now = this.options.now();
    if (now - seen.notedAt < NOTE_EVERY_MS) return;
    seen.notedAt = now;
    this.pending.set(id, now);
  }

  private async noteOnce(): Promise<void> {
    const now = this.options.now();
    for (const [id, { seenAt }] of this.seen) if (now - seenAt > FORGET_MS) this.seen.delete(id);
    if (this.pending.size === 0) return;
    const uses = [...this.pending];
    this.pending.clear();
    try {
      await this.options.note(uses.map(([id, usedAt]) => [id, (now - usedAt) / 1_000]));
    } catch (error) {
      this.options.failed();
      this.options.logger.warn({ err: error, accesses: uses.length }, 'use of sandboxes not recorded, will retry');
      for (const [id, usedAt] of uses)
        if (now - usedAt < FORGET_MS && !this.pending.has(id)) this.pending.set(id, usedAt);
    }
  }
}

/** What was seen before, as far as it is remembered: what has not come for the longest time is forgotten first. */
class Habits<T> {
  private readonly known = new Set<T>();

  /** From now on it was. */
  has(what: T): boolean {
    const known = this.known.delete(what);
    this.known.add(what);
    const [oldest] = this.known;
    if (this.known.size > MAX_HABITS && oldest !== undefined) this.known.delete(oldest);
    return known;
  }
}

function counts({ port }: LiveGrant): boolean {
  return port !== SANDBOX_PORTS['agent-server'];
}
