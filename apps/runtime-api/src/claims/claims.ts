import { randomBytes } from 'node:crypto';
import { notFound, SlipwayError } from '@slipway/errors';
import type { Counter, Histogram } from '@slipway/telemetry/http';
import type { PoolContext, PoolSpec } from '../pool/pool-context.js';
import { Restores } from '../sessions/restores.js';
import { releaseClaim, type SessionRow, sessionsById } from '../sessions/sessions.queries.js';
import type { Activated, Activator, Secrets } from './activator.js';
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

/** One request for a sandbox, over its attempts. */
interface ClaimRequest {
  readonly pool: PoolSpec;
  readonly sent: Secrets;
  readonly bind: Omit<BindRequest, 'claimId' | 'runtimeId' | 'abandon'>;
  /** End of its wait in the queue, by `performance.now()`. */
  readonly waitUntil: number;
  /** `limit` ends its work on sandboxes; `gone`: the caller does not wait any more. */
  readonly signals: { readonly limit: AbortSignal; readonly gone: AbortSignal };
  /** Records the duration of a success. */
  readonly end: () => void;
  /** The claim that failed last; the next bind ends it. */
  abandon: string | null;
  /** The claim that this request has waited as. */
  queuedAs: string | null;
  /** Sandboxes that could not be activated. */
  attempts: number;
}

/** Gives sessions their sandboxes. */
export class Claims {
  private readonly restores: Restores;

  constructor(
    private readonly context: PoolContext,
    private readonly warmSlots: WarmSlots,
    private readonly supply: SlotSupply,
    private readonly activator: Activator,
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
      const request = this.begin(orgId, sessionId, wanted, { limit: limit.signal, gone });
      let obtained: Obtained | null = null;
      while (obtained === null) obtained = await this.attempt(request);
      return obtained;
    } finally {
      clearTimeout(timer);
    }
  }

  private begin(
    orgId: string,
    sessionId: string,
    { pool, lane, body, waitMs, appKeySha256 }: Wanted,
    signals: ClaimRequest['signals'],
  ): ClaimRequest {
    const end = this.metrics.durations.startTimer();
    const waitUntil = performance.now() + waitMs;
    const sent = {
      sessionKey: randomBytes(32).toString('base64url'),
      environment: body?.environment ?? '{}',
      appKeySha256,
    };
    return {
      pool,
      sent,
      bind: {
        orgId,
        sessionId,
        poolId: pool.poolId,
        cost: pool.size,
        lane,
        requestHash: body?.hash ?? null,
        ...this.activator.seal(orgId, sessionId, sent, body !== null),
      },
      waitUntil,
      signals,
      end,
      abandon: null,
      queuedAs: null,
      attempts: 0,
    };
  }

  /** Binds a slot and does what its outcome asks for. `null`: another attempt has to follow. */
  private async attempt(request: ClaimRequest): Promise<Obtained | null> {
    const { bind, pool, signals, abandon } = request;
    if (signals.gone.aborted) throw await this.leave(bind.orgId, abandon);
    const bindSentAt = this.warmSlots.monotonicMs();
    const outcome = await this.warmSlots.bind({ ...bind, ...this.freshIds(), abandon });
    this.metrics.claims.inc({ result: outcome.outcome });
    if (outcome.lost) this.metrics.claims.inc({ result: 'slot-lost' });
    switch (outcome.outcome) {
      case 'missing':
        throw notFound();
      case 'mismatch':
        throw new SlipwayError(
          'idempotency.mismatch',
          'This session runs, or waits for its sandbox, and was started with another body.',
        );
      case 'quota':
        throw quotaReached({ inUse: outcome.cap, cap: outcome.cap }, pool.size);
      case 'queued':
        return this.waitInQueue(request, outcome.claimId);
      case 'replay':
        return outcome.claim.claimState === 'bound'
          ? this.activate(request, outcome.claim, null)
          : this.repeat(request, outcome.claim);
      case 'bound':
        this.supply.taken(pool.poolId);
        return this.activate(request, outcome.claim, bindSentAt);
    }
  }

  private async waitInQueue(request: ClaimRequest, claimId: string): Promise<null> {
    const { bind, waitUntil, signals } = request;
    // Ended in the same commit.
    request.abandon = null;
    request.queuedAs = claimId;
    this.supply.kick();
    const turn = await this.warmSlots.waitForTurn(bind.poolId, claimId, waitUntil - performance.now(), signals.gone);
    await this.context.failpoints('queue.called');
    if (turn === 'late') throw await noCapacity(this.context.db, bind.poolId, claimId);
    if (turn === 'gone') await leaveQueue(this.context.db, bind.orgId, bind.sessionId, claimId);
    return null;
  }

  /** The session has a sandbox since an earlier request: the same again, if it is still there. */
  private async repeat(request: ClaimRequest, claim: BoundClaim): Promise<Obtained | null> {
    const isAlive = await this.isAlive(request.bind.orgId, claim, request.signals.limit);
    return isAlive ? this.stored(request) : null;
  }

  /** @param bindSentAt `null`: the claim is another request's. */
  private async activate(
    request: ClaimRequest,
    claim: BoundClaim,
    bindSentAt: number | null,
  ): Promise<Obtained | null> {
    const { bind, pool, sent, signals } = request;
    const activation = { orgId: bind.orgId, sessionId: bind.sessionId, template: pool.image, claim, sent };
    const activated =
      claim.workspaceRef === claim.podName
        ? await this.activator.activate(activation, signals.limit, bindSentAt)
        : await this.restores.activate(activation, signals.limit);
    if (activated !== 'under-way')
      return activated.result === 'active'
        ? this.active(request, claim, activated)
        : this.retry(request, claim, { ...activated, isOwn: bindSentAt !== null });
    const stored = await this.stored(request);
    if (stored === null) throw notFound();
    return stored;
  }

  private active(
    { bind, end }: ClaimRequest,
    claim: BoundClaim,
    { runtime, sessionKey }: Extract<Activated, { result: 'active' }>,
  ): Obtained {
    end();
    const { claimId, slotId, runtimeId } = claim;
    const { orgId, sessionId, poolId } = bind;
    this.context.logger.info(
      { claim_id: claimId, slot_id: slotId, session_id: sessionId, org_id: orgId },
      'claim activated',
    );
    const sealedKey = claim.sealedKey ?? bind.sealedKey;
    return {
      row: { sessionId, claimId, runtimeId, poolId, status: 'running' as const, sealedKey, ...runtime },
      sessionKey,
    };
  }

  /** Gives a failed sandbox up, with the next bind or, after the last attempt, at once. */
  private async retry(
    request: ClaimRequest,
    claim: BoundClaim,
    { reason, isSilent, isOwn }: Extract<Activated, { result: 'failed' }> & { readonly isOwn: boolean },
  ): Promise<null> {
    const { orgId } = request.bind;
    request.attempts += 1;
    this.metrics.claims.inc({ result: 'activation-failed' });
    this.context.logger.warn(
      { claim_id: claim.claimId, slot_id: claim.slotId, org_id: orgId },
      `claim activation failed: ${reason}`,
    );
    if (!isOwn && claim.claimId !== request.queuedAs && isSilent === true) {
      // Another request made this claim, and may have answered its caller: only the sandbox's receipt shows it, which
      // the reaper reads.
      if (await this.isAlive(orgId, claim, request.signals.limit))
        throw new SlipwayError('service.unavailable', 'The sandbox of this session does not answer just now.', {
          retryAfterSeconds: 5,
        });
      return null;
    }
    request.abandon = claim.claimId;
    if (request.attempts < MAX_ATTEMPTS && !request.signals.limit.aborted) return null;
    await this.giveUp(orgId, claim.claimId, reason);
    throw new SlipwayError('sandbox.start-failed', notActivated(request.attempts, reason), { retryAfterSeconds: 5 });
  }

  private async stored({ bind: { orgId, sessionId } }: ClaimRequest): Promise<Obtained | null> {
    const [row] = await sessionsById(this.context.db, orgId, [sessionId]);
    return row === undefined ? null : { row, sessionKey: this.activator.openKey(orgId, sessionId, row.sealedKey) };
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

  /**
   * Is the sandbox of an active claim still there? When it is not, the claim is lost. `true` on doubt: a second sandbox
   * for one session does harm, a late one costs time.
   */
  private async isAlive(orgId: string, claim: BoundClaim, signal: AbortSignal): Promise<boolean> {
    const observation = await this.context.backend.observe(claim.podName, signal).catch(() => null);
    if (observation === null || observation.state === 'pending') return true;
    if (observation.state === 'running' && observation.uid === claim.podUid) return true;
    const detail = observation.state === 'ended' ? observation.reason : 'the sandbox ended: it is no longer there';
    await releaseClaim(this.context.db, orgId, claim.claimId, {
      only: 'bound-or-active',
      end: 'lost',
      session: 'error',
      detail,
    });
    await this.context.failpoints('claim.released');
    this.supply.kick();
    return false;
  }
}

function notActivated(attempts: number, reason: string): string {
  const sentence = reason.endsWith('.') ? reason : `${reason}.`;
  return attempts === 1
    ? `The sandbox could not be activated: ${sentence}`
    : `${attempts} sandboxes could not be activated; the last: ${sentence}`;
}
