import type { Runtime } from '@slipway/contracts/sandboxes';
import { notFound, SlipwayError } from '@slipway/errors';
import type { Claims, SlotSupply } from '../claims/claims.js';
import { readStartRequest } from '../claims/start-request.js';
import { leaveQueue } from '../claims/waiting.queries.js';
import type { PoolContext } from '../pool/pool-context.js';
import { removeSandbox } from '../pool/slot-removal.js';
import type { KeptLimit } from './kept-limit.js';
import type { SessionReads } from './session-reads.js';
import { openRuntime } from './session-view.js';
import { releaseClaim, setSessionStatus, unremovedSandboxes } from './sessions.queries.js';

/**
 * How long /pause and /stop wait for the sandbox's processes to end. Milliseconds; the pool goes on with it after that.
 */
const REMOVE_WAIT_MS = 10_000;

export interface ClaimWait {
  readonly waitMs: number;
  readonly gone: AbortSignal;
  readonly appKeySha256?: string | null | undefined;
}

/** Starts, resumes, pauses and stops sessions. */
export class SessionsService {
  constructor(
    private readonly context: PoolContext,
    private readonly claims: Claims,
    private readonly supply: SlotSupply,
    private readonly kept: KeptLimit,
    private readonly reads: SessionReads,
  ) {}

  /**
   * @param waitMs how long it waits for its turn when no sandbox is ready.
   * @param gone as in `Claims.obtain`.
   * @param appKeySha256 `APP_KEY_SHA256_HEADER`.
   */
  async start(orgId: string, body: unknown, { waitMs, gone, appKeySha256 = null }: ClaimWait): Promise<Runtime> {
    const { sessionId, pool, lane, hash, environment } = readStartRequest(body, this.context.pools);
    await this.kept.check(orgId, sessionId);
    const { row, sessionKey } = await this.claims.obtain(
      orgId,
      sessionId,
      { pool, lane, body: { hash, environment }, waitMs, appKeySha256 },
      gone,
    );
    return openRuntime(row, sessionKey);
  }

  /**
   * Runs a paused session again, or one whose sandbox was lost, with its workspace and its key, from the pool of its
   * last sandbox.
   */
  async resume(orgId: string, runtimeId: string, { waitMs, gone, appKeySha256 = null }: ClaimWait): Promise<Runtime> {
    const { sessionId, poolId } = await this.reads.byRuntimeId(orgId, runtimeId);
    const pool = this.context.pools.find((each) => each.poolId === poolId) ?? this.context.pools[0];
    const { row, sessionKey } = await this.claims.obtain(
      orgId,
      sessionId,
      { pool, lane: 'interactive', body: null, waitMs, appKeySha256 },
      gone,
    );
    return openRuntime(row, sessionKey);
  }

  /** Ends the sandbox and keeps its workspace. When it answers, nothing of the sandbox runs. */
  pause(orgId: string, runtimeId: string): Promise<Runtime> {
    return this.end(orgId, runtimeId, 'paused');
  }

  /** Ends the sandbox. Its workspace is deleted an hour later, unless the session is started again. */
  stop(orgId: string, runtimeId: string): Promise<Runtime> {
    return this.end(orgId, runtimeId, 'stopped');
  }

  private async end(orgId: string, runtimeId: string, status: 'paused' | 'stopped'): Promise<Runtime> {
    const { db } = this.context;
    for (let look = 0; look < 5; look += 1) {
      const row = await this.reads.byRuntimeId(orgId, runtimeId);
      if (row.status === 'stopped' && status === 'paused') throw notFound();
      // Whoever waits for its sandbox meanwhile, waits in vain.
      if (row.status !== 'running') await leaveQueue(db, orgId, row.sessionId, null);
      const ended =
        row.status === status ||
        (await releaseClaim(db, orgId, row.claimId, {
          only: 'bound-or-active',
          end: 'released',
          session: status,
          detail: null,
        })) ||
        (await setSessionStatus(db, orgId, row.sessionId, { claimId: row.claimId, to: status }));
      await this.context.failpoints('claim.released');
      // Otherwise a start has come between: read again.
      if (!ended) continue;
      await this.removeEnded(orgId, row.sessionId);
      this.context.logger.info(
        { claim_id: row.claimId, session_id: row.sessionId, org_id: orgId },
        `session ${status}`,
      );
      return this.reads.session(orgId, row.sessionId);
    }
    throw new SlipwayError('service.unavailable', 'The session keeps changing.', { retryAfterSeconds: 1 });
  }

  private async removeEnded(orgId: string, sessionId: string): Promise<void> {
    const signal = AbortSignal.timeout(REMOVE_WAIT_MS);
    try {
      for (const sandbox of await unremovedSandboxes(this.context.db, orgId, sessionId))
        await removeSandbox(this.context, sandbox, signal);
    } catch (error) {
      this.context.logger.warn({ err: error, org_id: orgId }, 'failed to remove a sandbox at once, pool will retry');
    }
    this.supply.kick();
  }
}
