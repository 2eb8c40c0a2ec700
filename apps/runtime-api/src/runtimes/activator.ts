import type { KeyObject } from 'node:crypto';
import type { SecretBox } from '@slipway/auth/secret-box';
import type { Clock } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import { sendActivation, signActivation } from '@slipway/sandbox';
import type { PoolContext } from '../pool/pool-context.js';
import { removeSandbox } from '../pool/slot-removal.js';
import { type ActiveRuntime, activateClaim, type BoundClaim, unremovedSandboxes } from './runtimes.queries.js';
import { environmentContext, keyContext } from './sealing.js';

/** Longest wait for a sandbox to accept. Milliseconds; agent-server tells its tool process meanwhile. */
const ACTIVATION_TIMEOUT_MS = 5_000;

export type Activated = { readonly result: 'active'; readonly runtime: ActiveRuntime } | { readonly result: 'failed'; readonly reason: string };

/**
 * Gives the bound sandbox to its claim: the workspace of an earlier life first, then the one signed call that carries key and environment, then the mark.
 * Any replica may do it for a claim that is bound, again and again: every step is repeatable, and what is sent is the same to the byte.
 */
export class Activator {
  constructor(
    private readonly context: PoolContext,
    private readonly box: SecretBox,
    private readonly key: KeyObject,
    private readonly clock: Clock,
  ) {}

  /** @throws never for a sandbox's fault; only when the database does not answer. */
  async activate(orgId: string, sessionId: string, claim: BoundClaim, signal: AbortSignal): Promise<Activated> {
    const { db, failpoints, logger } = this.context;
    await failpoints('claim.bound');
    let address = claim.address;
    if (claim.workspaceRef !== claim.podName) {
      try {
        address = await this.attach(orgId, sessionId, claim, signal);
      } catch (error) {
        if (!(error instanceof SlipwayError)) throw error;
        return { result: 'failed', reason: error.detail };
      }
      await failpoints('claim.attached');
    }
    const body = JSON.stringify({
      session_api_keys: [this.box.decrypt(claim.sealedKey, keyContext(orgId, sessionId))],
      env: JSON.parse(this.box.decrypt(claim.sealedEnvironment, environmentContext(orgId, sessionId))),
    });
    const claims = { slot_id: claim.slotId, pod_uid: claim.podUid, claim_id: claim.claimId, epoch: claim.epoch, org: orgId };
    const token = signActivation(claims, body, this.key, this.clock.now());
    const outcome = await sendActivation(address, token, body, signal, ACTIVATION_TIMEOUT_MS);
    await failpoints('claim.activated');
    if (outcome.result === 'owned-by-another') {
      logger.error({ claim_id: claim.claimId, slot_id: claim.slotId, org_id: orgId }, 'security: a sandbox that was just bound belongs to another claim');
      return { result: 'failed', reason: 'the sandbox belongs to another claim' };
    }
    if (outcome.result === 'failed') return outcome;
    if (outcome.state.claim_id !== claim.claimId) return { result: 'failed', reason: 'the sandbox did not take this claim' };
    const marked = await activateClaim(db, orgId, claim, address, outcome.state.working_dir);
    await failpoints('claim.marked');
    return marked !== null ? { result: 'active', runtime: marked } : { result: 'failed', reason: 'the claim ended while its sandbox was activated' };
  }

  private async attach(orgId: string, sessionId: string, claim: BoundClaim, signal: AbortSignal): Promise<string> {
    const { db, backend } = this.context;
    // Two sandboxes must not work in one workspace.
    for (const old of await unremovedSandboxes(db, orgId, sessionId)) await removeSandbox(this.context, old, signal);
    await backend.attachWorkspace(claim.podName, claim.workspaceRef, signal);
    const observation = await backend.observe(claim.podName, signal);
    if (observation.state !== 'running') throw new SlipwayError('sandbox.start-failed', 'the sandbox ended when it got its workspace');
    return observation.address;
  }
}
