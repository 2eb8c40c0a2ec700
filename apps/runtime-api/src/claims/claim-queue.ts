import type { SqlPool } from '@slipway/db/sql';
import { serveWaiting, watchWaiting } from './waiting.queries.js';

/** Poll interval of the queue without notifications. Milliseconds. */
const LOOK_MS = 100;

/**
 * `called`: it is not in the queue any more, ask again. `late`: the time is up, the place is kept for another 10 s.
 * `gone`: the caller has left.
 */
export type Turn = 'called' | 'late' | 'gone';

interface Guest {
  readonly poolId: string;
  readonly leave: (turn: Turn) => void;
}

/**
 * Requests of this replica that wait in the queues. One poll is for all of them, and serves the next claims, on any
 * replica.
 */
export class ClaimQueue {
  private readonly guests = new Map<string, Set<Guest>>();
  private looking: Promise<void> | null = null;
  private again = false;
  private closed = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly db: SqlPool,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** Waits as a claim that is queued. Polls at least once, also with `timeoutMs` 0. */
  wait(poolId: string, claimId: string, timeoutMs: number, gone: AbortSignal): Promise<Turn> {
    return new Promise((resolve) => {
      const guests = this.guests.get(claimId) ?? new Set();
      const onGone = (): void => guest.leave('gone');
      const guest: Guest = {
        poolId,
        leave: (turn) => {
          clearTimeout(timer);
          gone.removeEventListener('abort', onGone);
          guests.delete(guest);
          if (guests.size === 0 && this.guests.get(claimId) === guests) this.guests.delete(claimId);
          resolve(turn);
        },
      };
      guests.add(guest);
      this.guests.set(claimId, guests);
      gone.addEventListener('abort', onGone, { once: true });
      const timer = setTimeout(() => {
        // What it waited for may have come at the last moment.
        void this.look().then(() => guest.leave('late'));
      }, timeoutMs);
      if (gone.aborted) onGone();
      else if (this.closed) guest.leave('late');
      else this.schedule(0);
    });
  }

  /** All waits end from now on. */
  close(): void {
    this.closed = true;
    for (const guests of [...this.guests.values()]) for (const guest of [...guests]) guest.leave('late');
  }

  /** A claim may have been served, or slots may have become available. */
  look(): Promise<void> {
    if (this.looking !== null) {
      this.again = true;
      return this.looking;
    }
    this.looking = this.lookUntilQuiet().finally(() => {
      this.looking = null;
      if (this.guests.size > 0) this.schedule(LOOK_MS);
    });
    return this.looking;
  }

  private schedule(delayMs: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.look(), delayMs);
    this.timer.unref();
  }

  private async lookUntilQuiet(): Promise<void> {
    do {
      this.again = false;
      await this.lookOnce().catch(this.onError);
    } while (this.again);
  }

  private async lookOnce(): Promise<void> {
    if (this.guests.size === 0) return;
    const pools = new Set([...this.guests.values()].flatMap((guests) => [...guests].map((guest) => guest.poolId)));
    for (const poolId of pools) await serveWaiting(this.db, poolId);
    for (const claimId of await watchWaiting(this.db, [...this.guests.keys()]))
      for (const guest of [...(this.guests.get(claimId) ?? [])]) guest.leave('called');
  }
}
