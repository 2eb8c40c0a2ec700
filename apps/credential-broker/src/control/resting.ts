import { setTimeout as sleep } from 'node:timers/promises';
import type { BrokerLine, ReflectedCredential } from '@slipway/contracts/credentials';
import type { Logger } from '@slipway/telemetry';
import type { HeldCredential } from '../judge/credential.js';
import type { Available } from '../judge/judge-request.js';
import type { HeldAnswer } from './held-answer.js';

/** Remembered credentials that rest; the oldest go first: app-server knows them too by then. */
const MAX_RESTING = 10_000;
const RETRY_MS = 1_000;
const RETRY_MAX_MS = 30_000;

/**
 * Credentials whose value was sent back by a host. They rest here at once, and everywhere as soon as app-server has
 * heard it; the report is repeated until then.
 */
export class Resting {
  /** By credential; when app-server had heard it. */
  private readonly resting = new Map<string, { reportedAt: number }>();
  private readonly closing = new AbortController();

  constructor(
    private readonly report: (body: ReflectedCredential) => Promise<void>,
    private readonly logger: Logger,
    /** Milliseconds, of a clock that only goes forward: that of the answers. */
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Lets a credential rest. @returns false where it did before. */
  begin({ id }: HeldCredential, { claim, org, conversation, host }: BrokerLine): boolean {
    if (this.resting.has(id)) return false;
    const entry = { reportedAt: Number.POSITIVE_INFINITY };
    this.resting.set(id, entry);
    if (this.resting.size > MAX_RESTING) this.resting.delete(this.resting.keys().next().value as string);
    void this.send({ claim, org, conversation, credential: id, host }, entry);
    return true;
  }

  /** What of an answer may be used, and the names of what rests. */
  of(answer: HeldAnswer): Available {
    const now = this.now();
    const isOver = ({ endsAt }: HeldCredential): boolean => endsAt <= now;
    if (this.resting.size === 0 && !answer.credentials.some(isOver)) return answer;
    const namesOf = (those: readonly HeldCredential[]): string[] => those.map(({ name }) => name);
    const resting = answer.credentials.filter((each) => this.has(each, answer));
    const expired = answer.credentials.filter((each) => isOver(each) && !resting.includes(each));
    const { rules, observes, minAgeDays } = answer;
    return {
      credentials: answer.credentials.filter((each) => !resting.includes(each) && !expired.includes(each)),
      resting: [...answer.resting, ...namesOf(resting)],
      expired: [...answer.expired, ...namesOf(expired)],
      rules,
      observes,
      minAgeDays,
    };
  }

  close(): void {
    this.closing.abort();
  }

  private has({ id }: HeldCredential, answer: HeldAnswer): boolean {
    const entry = this.resting.get(id);
    if (entry === undefined) return false;
    if (answer.at <= entry.reportedAt) return true;
    // app-server gives it although it knows: an admin has put it into use again.
    this.resting.delete(id);
    return false;
  }

  private async send(body: ReflectedCredential, entry: { reportedAt: number }): Promise<void> {
    const { signal } = this.closing;
    for (let pauseMs = RETRY_MS; !signal.aborted; pauseMs = Math.min(pauseMs * 2, RETRY_MAX_MS)) {
      try {
        await this.report(body);
        entry.reportedAt = this.now();
        return;
      } catch (error) {
        this.logger.warn(
          { err: error, org_id: body.org, credential: body.credential },
          'reflected credential not reported, will retry',
        );
        await sleep(pauseMs, undefined, { signal }).catch(() => {});
      }
    }
  }
}
