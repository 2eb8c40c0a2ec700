import type { BrokerLine } from '@slipway/contracts/credentials';
import { cutTunnel, type Tunnel } from '../intake/tunnel.js';
import type { HeldAnswer } from './held-answer.js';

const SWEEP_MS = 1_000;
/** How often tunnels that used a credential are asked about although nothing was heard. Milliseconds. */
const RECHECK_MS = 20_000;
/** How long one goes on while app-server cannot be asked. Milliseconds. */
const PARTITION_MS = 60_000;

/**
 * The connections of sandboxes that are open. One that has used a credential is cut when it may not be used any more,
 * and one with a request that no rule allows any more: at once after a change that was heard, within a minute where
 * changes cannot be heard.
 */
export class OpenTunnels {
  private readonly tunnels = new Set<Tunnel>();
  private readonly bySandbox = new Map<string, number>();
  private readonly timer: NodeJS.Timeout;
  private emptied: () => void = () => {};

  constructor(
    private readonly lease: (line: BrokerLine) => Promise<HeldAnswer>,
    private readonly cut: (why: NonNullable<Tunnel['cut']>) => void,
    /** Milliseconds, of a clock that only goes forward. */
    private readonly now: () => number = () => performance.now(),
  ) {
    this.timer = setInterval(() => this.sweep(), SWEEP_MS).unref();
  }

  get size(): number {
    return this.tunnels.size;
  }

  /** Of one sandbox. */
  countOf(claim: string): number {
    return this.bySandbox.get(claim) ?? 0;
  }

  /** Until it has closed. */
  add(tunnel: Tunnel): void {
    const { claim } = tunnel.line;
    this.tunnels.add(tunnel);
    this.bySandbox.set(claim, this.countOf(claim) + 1);
    tunnel.socket.once('close', () => {
      this.tunnels.delete(tunnel);
      const left = this.countOf(claim) - 1;
      if (left === 0) this.bySandbox.delete(claim);
      else this.bySandbox.set(claim, left);
      if (this.tunnels.size === 0) this.emptied();
    });
  }

  /** Asks again about tunnels that used a credential or have a request under way. @param org `null`: any may have. */
  changed(org: string | null): void {
    for (const tunnel of this.tunnels)
      if (isConcerned(tunnel) && (org === null || tunnel.line.org === org)) void this.recheck(tunnel, org !== null);
  }

  /** Ends what is idle, waits until all have ended by themselves, for at most so long; then ends them. Milliseconds. */
  async settle(withinMs: number): Promise<void> {
    for (const { busy, socket } of this.tunnels) if (busy === 0) socket.destroySoon();
    if (this.tunnels.size > 0)
      await new Promise<void>((resolve) => {
        const late = setTimeout(resolve, withinMs);
        this.emptied = () => {
          clearTimeout(late);
          resolve();
        };
      });
    this.endAll();
  }

  close(): void {
    clearInterval(this.timer);
    this.endAll();
  }

  private endAll(): void {
    for (const tunnel of this.tunnels) this.end(tunnel, 'stopping');
  }

  /** @param changed something is known to have changed: without an answer it is cut. */
  private async recheck(tunnel: Tunnel, changed: boolean): Promise<void> {
    const askedAt = this.now();
    let answer: HeldAnswer;
    try {
      answer = await this.lease(tunnel.line);
    } catch {
      if (changed) this.end(tunnel, 'undecided');
      return;
    }
    const uses = new Map(answer.credentials.map(({ id, use }) => [id, JSON.stringify(use)]));
    const ends = answer.credentials.filter(({ id }) => tunnel.used.has(id)).map(({ endsAt }) => endsAt);
    const stopped = [...tunnel.running].some((mayGoOn) => !mayGoOn(answer));
    answer.release();
    if (stopped) return this.end(tunnel, 'revoked');
    tunnel.confirmedAt = askedAt;
    tunnel.endsAt = Math.min(Number.POSITIVE_INFINITY, ...ends);
    for (const [id, use] of tunnel.used) if (uses.get(id) !== use) return this.end(tunnel, 'revoked');
  }

  private sweep(): void {
    const now = this.now();
    for (const tunnel of this.tunnels) {
      if (!isConcerned(tunnel)) continue;
      if (tunnel.endsAt <= now) {
        this.end(tunnel, 'revoked');
        continue;
      }
      const age = now - tunnel.confirmedAt;
      if (age >= PARTITION_MS) this.end(tunnel, 'undecided');
      else if (age >= RECHECK_MS) void this.recheck(tunnel, false);
    }
  }

  private end(tunnel: Tunnel, why: NonNullable<Tunnel['cut']>): void {
    if (tunnel.cut === null) this.cut(why);
    cutTunnel(tunnel, why);
  }
}

const isConcerned = ({ used, running }: Tunnel): boolean => used.size > 0 || running.size > 0;
