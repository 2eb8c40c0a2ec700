import type { EgressClaims } from '@slipway/contracts/sandboxes';
import { SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import type { Destination } from '../admission/destination.js';
import type { ControlClient } from '../control/control-client.js';
import type { Line } from '../lines/line.js';
import { cutOff, type OpenLines } from '../lines/open-lines.js';
import { Allowance, type Refusal } from './allowance.js';

/** Organizations of which it is remembered whether they have a budget; the oldest go first. */
const MAX_ORGS = 20_000;
/** Before app-server is asked again about a connection when it could not be. Milliseconds. */
const RECHECK_MS = 1_000;

export interface EgressBudgetsOptions {
  readonly client: Pick<ControlClient, 'bytes'>;
  readonly lines: OpenLines;
  readonly logger: Logger;
  /** Milliseconds, of a clock that only goes forward. */
  readonly now?: () => number;
}

/** What a connection is opened with. */
export interface Opened {
  /** `null`: the organization has no budget. */
  readonly allowance: Allowance | null;
  /** `false`: app-server could not be asked. */
  readonly decided: boolean;
  /** Count of changes when it was asked. */
  readonly changes: number;
}

/**
 * What conversations may still send, for organizations with an egress budget. While app-server cannot be asked, an
 * organization that is known to have one sends what was reserved and no more; one that is known to have none, or of
 * which nothing is known since this process began, is not held up, and asked about as soon as app-server is heard.
 */
export class EgressBudgets {
  private readonly allowances = new Map<string, { readonly allowance: Allowance; connections: number }>();
  private readonly limited = new Map<string, boolean>();
  /** That were heard: what was asked before one is no answer after it. */
  private changes = 0;
  private readonly settling = new Set<Promise<void>>();
  private readonly closing = new AbortController();

  constructor(private readonly options: EgressBudgetsOptions) {}

  /**
   * Called for each connection before it is made, `confirm` once it is among the open ones, and `release` once it has
   * ended.
   * @throws SlipwayError `egress.over-budget`, `egress.undecided`.
   */
  async open(claims: EgressClaims, destination: Destination): Promise<Opened> {
    const { org } = claims;
    const { changes } = this;
    if (this.limited.get(org) === false) return { allowance: null, decided: true, changes };
    const allowance = this.join(claims, destination);
    const { limited, refusal } = await allowance.begin();
    const decided = refusal?.why !== 'undecided';
    if (decided) this.remember(org, limited, changes);
    if (limited && refusal === null) return { allowance, decided, changes };
    this.release(allowance);
    if (refusal !== null && (decided || this.limited.get(org) === true)) throw overBudget(refusal, destination.host);
    return { allowance: null, decided, changes };
  }

  /** Asks again about what could not be asked, or may have changed, since a connection was opened. */
  confirm(line: Line, { allowance, decided, changes }: Opened): void {
    if (allowance === null && !(decided && changes === this.changes)) void this.recheck(line);
  }

  /** A connection that was opened with it has ended. */
  release(allowance: Allowance): void {
    const key = keyOf(allowance.spender);
    const entry = this.allowances.get(key);
    if (entry?.allowance !== allowance || --entry.connections > 0) return;
    this.allowances.delete(key);
    const settling = this.settle(allowance);
    this.settling.add(settling);
    void settling.finally(() => this.settling.delete(settling));
  }

  private async settle(allowance: Allowance): Promise<void> {
    if (await allowance.settle()) return;
    const { org, conversation, host } = allowance.spender;
    this.options.logger.warn(
      { org_id: org, conversation_id: conversation, host },
      'bytes that were reserved and not sent count as sent: app-server could not be reached',
    );
  }

  /** @param org whose settings may have changed; `null`: any may have. */
  changed(org: string | null): void {
    this.changes += 1;
    if (org === null) this.limited.clear();
    else this.limited.delete(org);
    for (const { allowance } of this.allowances.values())
      if (org === null || allowance.spender.org === org) allowance.reconsider();
    const free = new Map<string, Line>();
    for (const line of this.options.lines)
      if (line.allowance === null && (org === null || line.claims.org === org)) free.set(line.claims.org, line);
    for (const line of free.values()) void this.recheck(line);
  }

  /** What was reserved and not sent is given back. */
  async close(): Promise<void> {
    this.closing.abort();
    for (const { allowance } of this.allowances.values()) {
      this.allowances.set(keyOf(allowance.spender), { allowance, connections: 1 });
      this.release(allowance);
    }
    await Promise.all(this.settling);
  }

  /** Connections from the time without a budget are cut where there is one now; they are made anew within it. */
  private async recheck(line: Line): Promise<void> {
    const { claims, destination } = line;
    const { changes } = this;
    const question = { ...spenderOf(claims, destination), settled: [], reserve: null };
    const answer = await this.options.client.bytes(question).catch(() => null);
    if (answer === null) {
      if (!this.closing.signal.aborted && !line.socket.destroyed)
        setTimeout(() => void this.recheck(line), RECHECK_MS).unref();
      return;
    }
    this.remember(claims.org, answer.limited, changes);
    if (!answer.limited) return;
    for (const each of this.options.lines)
      if (each.allowance === null && each.claims.org === claims.org) cutOff(each, 'budget');
  }

  private join(claims: EgressClaims, destination: Destination): Allowance {
    const spender = spenderOf(claims, destination);
    const key = keyOf(spender);
    const known = this.allowances.get(key);
    if (known !== undefined) {
      known.connections += 1;
      return known.allowance;
    }
    const allowance = new Allowance(spender, {
      ask: (question) => this.options.client.bytes(question),
      now: this.options.now ?? (() => performance.now()),
      closing: this.closing.signal,
    });
    this.allowances.set(key, { allowance, connections: 1 });
    return allowance;
  }

  private remember(org: string, limited: boolean, changes: number): void {
    if (changes !== this.changes) return;
    this.limited.delete(org);
    this.limited.set(org, limited);
    if (this.limited.size > MAX_ORGS) this.limited.delete(this.limited.keys().next().value as string);
  }
}

/** In words for the program that sends. */
export function overBudget(refusal: Refusal, host: string): SlipwayError {
  if (refusal.why === 'undecided')
    return new SlipwayError('egress.undecided', `How much may be sent to ${host} cannot be decided now.`, {
      retryAfterSeconds: 5,
      extensions: { reason: 'undecided' },
    });
  const whose = refusal.over === 'host' ? `to ${host}` : 'of this conversation';
  return new SlipwayError(
    'egress.over-budget',
    `The egress budget ${whose} is used up. It renews at ${refusal.renewsAt}, or an admin raises it.`,
    { extensions: { reason: 'budget' } },
  );
}

const spenderOf = ({ org, conversation }: EgressClaims, { host }: Destination): Allowance['spender'] => ({
  org,
  conversation: conversation ?? null,
  host,
});

const keyOf = ({ org, conversation, host }: Allowance['spender']): string => `${org} ${conversation} ${host}`;
