import type { EgressClaims, EgressDecision, EgressQuestion } from '@slipway/contracts/sandboxes';
import { SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import type { Admitted } from '../admission/admitted.js';
import type { Destination } from '../admission/destination.js';
import { refused } from '../admission/refusal.js';
import type { Line } from '../lines/line.js';
import { cutOff, type OpenLines } from '../lines/open-lines.js';
import { ClosedHosts } from './closed-hosts.js';
import type { ControlClient } from './control-client.js';

/** How long what was allowed holds while app-server cannot be asked. Milliseconds. */
const PARTITION_MS = 60_000;
/** How often open connections are asked about although nothing was heard: rules end by themselves. Milliseconds. */
const RECHECK_MS = 20_000;
/** While a user is asked, how often app-server is asked again although nothing was heard. Milliseconds. */
const HELD_RECHECK_MS = 2_000;
/** Remembered decisions; the oldest go first. */
const MAX_REMEMBERED = 20_000;
/** Connections of one sandbox that wait for a user. */
const MAX_HELD = 16;
/** Questions of one sandbox under way, and those that wait for these: one sandbox does not keep app-server busy. */
const MAX_ASKING = 4;
const MAX_QUEUED = 256;

export interface EgressDecisionsOptions {
  readonly client: Pick<ControlClient, 'decide' | 'follow'>;
  /** How long a connection waits for a user. Milliseconds. */
  readonly holdMs: number;
  readonly lines: OpenLines;
  readonly logger: Logger;
  /** Called with each change that is heard. @param org `null`: any organization may have changed. */
  readonly onChange?: (org: string | null) => void;
  /** Milliseconds, of a clock that only goes forward. */
  readonly now?: () => number;
}

interface Asking {
  readonly claims: EgressClaims;
  readonly destination: Destination;
  readonly actionId: string | null;
  /** The installation lists the host. */
  readonly listed: boolean;
}

interface Turns {
  running: number;
  readonly queue: Array<() => void>;
}

interface Remembered {
  readonly org: string;
  readonly decision: EgressDecision;
  /** By `now`. */
  readonly at: number;
}

/**
 * What organizations decide of hosts: of those that the installation does not list, and where there is a
 * credential-broker of all. Never open by itself: without app-server a host that is not listed passes only if it was
 * allowed in the last minute, and what is open by app-server's word alone is cut after that minute. A listed host
 * passes then, unless this process has seen the organization close it or use a credential there.
 */
export class EgressDecisions {
  private readonly remembered = new Map<string, Remembered>();
  private readonly closed = new ClosedHosts();
  private readonly held = new Map<string, number>();
  /** By sandbox. */
  private readonly asking = new Map<string, Turns>();
  private readonly waiting = new Set<{ readonly org: string; readonly wake: () => void }>();
  /** Changes that were heard, of all organizations. */
  private changes = 0;
  /** When app-server allowed an open connection last, by `now`. */
  private readonly confirmed = new WeakMap<Line, number>();
  /** Open connections that the list let through while app-server could not be asked. */
  private readonly undecided = new WeakSet<Line>();
  private readonly closing = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private readonly now: () => number;
  private checkedAt: number;
  /** Whether changes are heard, so that app-server is there. */
  private hears = false;

  constructor(private readonly options: EgressDecisionsOptions) {
    this.now = options.now ?? (() => performance.now());
    this.checkedAt = this.now();
    const listener = {
      changed: (org: string | null): void => {
        this.hears = true;
        this.changed(org);
        options.onChange?.(org);
      },
      lost: (err: unknown): void => {
        this.hears = false;
        if (!this.closing.signal.aborted) options.logger.warn({ err }, 'changes of egress rules are not heard');
      },
    };
    void options.client.follow(listener, this.now, this.closing.signal);
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
        const answer = await this.decide(asking, null).catch((error: SlipwayError) => this.withoutApp(asking, error));
        if (answer === null) return { rule: null, listed: true, brokered: false, decided: false, changes };
        const { decision, rule, request, brokered } = answer;
        if (decision === 'allow' && (rule !== null || asking.listed))
          return { rule, listed: asking.listed, brokered, decided: true, changes };
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
  confirm(line: Line, { changes, decided }: Admitted): void {
    this.confirmed.set(line, this.now());
    if (!decided) this.undecided.add(line);
    if (changes !== this.changes) this.recheck((each) => each === line);
  }

  /**
   * What becomes of a connection about which app-server could not be asked. @returns `null`: the installation's list
   * lets it through. @throws the error of the question where it does not, or where the sandbox asks too much.
   */
  private withoutApp({ claims, destination, listed }: Asking, error: SlipwayError): null {
    if (!listed || error.code !== 'egress.undecided' || this.closed.has(claims, destination)) throw error;
    return null;
  }

  close(): void {
    clearInterval(this.timer);
    this.closing.abort();
  }

  /**
   * @param open what let a connection through that is open: what is remembered is no answer to that.
   * @throws SlipwayError `egress.undecided`, `egress.asked-too-often`
   */
  private async decide(
    { claims, destination, actionId, listed }: Asking,
    open: Pick<Admitted, 'rule'> | null,
  ): Promise<EgressDecision> {
    const key = keyOf({ claims, destination });
    const known = open === null ? this.remembered.get(key) : undefined;
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
      openedBy: open?.rule ?? null,
      listed,
    };
    try {
      // What is open is asked about at once, however many questions the sandbox has waiting.
      const ask = (): Promise<EgressDecision> => this.options.client.decide(question);
      const decision = await (open === null ? this.inTurn(claims.claim, ask) : ask());
      if (listed && (decision.brokered || decision.decision !== 'allow')) this.closed.add(claims, destination);
      // What has changed meanwhile is not in it.
      if (open === null && changes === this.changes) this.remember(key, { org: claims.org, decision, at: now });
      if (open !== null && (decision.brokered || decision.decision !== 'allow')) this.remembered.delete(key);
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

  /** @param org `null`: any may have. */
  private changed(org: string | null): void {
    const concerns = (each: { readonly org: string }): boolean => org === null || each.org === org;
    this.changes += 1;
    for (const [key, entry] of this.remembered) if (concerns(entry)) this.remembered.delete(key);
    for (const waiter of this.waiting) if (concerns(waiter)) waiter.wake();
    this.recheck(({ claims }) => concerns(claims));
  }

  /**
   * Asks again about what is open, and cuts what is no longer allowed, or no longer the same way: a host for which the
   * conversation has got a credential is not open past credential-broker.
   */
  private recheck(which: (line: Line) => boolean): void {
    const alike = new Map<string, Line[]>();
    for (const line of this.options.lines) {
      if (line.admitted === null || !which(line)) continue;
      const key = `${keyOf(line)} ${line.admitted.rule}`;
      const lines = alike.get(key);
      if (lines === undefined) alike.set(key, [line]);
      else lines.push(line);
    }
    for (const lines of alike.values()) {
      const [line] = lines;
      if (line === undefined || line.admitted === null) continue;
      const { admitted } = line;
      this.decide({ ...line, actionId: null, listed: admitted.listed }, admitted).then(
        ({ decision, brokered }) => {
          for (const line of lines) {
            this.confirmed.set(line, this.now());
            this.undecided.delete(line);
            if (decision !== 'allow' || brokered !== line.admitted?.brokered) cutOff(line, 'revoked');
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
      if (needsApp(line) && now - (this.confirmed.get(line) ?? now) >= PARTITION_MS) cutOff(line, 'undecided');
    const all = now - this.checkedAt >= RECHECK_MS;
    if (all) this.checkedAt = now;
    // What passed because one question failed is asked about as soon as app-server is there.
    if (all || this.hears) this.recheck((line) => all || this.undecided.has(line));
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

/** Whether a connection holds by app-server's word alone. */
function needsApp({ admitted }: Line): boolean {
  return admitted !== null && (!admitted.listed || admitted.brokered);
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
