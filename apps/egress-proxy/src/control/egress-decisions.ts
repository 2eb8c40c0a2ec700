import { setTimeout as sleep } from 'node:timers/promises';
import type { EgressClaims, EgressDecision, EgressQuestion } from '@slipway/contracts/sandboxes';
import { SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import type { Destination } from '../admission/destination.js';
import { refused } from '../admission/refusal.js';
import type { Line } from '../lines/line.js';
import { cutOff, type OpenLines } from '../lines/open-lines.js';
import type { ControlClient } from './control-client.js';

/** How long what was allowed holds while app-server cannot be asked. Milliseconds. */
const PARTITION_MS = 60_000;
/** How often open connections are asked about although nothing was heard: rules end by themselves. Milliseconds. */
const RECHECK_MS = 20_000;
/** While a user is asked, how often app-server is asked again although nothing was heard. Milliseconds. */
const HELD_RECHECK_MS = 2_000;
/** Pauses between attempts to hear changes. Milliseconds. */
const RETRY_MIN_MS = 50;
const RETRY_MAX_MS = 1_000;
/** After so long a stream that has ended is begun anew without a pause to speak of. Milliseconds. */
const LASTING_MS = 5_000;
/** Remembered decisions; the oldest go first. */
const MAX_REMEMBERED = 20_000;
/** Connections of one sandbox that wait for a user. */
const MAX_HELD = 16;
/** Questions of one sandbox under way, and those that wait for these: one sandbox does not keep app-server busy. */
const MAX_ASKING = 4;
const MAX_QUEUED = 256;

export interface EgressDecisionsOptions {
  readonly client: Pick<ControlClient, 'decide' | 'changes'>;
  /** How long a connection waits for a user. Milliseconds. */
  readonly holdMs: number;
  readonly lines: OpenLines;
  readonly logger: Logger;
  /** Milliseconds, of a clock that only goes forward. */
  readonly now?: () => number;
}

interface Asking {
  readonly claims: EgressClaims;
  readonly destination: Destination;
  readonly actionId: string | null;
}

interface Turns {
  running: number;
  readonly queue: Array<() => void>;
}

/** What let a connection through. */
export interface Admitted {
  readonly rule: string;
  /** Count of changes when it did: what has changed since was not known. */
  readonly changes: number;
}

interface Remembered {
  readonly org: string;
  readonly decision: EgressDecision;
  /** By `now`. */
  readonly at: number;
}

/**
 * What organizations decide of hosts that the installation does not list. Never open by itself: without app-server
 * only what it has allowed in the last minute passes, and what is open by its word is cut after that minute.
 */
export class EgressDecisions {
  private readonly remembered = new Map<string, Remembered>();
  private readonly held = new Map<string, number>();
  /** By sandbox. */
  private readonly asking = new Map<string, Turns>();
  private readonly waiting = new Set<{ readonly org: string; readonly wake: () => void }>();
  /** Changes that were heard, of all organizations. */
  private changes = 0;
  /** When app-server allowed an open connection last, by `now`. */
  private readonly confirmed = new WeakMap<Line, number>();
  private readonly closing = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private readonly now: () => number;
  private checkedAt = 0;

  constructor(private readonly options: EgressDecisionsOptions) {
    this.now = options.now ?? (() => performance.now());
    void this.listen();
    this.timer = setInterval(() => this.sweep(), 1_000).unref();
  }

  /**
   * Waits for a user where one is asked.
   * @throws SlipwayError `egress.refused`, `egress.asked`, `egress.asked-too-often`, `egress.undecided`.
   */
  async admit(asking: Asking, gone: AbortSignal): Promise<Admitted> {
    const { claims, destination } = asking;
    const until = this.now() + this.options.holdMs;
    let holds = false;
    try {
      for (;;) {
        const { changes } = this;
        const { decision, rule, request } = await this.decide(asking, null);
        if (decision === 'allow' && rule !== null) return { rule, changes };
        if (decision === 'too-many') throw tooOften();
        if (decision !== 'ask') throw denied(destination);
        const left = until - this.now();
        if (left <= 0 || gone.aborted || this.closing.signal.aborted) throw asked(destination, request);
        if (!holds && !this.hold(claims.claim)) throw asked(destination, request);
        holds = true;
        // What changed while the answer was on its way is asked about at once.
        if (changes === this.changes) await this.change(claims.org, Math.min(left, HELD_RECHECK_MS), gone);
        this.remembered.delete(keyOf(asking));
      }
    } finally {
      if (holds) this.release(claims.claim);
    }
  }

  /** Once a connection is among the open ones: asks again if anything has changed since it was admitted. */
  confirm(line: Line, { changes }: Admitted): void {
    this.confirmed.set(line, this.now());
    if (changes !== this.changes) this.recheck((each) => each === line);
  }

  close(): void {
    clearInterval(this.timer);
    this.closing.abort();
  }

  /** @throws SlipwayError `egress.undecided` */
  private async decide({ claims, destination, actionId }: Asking, openedBy: string | null): Promise<EgressDecision> {
    const key = keyOf({ claims, destination });
    const known = openedBy === null ? this.remembered.get(key) : undefined;
    const { changes } = this;
    const now = this.now();
    if (known !== undefined && now - known.at < known.decision.ttlMs) return known.decision;
    const question: EgressQuestion = {
      claim: claims.claim,
      org: claims.org,
      conversation: claims.conversation ?? null,
      host: destination.host,
      port: destination.port,
      actionId,
      openedBy,
      listed: false,
    };
    try {
      // What is open is asked about at once, however many questions the sandbox has waiting.
      const ask = (): Promise<EgressDecision> => this.options.client.decide(question);
      const decision = await (openedBy === null ? this.inTurn(claims.claim, ask) : ask());
      // What has changed meanwhile is not in it.
      if (openedBy === null && changes === this.changes) this.remember(key, { org: claims.org, decision, at: now });
      return decision;
    } catch (error) {
      if (error instanceof SlipwayError) throw error;
      // As long as what was allowed may hold without app-server.
      if (known?.decision.decision === 'allow' && this.now() - known.at < PARTITION_MS) return known.decision;
      this.options.logger.warn({ err: error, org_id: claims.org, host: destination.host }, 'app-server did not decide');
      throw new SlipwayError('egress.undecided', `Whether ${destination.host} may be reached cannot be decided now.`, {
        retryAfterSeconds: 5,
        extensions: { reason: 'undecided' },
      });
    }
  }

  /** @throws SlipwayError `egress.asked-too-often` */
  private async inTurn<T>(claim: string, work: () => Promise<T>): Promise<T> {
    const turns = this.asking.get(claim) ?? { running: 0, queue: [] };
    this.asking.set(claim, turns);
    if (turns.running >= MAX_ASKING) {
      if (turns.queue.length >= MAX_QUEUED) throw tooOften();
      await new Promise<void>((resolve) => turns.queue.push(resolve));
    } else turns.running += 1;
    try {
      return await work();
    } finally {
      // The turn is handed on.
      const next = turns.queue.shift();
      if (next !== undefined) next();
      else if (--turns.running === 0) this.asking.delete(claim);
    }
  }

  private remember(key: string, entry: Remembered): void {
    this.remembered.delete(key);
    this.remembered.set(key, entry);
    if (this.remembered.size > MAX_REMEMBERED) this.remembered.delete(this.remembered.keys().next().value as string);
  }

  /** Hears changes for as long as the process lives. */
  private async listen(): Promise<void> {
    const { signal } = this.closing;
    for (let pauseMs = RETRY_MIN_MS; !signal.aborted; ) {
      let openedAt = Number.POSITIVE_INFINITY;
      try {
        await this.options.client.changes(
          () => {
            openedAt = this.now();
            // Whatever was said meanwhile was missed.
            this.changed(null);
          },
          ({ org }) => {
            if (org !== undefined) this.changed(org);
          },
          signal,
        );
      } catch (error) {
        if (signal.aborted) return;
        this.options.logger.warn({ err: error }, 'changes of egress rules are not heard');
        // One that ends at once each time is no better than none.
        if (this.now() - openedAt >= LASTING_MS) pauseMs = RETRY_MIN_MS;
        await sleep(pauseMs, undefined, { signal }).catch(() => {});
        pauseMs = Math.min(pauseMs * 2, RETRY_MAX_MS);
      }
    }
  }

  /** @param org `null`: any may have. */
  private changed(org: string | null): void {
    const concerns = (each: { readonly org: string }): boolean => org === null || each.org === org;
    this.changes += 1;
    for (const [key, entry] of this.remembered) if (concerns(entry)) this.remembered.delete(key);
    for (const waiter of this.waiting) if (concerns(waiter)) waiter.wake();
    this.recheck(({ claims }) => concerns(claims));
  }

  /** Asks again about what is open by an organization's word, and cuts what is no longer allowed. */
  private recheck(which: (line: Line) => boolean): void {
    const alike = new Map<string, Line[]>();
    for (const line of this.options.lines) {
      if (line.rule === null || !which(line)) continue;
      const key = `${keyOf(line)} ${line.rule}`;
      const lines = alike.get(key);
      if (lines === undefined) alike.set(key, [line]);
      else lines.push(line);
    }
    for (const lines of alike.values()) {
      const [line] = lines;
      if (line === undefined) continue;
      this.decide({ ...line, actionId: null }, line.rule).then(
        ({ decision }) => {
          for (const line of lines) {
            this.confirmed.set(line, this.now());
            if (decision !== 'allow') cutOff(line, 'revoked');
          }
        },
        // Asked again at the next sweep; after a minute they are cut.
        () => {},
      );
    }
  }

  private sweep(): void {
    const now = this.now();
    // A beat of the stream is no decision: each connection has been allowed within the last minute, or is cut.
    for (const line of this.options.lines)
      if (line.rule !== null && now - (this.confirmed.get(line) ?? now) >= PARTITION_MS) cutOff(line, 'undecided');
    if (now - this.checkedAt < RECHECK_MS) return;
    this.checkedAt = now;
    this.recheck(() => true);
  }

  private hold(claim: string): boolean {
    const count = this.held.get(claim) ?? 0;
    if (count >= MAX_HELD) return false;
    this.held.set(claim, count + 1);
    return true;
  }

  private release(claim: string): void {
    const count = (this.held.get(claim) ?? 1) - 1;
    if (count === 0) this.held.delete(claim);
    else this.held.set(claim, count);
  }

  /** Until something of the organization changes, the time is over, or nobody waits any more. */
  private async change(org: string, withinMs: number, gone: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = (): void => resolve();
    const waiter = { org, wake };
    const ended = AbortSignal.any([gone, this.closing.signal]);
    const timer = setTimeout(wake, withinMs);
    this.waiting.add(waiter);
    ended.addEventListener('abort', wake, { once: true });
    await promise;
    ended.removeEventListener('abort', wake);
    this.waiting.delete(waiter);
    clearTimeout(timer);
  }
}

function keyOf({ claims, destination }: Pick<Asking, 'claims' | 'destination'>): string {
  return `${claims.claim} ${destination.host} ${destination.port}`;
}

function denied({ host, port }: Destination): SlipwayError {
  return refused(
    'rule',
    `${host}:${port} is not open to sandboxes of this organization. An admin can write a rule: Admin, Network.`,
  );
}

function asked({ host, port }: Destination, request: string | null): SlipwayError {
  return new SlipwayError(
    'egress.asked',
    `a user was asked whether ${host}:${port} may be reached${request === null ? '' : ` (${request})`}.`,
    { retryAfterSeconds: 30, extensions: { reason: 'asked' } },
  );
}

function tooOften(): SlipwayError {
  return new SlipwayError('egress.asked-too-often', 'This sandbox asks for too many hosts.', {
    retryAfterSeconds: 300,
    extensions: { reason: 'asked-too-often' },
  });
}
