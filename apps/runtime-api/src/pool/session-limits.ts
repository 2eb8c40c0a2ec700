import { BRIEF_SESSION_PREFIX, BRIEF_SESSION_SECONDS } from '@slipway/contracts/sandboxes';
import { sandboxRequest } from '@slipway/sandbox';
import { releaseClaim } from '../sessions/sessions.queries.js';
import { inParallel } from './in-parallel.js';
import type { PoolContext } from './pool-context.js';
import { type ActiveClaim, briefClaims, claimsOlderThan } from './reaper.queries.js';

export interface SessionLimitOptions {
  /** A session whose agent-server has had nothing to do for so long is paused; `null`: none is. Seconds. */
  readonly idleSeconds: number | null;
  /** A sandbox that was given to a session longer ago is paused. Seconds. */
  readonly maxAgeSeconds: number;
}

/** Claims read, and sandboxes asked, at once. */
const PAGE = 500;
const ASKED_AT_ONCE = 16;
const ASK_TIMEOUT_MS = 2_000;

/**
 * Pauses unused sessions, and those that have run for too long: the workspace is kept, and the next /resume or /start
 * goes on with it. For callers that never say that they have finished. Slipway's worker pauses its own conversations,
 * long before. Brief sessions, which their callers end themselves, are ended when they outlive the longest that they
 * may take: their workspaces are not needed again.
 */
export class SessionLimits {
  constructor(
    private readonly context: PoolContext,
    private readonly options: SessionLimitOptions,
  ) {}

  /** @returns how many sessions it paused or ended. */
  async pass(signal: AbortSignal): Promise<number> {
    const { idleSeconds, maxAgeSeconds } = this.options;
    const atLeast = Math.min(maxAgeSeconds, idleSeconds ?? maxAgeSeconds);
    let over = await this.endBrief();
    for (let after = ''; !signal.aborted; ) {
      const page = await claimsOlderThan(this.context.db, atLeast, after, PAGE);
      const ended = await inParallel(page, ASKED_AT_ONCE, (claim) => this.judge(claim, signal));
      over += ended.filter(Boolean).length;
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) break;
      after = last.claimId;
    }
    return over;
  }

  private async endBrief(): Promise<number> {
    const { db, logger } = this.context;
    const detail = `ended: a brief session, not ended within ${inWords(BRIEF_SESSION_SECONDS)}`;
    const claims = await briefClaims(db, BRIEF_SESSION_PREFIX, BRIEF_SESSION_SECONDS);
    const ended = await inParallel(claims, ASKED_AT_ONCE, async ({ orgId, claimId }) => {
      const done = await releaseClaim(db, orgId, claimId, {
        only: 'bound-or-active',
        end: 'released',
        session: 'stopped',
        detail,
      });
      if (done) logger.info({ claim_id: claimId, org_id: orgId }, detail);
      return done;
    });
    return ended.filter(Boolean).length;
  }

  private async judge(claim: ActiveClaim, signal: AbortSignal): Promise<boolean> {
    const { idleSeconds, maxAgeSeconds } = this.options;
    if (claim.ageSeconds >= maxAgeSeconds)
      return this.pause(claim, `paused: it has run for ${inWords(maxAgeSeconds)}, which is the longest`);
    if (idleSeconds === null) return false;
    const idle = await idleTime(claim.address, signal);
    // On doubt it is in use: to pause it late costs a sandbox for a while, to pause it wrongly breaks off a user's
    // work.
    if (idle === null || idle < idleSeconds) return false;
    return this.pause(claim, `paused: it had nothing to do for ${inWords(idleSeconds)}`);
  }

  private async pause({ orgId, claimId }: ActiveClaim, detail: string): Promise<boolean> {
    const paused = await releaseClaim(this.context.db, orgId, claimId, {
      only: 'bound-or-active',
      end: 'released',
      session: 'paused',
      detail,
    });
    await this.context.failpoints('reap.released');
    if (paused) this.context.logger.info({ claim_id: claimId, org_id: orgId }, detail);
    return paused;
  }
}

/** `idle_time` of agent-server's `/server_info`, in seconds; `null` when it does not say. @throws never. */
async function idleTime(address: string, signal: AbortSignal): Promise<number | null> {
  try {
    const answer = await sandboxRequest(`${address}/server_info`, {
      method: 'GET',
      headers: {},
      signal,
      timeoutMs: ASK_TIMEOUT_MS,
    });
    const { idle_time: idle } = JSON.parse(answer.body) as { idle_time?: unknown };
    return answer.status === 200 && typeof idle === 'number' ? idle : null;
  } catch {
    return null;
  }
}

function inWords(seconds: number): string {
  const [size, name]: [number, string] =
    seconds >= 86_400
      ? [86_400, 'days']
      : seconds >= 3_600
        ? [3_600, 'hours']
        : seconds >= 60
          ? [60, 'minutes']
          : [1, 'seconds'];
  const count = Math.round((seconds / size) * 10) / 10;
  return `${count} ${count === 1 ? name.slice(0, -1) : name}`;
}
