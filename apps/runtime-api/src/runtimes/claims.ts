import { randomBytes } from 'node:crypto';
import type { SecretBox } from '@slipway/auth/secret-box';
import { notFound, SlipwayError } from '@slipway/errors';
import type { Counter, Histogram } from '@slipway/telemetry/http';
import type { PoolContext } from '../pool/pool-context.js';
import type { Activator } from './activator.js';
import { type BoundClaim, claimSlot, releaseClaim, type SessionRow, sessionsById } from './runtimes.queries.js';
import { environmentContext, keyContext } from './sealing.js';
import type { StartRequest } from './start-request.js';

/** Sandboxes tried for one request before it fails. */
const MAX_ATTEMPTS = 3;
const EMPTY_POLL_MS = 100;
/** Longest a claim may stay bound before the reaper takes its slot back. Milliseconds; more than one request can take. */
const ACTIVATION_DEADLINE_MS = 30_000;
/** Longest that one request works. Milliseconds. */
const REQUEST_TIMEOUT_MS = 18_000;

export interface ClaimMetrics {
  readonly claims: Counter<'result'>;
  readonly durations: Histogram;
}

export interface ClaimLimits {
  /** Sandboxes that an organization may have at once, unless its row says otherwise. */
  readonly orgSandboxLimit: number;
  /** How long a request waits for a slot when none is ready. Milliseconds; below the 20 s that Slipway's worker waits for the answer. */
  readonly emptyWaitMs: number;
}

/** What claims need of the pool: to hear of it when one is taken, and to know when one comes. */
export interface SlotSupply {
  /** A claim took one. */
  taken(poolId: string): void;
  /** One is needed, or one is over. */
  kick(): void;
  /** Answers when a slot of the pool may have become ready, after `timeoutMs` at the latest. */
  nextReady(poolId: string, timeoutMs: number): Promise<void>;
}

/** Gives sessions their sandboxes. */
export class Claims {
  constructor(
    private readonly context: PoolContext,
    private readonly supply: SlotSupply,
    private readonly activator: Activator,
    private readonly box: SecretBox,
    private readonly limits: ClaimLimits,
    private readonly metrics: ClaimMetrics,
  ) {}

  /**
   * The session's sandbox, active: the one that it has, or a new one. `request` null is /resume: the same as before.
   * When it answers, the claim is committed and the sandbox has accepted it; a repetition with the same request is the same sandbox, also after a crash in the middle.
   *
   * @param gone aborted when the caller does not wait any more: then nothing new is claimed, because nobody would know of it and give it back.
   * @throws SlipwayError `service.unavailable` (the caller is gone), `idempotency.mismatch`, `sandbox.quota`, `sandbox.no-capacity`, `sandbox.start-failed`, `resource.not-found` (only for /resume).
   */
  async obtain(orgId: string, sessionId: string, request: StartRequest | null, gone: AbortSignal): Promise<SessionRow> {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), REQUEST_TIMEOUT_MS);
    try {
      return await this.obtainBefore(limit.signal, orgId, sessionId, request, gone);
    } finally {
      clearTimeout(timer);
    }
  }

  private async obtainBefore(signal: AbortSignal, orgId: string, sessionId: string, request: StartRequest | null, gone: AbortSignal): Promise<SessionRow> {
    const end = this.metrics.durations.startTimer();
    const waitUntil = performance.now() + this.limits.emptyWaitMs;
    const sealedKey = this.box.encrypt(randomBytes(32).toString('base64url'), keyContext(orgId, sessionId));
    const sealedEnvironment = request === null ? null : this.box.encrypt(request.environment, environmentContext(orgId, sessionId));
    const [pool] = this.context.pools;
    let abandon: string | null = null;
    for (let attempts = 0; ; ) {
      if (gone.aborted) {
        if (abandon !== null) await this.giveUp(orgId, abandon, 'the caller went away');
        throw new SlipwayError('service.unavailable', 'The caller did not wait for its sandbox.');
      }
      const outcome = await claimSlot(this.context.db, orgId, sessionId, {
        poolId: pool.poolId,
        claimId: this.context.ids.prefixed('clm'),
        runtimeId: this.context.ids.prefixed('run'),
        requestHash: request?.hash ?? null,
        sealedKey,
        sealedEnvironment,
        deadlineMs: ACTIVATION_DEADLINE_MS,
        defaultCap: this.limits.orgSandboxLimit,
        abandon,
      });
      this.metrics.claims.inc({ result: outcome.outcome });
      switch (outcome.outcome) {
        case 'missing':
          throw notFound();
        case 'mismatch':
          throw new SlipwayError('idempotency.mismatch', 'This session runs, and was started with another body.');
        case 'quota':
          throw new SlipwayError('sandbox.quota', `The organization runs ${outcome.cap} sandboxes, which is its limit.`, { retryAfterSeconds: 10 });
        case 'empty':
          this.supply.kick();
          if (performance.now() > waitUntil) throw new SlipwayError('sandbox.no-capacity', 'No sandbox became free in time.', { retryAfterSeconds: 5 });
          await this.supply.nextReady(pool.poolId, EMPTY_POLL_MS);
          continue;
        case 'replay':
          if (outcome.claim.claimState === 'bound') break;
          if (await this.isAlive(orgId, outcome.claim, signal)) {
            const [row] = await sessionsById(this.context.db, orgId, [sessionId]);
            if (row !== undefined) return row;
          }
          continue;
        case 'bound':
          this.supply.taken(pool.poolId);
      }
      const activated = await this.activator.activate(orgId, sessionId, outcome.claim, signal);
      if (activated.result === 'active') {
        end();
        const { claimId, slotId, runtimeId, sealedKey: storedKey } = outcome.claim;
        this.context.logger.info({ claim_id: claimId, slot_id: slotId, session_id: sessionId, org_id: orgId }, 'a session has its sandbox');
        return { sessionId, claimId, runtimeId, status: 'running', statusDetail: null, sealedKey: storedKey, ...activated.runtime };
      }
      attempts += 1;
      this.metrics.claims.inc({ result: 'activation-failed' });
      this.context.logger.warn(
        { claim_id: outcome.claim.claimId, slot_id: outcome.claim.slotId, org_id: orgId },
        `a claim could not be activated: ${activated.reason}`,
      );
      abandon = outcome.claim.claimId;
      if (attempts < MAX_ATTEMPTS && !signal.aborted) continue;
      await this.giveUp(orgId, abandon, activated.reason);
      throw new SlipwayError('sandbox.start-failed', `${attempts} sandboxes could not be activated; the last: ${activated.reason}.`, { retryAfterSeconds: 5 });
    }
  }

  private async giveUp(orgId: string, claimId: string, detail: string): Promise<void> {
    await releaseClaim(this.context.db, orgId, claimId, { only: 'bound', end: 'lost', session: 'error', detail });
    this.supply.kick();
  }

  /** Is the sandbox of an active claim still there? When it is not, the claim is lost. `true` on doubt: a second sandbox for one session does harm, a late one costs time. */
  private async isAlive(orgId: string, claim: BoundClaim, signal: AbortSignal): Promise<boolean> {
    const observation = await this.context.backend.observe(claim.podName, signal).catch(() => null);
    if (observation === null || observation.state === 'pending') return true;
    if (observation.state === 'running' && observation.uid === claim.podUid) return true;
    const detail = observation.state === 'ended' ? observation.reason : 'the sandbox ended: it is no longer there';
    await releaseClaim(this.context.db, orgId, claim.claimId, { only: 'bound-or-active', end: 'lost', session: 'error', detail });
    await this.context.failpoints('claim.released');
    this.supply.kick();
    return false;
  }
}
