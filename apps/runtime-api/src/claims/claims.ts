import { randomBytes } from 'node:crypto';
import type { SecretBox } from '@slipway/auth/secret-box';
import { notFound, SlipwayError } from '@slipway/errors';
import type { Counter, Histogram } from '@slipway/telemetry/http';
import type { PoolContext, PoolSpec } from '../pool/pool-context.js';
import { Restores } from '../sessions/restores.js';
import { environmentContext, keyContext } from '../sessions/sealing.js';
import { releaseClaim, type SessionRow, sessionsById } from '../sessions/sessions.queries.js';
import type { Activator } from './activator.js';
import type { BindRequest, BoundClaim } from './bind.queries.js';
import { noCapacity, quotaReached } from './queue-place.js';
import { leaveQueue } from './waiting.queries.js';
import type { WarmSlots } from './warm-slots.js';

/** Sandboxes tried for one request before it fails. */
const MAX_ATTEMPTS = 3;
/** Longest that one request works on a sandbox, beside its wait for one. Milliseconds. */
const WORK_TIMEOUT_MS = 6_000;

export interface ClaimMetrics {
  readonly claims: Counter<'result'>;
  readonly durations: Histogram;
}

/** What claims need of the pool: that it hears of them. */
export interface SlotSupply {
  /** A claim took one. */
  taken(poolId: string): void;
  /** One is needed, or one is over. */
  kick(): void;
}

/** What a session asks for. */
export interface Wanted {
  readonly pool: PoolSpec;
  readonly lane: 'interactive' | 'batch';
  /** `null`: /resume, which has no body; the same as before. */
  readonly body: { readonly hash: string; readonly environment: string } | null;
  /** How long it waits for its turn when no sandbox is ready. Milliseconds. */
  readonly waitMs: number;
  /** `Secrets.appKeySha256`. */
  readonly appKeySha256: string | null;
}

/** A session that has its sandbox, with its key opened. */
export interface Obtained {
  readonly row: SessionRow;
  readonly sessionKey: string;
}

/** Gives sessions their sandboxes. */
export class Claims {
  private readonly restores: Restores;

  constructor(
    private readonly context: PoolContext,
    private readonly warmSlots: WarmSlots,
    private readonly supply: SlotSupply,
    private readonly activator: Activator,
    private readonly box: SecretBox,
    private readonly metrics: ClaimMetrics,
  ) {
    this.restores = new Restores(context, activator);
  }

  /**
   * The session's sandbox, active: the one that it has, or a new one. Still `starting` while a saved workspace is being
   * restored. When it answers, the claim is committed and the sandbox has accepted it (a new session's mark of that is
   * written meanwhile); a repetition with the same request is the same sandbox, also after a crash in the middle.
   *
   * @param gone aborted when the caller does not wait any more: then nothing new is claimed, because no caller would
   * release it.
   * @throws SlipwayError `service.unavailable` (the caller is gone, or the sandbox of another request's claim does not
   * answer), `idempotency.mismatch`, `sandbox.quota`, `sandbox.start-failed`, `resource.not-found` (only for /resume);
   * when the wait is over `sandbox.no-capacity`, or what is in the way of the pool. The place in the queue is then kept
   * for 10 s.
   */
  async obtain(orgId: string, sessionId: string, wanted: Wanted, gone: AbortSignal): Promise<Obtained> {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), wanted.waitMs + WORK_TIMEOUT_MS);
    try {
      return await this.obtainBefore(limit.signal, orgId, sessionId, wanted, gone);
    } finally {
      clearTimeout(timer);
    }
  }

  private async obtainBefore(signal: AbortSignal, orgId: string, sessionId: string, wanted: Wanted, gone: AbortSignal): Promise<Obtained> {
    const end = this.metrics.durations.startTimer();
    const { pool, body } = wanted;
    const { poolId } = pool;
    const waitUntil = performance.now() + wanted.waitMs;
    const sent = { sessionKey: randomBytes(32).toString('base64url'), environment: body?.environment ?? '{}', appKeySha256: wanted.appKeySha256 };
    const request = {
      orgId,
      sessionId,
      poolId,
      cost: pool.size,
      lane: wanted.lane,
      requestHash: body?.hash ?? null,
      sealedKey: this.box.encrypt(sent.sessionKey, keyContext(orgId, sessionId)),
      sealedEnvironment: body === null ? null : this.box.encrypt(body.environment, environmentContext(orgId, sessionId)),
    };
    let abandon: string | null = null;
    // The claim that this request has waited as.
    let queuedAs: string | null = null;
    for (let attempts = 0; ; ) {
      if (gone.aborted) throw await this.leave(orgId, abandon);
      const bindSentAt = performance.now();
      const outcome = await this.warmSlots.bind({ ...request, ...this.freshIds(), abandon });
      this.metrics.claims.inc({ result: outcome.outcome });
      if (outcome.lost) this.metrics.claims.inc({ result: 'slot-lost' });
      switch (outcome.outcome) {
        case 'missing':
          throw notFound();
        case 'mismatch':
          throw new SlipwayError('idempotency.mismatch', 'This session runs, or waits for its sandbox, and was started with another body.');
        case 'quota':
          throw quotaReached({ inUse: outcome.cap, cap: outcome.cap }, pool.size);
        case 'queued': {
          // Ended in the same commit.
          abandon = null;
          queuedAs = outcome.claimId;
          this.supply.kick();
          const turn = await this.warmSlots.waitForTurn(poolId, outcome.claimId, waitUntil - performance.now(), gone);
          await this.context.failpoints('queue.called');
          if (turn === 'late') throw await noCapacity(this.context.db, poolId, outcome.claimId);
          if (turn === 'gone') await leaveQueue(this.context.db, orgId, sessionId, outcome.claimId);
          continue;
        }
        case 'replay':
          if (outcome.claim.claimState === 'bound') break;
          if (await this.isAlive(orgId, outcome.claim, signal)) {
            const [row] = await sessionsById(this.context.db, orgId, [sessionId]);
            if (row !== undefined) return { row, sessionKey: this.box.decrypt(row.sealedKey, keyContext(orgId, sessionId)) };
          }
          continue;
        case 'bound':
          this.supply.taken(poolId);
      }
      const { claim } = outcome;
      const activated =
        claim.workspaceRef === claim.podName
          ? await this.activator.activate(orgId, sessionId, pool.image, claim, sent, signal, outcome.outcome === 'bound' ? bindSentAt : null)
          : await this.restores.activate(orgId, sessionId, pool.image, claim, sent, signal);
      if (activated === 'under-way') {
        const [row] = await sessionsById(this.context.db, orgId, [sessionId]);
        if (row === undefined) throw notFound();
        return { row, sessionKey: this.box.decrypt(row.sealedKey, keyContext(orgId, sessionId)) };
      }
      if (activated.result === 'active') {
        end();
        const { claimId, slotId, runtimeId } = claim;
        this.context.logger.info({ claim_id: claimId, slot_id: slotId, session_id: sessionId, org_id: orgId }, 'claim activated');
        const row = {
          sessionId,
          claimId,
          runtimeId,
          poolId,
          status: 'running' as const,
          sealedKey: claim.sealedKey ?? request.sealedKey,
          ...activated.runtime,
        };
        return { row, sessionKey: activated.sessionKey };
      }
      attempts += 1;
      this.metrics.claims.inc({ result: 'activation-failed' });
      this.context.logger.warn({ claim_id: claim.claimId, slot_id: claim.slotId, org_id: orgId }, `claim activation failed: ${activated.reason}`);
      if (outcome.outcome === 'replay' && claim.claimId !== queuedAs && activated.isSilent === true) {
        // Another request made this claim, and may have answered its caller: only the sandbox's receipt shows it, which
        // the reaper reads.
        if (await this.isAlive(orgId, claim, signal))
          throw new SlipwayError('service.unavailable', 'The sandbox of this session does not answer just now.', { retryAfterSeconds: 5 });
        continue;
      }
      abandon = claim.claimId;
      if (attempts < MAX_ATTEMPTS && !signal.aborted) continue;
      await this.giveUp(orgId, abandon, activated.reason);
      throw new SlipwayError('sandbox.start-failed', notActivated(attempts, activated.reason), { retryAfterSeconds: 5 });
    }
  }

  /** Answers were given whose marks were still on their way: what is read after this sees them. */
  marked(orgId: string): Promise<void> {
    return this.warmSlots.marked(orgId);
  }

  private freshIds(): Pick<BindRequest, 'claimId' | 'runtimeId'> {
    return { claimId: this.context.ids.prefixed('clm'), runtimeId: this.context.ids.prefixed('run') };
  }

  private async leave(orgId: string, abandon: string | null): Promise<SlipwayError> {
    if (abandon !== null) await this.giveUp(orgId, abandon, 'the caller went away');
    return new SlipwayError('service.unavailable', 'The caller did not wait for its sandbox.');
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

function notActivated(attempts: number, reason: string): string {
  const sentence = reason.endsWith('.') ? reason : `${reason}.`;
  return attempts === 1 ? `The sandbox could not be activated: ${sentence}` : `${attempts} sandboxes could not be activated; the last: ${sentence}`;
}
