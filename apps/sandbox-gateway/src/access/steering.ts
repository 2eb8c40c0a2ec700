import { setTimeout as wait } from 'node:timers/promises';
import { SlipwayError } from '@slipway/errors';
import type { LiveGrant } from './grants.queries.js';

/**
 * How long one note covers what follows it. Seconds: the holder of a grant counts as steering for this much longer, and
 * the database has a write each so often.
 */
const COVERED_SECONDS = 5;
/** What goes on is noted again in time. Milliseconds. */
const AGAIN_MS = (COVERED_SECONDS * 1_000) / 2;
/** Between two attempts at a database that does not answer. Milliseconds. */
const RETRY_MS = 250;
/** Grants whose notes are remembered; the oldest is forgotten first, and asked for again. */
const MAX_COVERED = 10_000;

export interface SteeringOptions {
  /** Notes that the holder of a grant steers, from now on for so many seconds. False: the grant holds no longer. */
  readonly steer: (grantId: string, seconds: number) => Promise<boolean>;
  /** Milliseconds that only go forward. */
  readonly now: () => number;
}

/**
 * Who changes files of a sandbox, or runs something in it, steers its agent: under four eyes they are askers, as those
 * who write to it are. Written down before the sandbox has it, at most every few seconds a grant.
 *
 * Which way it fails: nothing that is not written down goes through. A request is refused, a frame of an open socket
 * waits.
 */
export class Steering {
  /** Until when what goes through is covered, by grant. */
  private readonly covered = new Map<string, number>();

  constructor(private readonly options: SteeringOptions) {}

  /**
   * @throws SlipwayError `auth.missing`, `service.unavailable` when the database does not answer within `patienceMs`.
   */
  async note(grant: LiveGrant, patienceMs = 0): Promise<void> {
    const deadline = this.options.now() + patienceMs;
    while (!this.isCovered(grant)) {
      try {
        return await this.cover(grant);
      } catch (error) {
        if (error instanceof SlipwayError) throw error;
        if (this.options.now() + RETRY_MS > deadline)
          throw new SlipwayError(
            'service.unavailable',
            'That you change something here cannot be written down now: the database does not answer.',
            {
              cause: error,
              retryAfterSeconds: 1,
            },
          );
        await wait(RETRY_MS);
      }
    }
  }

  /**
   * For what takes its time, such as an upload: noted until the answer is called. @param lost is called when it can be
   * noted no longer: it must not go on. @throws as `note`.
   */
  async hold(grant: LiveGrant, lost: (why: SlipwayError) => void): Promise<() => void> {
    await this.note(grant);
    const timer = setInterval(() => {
      this.cover(grant).catch((error: unknown) => {
        if (this.isCovered(grant)) return;
        clearInterval(timer);
        lost(
          error instanceof SlipwayError
            ? error
            : new SlipwayError('service.unavailable', 'That you change something here cannot be written down.', {
                cause: error,
              }),
        );
      });
    }, AGAIN_MS).unref();
    return () => clearInterval(timer);
  }

  private isCovered({ id }: LiveGrant): boolean {
    return (this.covered.get(id) ?? Number.NEGATIVE_INFINITY) > this.options.now();
  }

  /** Counted from before the question: the database's own end of it is later. */
  private async cover({ id }: LiveGrant): Promise<void> {
    const until = this.options.now() + COVERED_SECONDS * 1_000;
    if (!(await this.options.steer(id, COVERED_SECONDS)))
      throw new SlipwayError('auth.missing', 'This access has ended.');
    this.covered.delete(id);
    this.covered.set(id, until);
    const [oldest] = this.covered.keys();
    if (this.covered.size > MAX_COVERED && oldest !== undefined) this.covered.delete(oldest);
  }
}
