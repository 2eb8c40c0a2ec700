import { type ListedSandbox, readActivation } from '@slipway/sandbox';
import { activateClaim, releaseClaim } from '../runtimes/runtimes.queries.js';
import { doomSlot, failStranded, forgetOld, type LiveClaim, liveClaims, liveNames, neededWorkspaces, saveRestarts, slotsIn } from './pool.queries.js';
import type { PoolContext } from './pool-context.js';

/** How long the workspace of a stopped session stays, in case it is started again after all. Seconds. */
export const STOPPED_SECONDS = 3_600;
/** How long rows of what is over stay for whoever asks what happened. Seconds. */
const HISTORY_SECONDS = 7 * 86_400;
const RECEIPT_TIMEOUT_MS = 2_000;

/**
 * Compares rows, sandboxes and the sandboxes' own receipts, and repairs what a crash has left:
 * a claim whose sandbox has ended is lost and its session told why; a claim that was not activated by its deadline is ended, unless the sandbox says that it was;
 * a warm slot without a sandbox is doomed; a sandbox without a row is removed when it is seen a second time; a workspace that nothing refers to is deleted.
 *
 * Every change is conditional on the row being as it was read: a pass may run beside claims, and beside another pass.
 */
export class Reaper {
  private suspects = new Set<string>();

  constructor(private readonly context: PoolContext) {}

  /** One pass. @returns how many claims it ended. */
  async pass(signal: AbortSignal): Promise<number> {
    const { db, backend, pools } = this.context;
    // Rows first: what they name was made before, so it is in the list unless it has gone.
    const claims = await liveClaims(db);
    const warm = (await Promise.all(pools.map((pool) => slotsIn(db, pool.poolId, ['ready'])))).flat();
    const listed = await backend.list(signal);
    const sandboxes = new Map(listed.map((sandbox) => [sandbox.name, sandbox]));
    const ended = await Promise.all(claims.map((claim) => this.checkClaim(claim, sandboxes.get(claim.podName), signal)));
    for (const slot of warm) {
      const sandbox = sandboxes.get(slot.podName);
      if (sandbox === undefined || sandbox.uid !== slot.podUid || sandbox.observation.state === 'ended')
        await doomSlot(db, slot.slotId, reasonOf(sandbox), ['ready']);
    }
    await failStranded(db);
    await this.removeOrphans(listed, signal);
    await this.deleteWorkspaces(signal);
    return ended.filter(Boolean).length;
  }

  /** For once in a while. */
  async forget(): Promise<void> {
    await forgetOld(this.context.db, HISTORY_SECONDS);
  }

  private async checkClaim(claim: LiveClaim, sandbox: ListedSandbox | undefined, signal: AbortSignal): Promise<boolean> {
    const { db, logger, failpoints } = this.context;
    if (sandbox === undefined || sandbox.uid !== claim.podUid || sandbox.observation.state === 'ended') {
      const detail = reasonOf(sandbox);
      const ended = await releaseClaim(db, claim.orgId, claim.claimId, { only: 'bound-or-active', end: 'lost', session: 'error', detail });
      await failpoints('reap.released');
      if (ended) logger.warn({ claim_id: claim.claimId, org_id: claim.orgId, sandbox: claim.podName }, detail);
      return ended;
    }
    if (sandbox.observation.state === 'running' && sandbox.observation.restarts.count > claim.restartCount)
      await saveRestarts(db, claim.claimId, sandbox.observation.restarts);
    if (!claim.overdue) return false;
    const address = sandbox.observation.state === 'running' ? sandbox.observation.address : claim.address;
    const receipt = await readActivation(address, signal, RECEIPT_TIMEOUT_MS);
    if (receipt?.claim_id === claim.claimId) {
      await activateClaim(db, claim.orgId, claim, address, receipt.working_dir);
      return false;
    }
    const ended = await releaseClaim(db, claim.orgId, claim.claimId, {
      only: 'bound',
      end: 'lost',
      session: 'error',
      detail: 'the sandbox was not activated in time',
    });
    await failpoints('reap.released');
    return ended;
  }

  private async removeOrphans(listed: readonly ListedSandbox[], signal: AbortSignal): Promise<void> {
    // Rows after the list: every sandbox had its row before it was made.
    const names = await liveNames(this.context.db);
    const orphans = listed.filter((sandbox) => !names.has(sandbox.name));
    for (const orphan of orphans) {
      if (!this.suspects.has(orphan.uid)) continue;
      this.context.logger.warn({ sandbox: orphan.name }, 'a sandbox without a row is removed');
      await this.context.backend.remove(orphan.name, orphan.uid, signal);
    }
    this.suspects = new Set(orphans.map((orphan) => orphan.uid));
  }

  private async deleteWorkspaces(signal: AbortSignal): Promise<void> {
    const workspaces = await this.context.backend.listWorkspaces(signal);
    const needed = await neededWorkspaces(this.context.db, STOPPED_SECONDS);
    for (const workspace of workspaces) if (!needed.has(workspace)) await this.context.backend.deleteWorkspace(workspace, signal);
  }
}

function reasonOf(sandbox: ListedSandbox | undefined): string {
  return sandbox?.observation.state === 'ended' ? sandbox.observation.reason : 'the sandbox ended: it is no longer there';
}
