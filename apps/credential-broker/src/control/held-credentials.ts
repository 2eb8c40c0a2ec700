import type { BrokerLine } from '@slipway/contracts/credentials';
import type { Logger } from '@slipway/telemetry';
import { refused } from '../judge/refusal.js';
import type { ControlClient } from './control-client.js';
import { HeldAnswer } from './held-answer.js';

/** Remembered answers; the oldest go first. */
const MAX_REMEMBERED = 5_000;
/** How often one question is asked again because something changed while it was on its way. */
const MAX_ATTEMPTS = 5;
const SWEEP_MS = 1_000;

export interface HeldCredentialsOptions {
  readonly client: Pick<ControlClient, 'open' | 'follow'>;
  readonly logger: Logger;
  /** Called after each change that was heard. @param org `null`: any may have. */
  readonly changed: (org: string | null) => void;
  /** Milliseconds, of a clock that only goes forward. */
  readonly now?: () => number;
}

interface Asking {
  readonly org: string;
  readonly answer: Promise<HeldAnswer>;
  /** Something of the organization has changed since it was asked. */
  stale: boolean;
}

/**
 * What conversations may use, in memory alone: for as long as app-server says, and until something of their
 * organization changes. While changes are not heard nothing is remembered.
 */
export class HeldCredentials {
  private readonly remembered = new Map<string, HeldAnswer>();
  private readonly asking = new Map<string, Asking>();
  private readonly closing = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private readonly now: () => number;
  private hears = false;

  constructor(private readonly options: HeldCredentialsOptions) {
    this.now = options.now ?? (() => performance.now());
    const listener = {
      changed: (org: string | null): void => {
        this.hears = true;
        this.changed(org);
      },
      lost: (err: unknown): void => {
        this.hears = false;
        this.forget(() => true);
        if (!this.closing.signal.aborted) options.logger.warn({ err }, 'changes of credentials are not heard');
      },
    };
    void options.client.follow(listener, this.now, this.closing.signal);
    this.timer = setInterval(() => this.forget((answer) => answer.until <= this.now()), SWEEP_MS).unref();
  }

  /**
   * @returns the answer, taken; the caller releases it.
   * @throws SlipwayError `credential.undecided`
   */
  async lease(line: BrokerLine): Promise<HeldAnswer> {
    const key = [line.org, line.claim, line.conversation, line.host, line.port].join('\n');
    for (let attempt = 1; ; attempt += 1) {
      const known = this.remembered.get(key);
      if (known !== undefined && known.until > this.now()) {
        known.take();
        return known;
      }
      const asking = this.asking.get(key) ?? this.ask(key, line);
      const answer = await asking.answer.catch((error: unknown) => {
        this.options.logger.warn({ err: error, org_id: line.org, host: line.host }, 'credentials could not be opened');
        throw undecided(line.host);
      });
      if (!asking.stale) {
        // Whoever waited for the same answer may have released it already, if it is not remembered.
        answer.take();
        if (!this.remembered.has(key)) queueMicrotask(() => answer.forget());
        return answer;
      }
      answer.forget();
      if (attempt >= MAX_ATTEMPTS) throw undecided(line.host);
    }
  }

  close(): void {
    clearInterval(this.timer);
    this.closing.abort();
    this.forget(() => true);
  }

  private ask(key: string, { claim, org, conversation, host, port }: BrokerLine): Asking {
    const at = this.now();
    const asking: Asking = {
      org,
      stale: false,
      answer: this.options.client.open({ claim, org, conversation, host, port }).then((opened) => {
        const answer = new HeldAnswer(org, opened, at);
        if (this.hears && !asking.stale && opened.ttlMs > 0) this.remember(key, answer);
        return answer;
      }),
    };
    this.asking.set(key, asking);
    const over = (): void => void (this.asking.get(key) === asking && this.asking.delete(key));
    asking.answer.then(over, over);
    return asking;
  }

  private remember(key: string, answer: HeldAnswer): void {
    this.remembered.get(key)?.forget();
    this.remembered.delete(key);
    this.remembered.set(key, answer);
    if (this.remembered.size <= MAX_REMEMBERED) return;
    const [oldest] = this.remembered.keys();
    if (oldest === undefined) return;
    this.remembered.get(oldest)?.forget();
    this.remembered.delete(oldest);
  }

  private forget(which: (answer: HeldAnswer) => boolean): void {
    for (const [key, answer] of this.remembered) {
      if (!which(answer)) continue;
      this.remembered.delete(key);
      answer.forget();
    }
  }

  private changed(org: string | null): void {
    const concerns = (each: { readonly org: string }): boolean => org === null || each.org === org;
    this.forget(concerns);
    for (const [key, asking] of this.asking) {
      if (!concerns(asking)) continue;
      asking.stale = true;
      this.asking.delete(key);
    }
    this.options.changed(org);
  }
}

const undecided = (host: string) =>
  refused('credential.undecided', 'undecided', `Which credential may be used at ${host} cannot be decided now.`);
