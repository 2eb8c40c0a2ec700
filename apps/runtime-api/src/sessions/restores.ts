import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Activated, Activation, Activator } from '../claims/activator.js';
import type { PoolContext } from '../pool/pool-context.js';
import { holdRestore, releaseClaim } from './sessions.queries.js';

/** Longest that a workspace may take to be kept and to come back. Milliseconds. */
const RESTORE_TIMEOUT_MS = 15 * 60_000;
/** A claim whose workspace is on its way is kept so long beyond the last sign of it. Seconds. */
const HOLD_SECONDS = 30;
/** Milliseconds. */
const SIGN_EVERY_MS = 5_000;
const DETAIL = 'The workspace of this session is brought back.';

/**
 * Activations that restore a saved workspace. They may take minutes, so they go on when the request that began them has
 * been answered: concurrent requests join, one replica works for a claim, and its heartbeats keep the claim alive. A
 * dead replica sends none: the claim is then taken back and the session tries again.
 */
export class Restores {
  private readonly underWay = new Map<string, Promise<Activated | 'under-way'>>();
  /** Not the replica's name: another process under the same name must not take this one's work for its own. */
  private readonly restorer = randomUUID();

  constructor(
    private readonly context: PoolContext,
    private readonly activator: Activator,
  ) {}

  /** @param patience when it ends the answer is `under-way`, and the work goes on. */
  async activate(activation: Activation, patience: AbortSignal): Promise<Activated | 'under-way'> {
    const { claimId } = activation.claim;
    const work = this.underWay.get(claimId) ?? this.work(activation).finally(() => this.underWay.delete(claimId));
    this.underWay.set(claimId, work);
    const impatient = new Promise<'under-way'>((resolve) => {
      if (patience.aborted) resolve('under-way');
      else patience.addEventListener('abort', () => resolve('under-way'), { once: true });
    });
    return Promise.race([work, impatient]);
  }

  private async work(activation: Activation): Promise<Activated | 'under-way'> {
    const { db, failpoints, logger } = this.context;
    const { orgId, sessionId, claim } = activation;
    const hold = (detail: string | null): Promise<boolean> =>
      holdRestore(db, orgId, sessionId, {
        claimId: claim.claimId,
        restorer: this.restorer,
        seconds: HOLD_SECONDS,
        detail,
      });
    // Another replica restores it, or it has ended: the row shows which to the next request.
    if (!(await hold(null))) return 'under-way';
    await failpoints('claim.restoring');
    const over = new AbortController();
    const limit = AbortSignal.any([over.signal, AbortSignal.timeout(RESTORE_TIMEOUT_MS)]);
    void this.giveSigns(limit, async () => {
      await failpoints('claim.restoring');
      return hold(DETAIL);
    }).then((held) => held || over.abort());
    try {
      const activated = await this.activator.activate(activation, limit);
      // No request may be left to give it up.
      if (activated.result === 'failed')
        await releaseClaim(db, orgId, claim.claimId, {
          only: 'bound',
          end: 'lost',
          session: 'error',
          detail: activated.reason,
        });
      return activated;
    } catch (error) {
      logger.warn(
        { err: error, claim_id: claim.claimId, session_id: sessionId, org_id: orgId },
        'failed to restore a workspace, session will retry',
      );
      throw error;
    } finally {
      over.abort();
    }
  }

  /**
   * @returns `false` when the claim is not ours any more. A database that does not answer is asked again: the claim
   * outlives some signs.
   */
  private async giveSigns(end: AbortSignal, sign: () => Promise<boolean>): Promise<boolean> {
    for (;;) {
      await wait(SIGN_EVERY_MS, undefined, { signal: end, ref: false }).catch(() => {});
      if (end.aborted) return true;
      if (!(await sign().catch(() => true))) return false;
    }
  }
}
