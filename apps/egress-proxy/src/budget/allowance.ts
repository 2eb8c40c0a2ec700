import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EgressBytes, type EgressBytesQuestion, MAX_EGRESS_GRANT_BYTES } from '@slipway/contracts/sandboxes';

/** First reservation; each doubles the one before, so that a large upload asks seldom and a small one holds little. */
const FIRST_BYTES = 64 * 1024;
/** How long a connection waits when app-server cannot be asked, and how often it is asked then. Milliseconds. */
const PATIENCE_MS = 10_000;
const RETRY_MS = 500;
/** How long a refusal is remembered: a sandbox that goes on sending does not have app-server asked for each byte. */
const REFUSED_MS = 1_000;

export interface Spender {
  readonly org: string;
  readonly conversation: string | null;
  readonly host: string;
}

/** Why nothing more may be sent. `undecided`: app-server could not be asked. */
export type Refusal =
  | { readonly why: 'budget'; readonly over: 'conversation' | 'host'; readonly renewsAt: string }
  | { readonly why: 'undecided' };

export interface AllowanceOptions {
  readonly ask: (question: EgressBytesQuestion) => Promise<EgressBytes>;
  /** Milliseconds, of a clock that only goes forward. */
  readonly now: () => number;
  /** Aborted when the process ends: nobody is waited for then. */
  readonly closing: AbortSignal;
}

/**
 * What the connections of one conversation to one host may still send. Bytes are reserved at app-server before they are
 * sent; what is left when the last connection has closed is given back. What a process that dies had reserved counts as
 * sent.
 */
export class Allowance {
  private grant: { readonly id: string; readonly bytes: number } | null = null;
  private left = 0;
  private size = FIRST_BYTES;
  private asking: Promise<Refusal | null> | null = null;
  private refused: { readonly refusal: Refusal; readonly until: number } | null = null;
  /** The organization has taken its budget back. */
  private unlimited = false;
  /** Times that another budget may have come to hold: what was asked before is no answer after that. */
  private changes = 0;

  constructor(
    readonly spender: Spender,
    private readonly options: AllowanceOptions,
  ) {}

  /** At once, from what is reserved. */
  tryTake(bytes: number): boolean {
    if (this.unlimited) return true;
    if (this.left < bytes) return false;
    this.left -= bytes;
    return true;
  }

  /** Waits for a reservation. All of the bytes may be sent, or none of them. @returns why not; `null`: they may. */
  async take(bytes: number): Promise<Refusal | null> {
    for (;;) {
      if (this.tryTake(bytes)) return null;
      if (this.refused !== null && this.options.now() < this.refused.until) return this.refused.refusal;
      const refusal = await this.ask(bytes, PATIENCE_MS);
      if (refusal !== null) return this.tryTake(bytes) ? null : refusal;
    }
  }

  /** Makes sure of a first byte, without waiting for an app-server that is away. */
  async begin(): Promise<{ readonly limited: boolean; readonly refusal: Refusal | null }> {
    for (;;) {
      if (this.left > 0) return { limited: true, refusal: null };
      const refusal = await this.ask(1, 0);
      if (this.unlimited) return { limited: false, refusal: null };
      if (refusal !== null) return { limited: true, refusal: this.left > 0 ? null : refusal };
    }
  }

  /**
   * Nothing is open any more: gives back what is left.
   * @returns false when app-server could not be reached: what is left counts as sent.
   */
  async settle(): Promise<boolean> {
    await this.asking;
    const settled = this.over();
    if (settled.length === 0) return true;
    return (await this.patiently({ ...this.spender, settled, reserve: null }, PATIENCE_MS)) !== null;
  }

  /** Another budget may hold. */
  reconsider(): void {
    this.changes += 1;
    this.refused = null;
    this.unlimited = false;
  }

  /** One question at a time, whoever waits for it. */
  private ask(bytes: number, patienceMs: number): Promise<Refusal | null> {
    this.asking ??= this.reserve(bytes, patienceMs).finally(() => {
      this.asking = null;
    });
    return this.asking;
  }

  private async reserve(bytes: number, patienceMs: number): Promise<Refusal | null> {
    const { changes } = this;
    const settled = this.over();
    const reserve = {
      grant: randomBytes(18).toString('base64url'),
      bytes: Math.min(Math.max(bytes, this.size), MAX_EGRESS_GRANT_BYTES),
    };
    const answer = await this.patiently({ ...this.spender, settled, reserve }, patienceMs);
    if (answer === null) return this.refuse({ why: 'undecided' });
    if (!answer.limited) {
      this.unlimited = changes === this.changes;
      return null;
    }
    if (answer.bytes === 0)
      return this.refuse({ why: 'budget', over: answer.over ?? 'conversation', renewsAt: answer.renewsAt });
    this.grant = { id: reserve.grant, bytes: answer.bytes };
    this.left = answer.bytes;
    this.size = Math.min(this.size * 2, MAX_EGRESS_GRANT_BYTES);
    this.refused = null;
    if (answer.bytes >= bytes) return null;
    // The last of it: smaller ones may still be sent.
    return { why: 'budget', over: 'conversation', renewsAt: answer.renewsAt };
  }

  private refuse(refusal: Refusal): Refusal {
    this.refused = { refusal, until: this.options.now() + REFUSED_MS };
    return refusal;
  }

  /** The grant that there was, as it is now. */
  private over(): EgressBytesQuestion['settled'] {
    if (this.grant === null) return [];
    const { id, bytes } = this.grant;
    const settled = [{ grant: id, used: bytes - this.left }];
    this.grant = null;
    this.left = 0;
    return settled;
  }

  /** The same question until it is answered: the same grant is the same reservation. @returns `null`: it was not. */
  private async patiently(question: EgressBytesQuestion, patienceMs: number): Promise<EgressBytes | null> {
    const { ask, now, closing } = this.options;
    for (const until = now() + patienceMs; ; ) {
      const answer = await ask(question).catch(() => null);
      if (answer !== null) return answer;
      if (closing.aborted || now() + RETRY_MS >= until) return null;
      await sleep(RETRY_MS, undefined, { signal: closing }).catch(() => {});
    }
  }
}
