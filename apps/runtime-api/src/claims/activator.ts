import type { KeyObject } from 'node:crypto';
import { callerKeySha256, gatewayKeyOf } from '@slipway/auth/caller-keys';
import type { SecretBox } from '@slipway/auth/secret-box';
import type { Clock } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import { sendActivation, signActivation } from '@slipway/sandbox';
import type { PoolContext } from '../pool/pool-context.js';
import { removeSandbox } from '../pool/slot-removal.js';
import type { EgressEnvironment } from '../sessions/egress-environment.js';
import { environmentContext, keyContext } from '../sessions/sealing.js';
import { replaceWorkspace, unremovedSandboxes } from '../sessions/sessions.queries.js';
import type { ActiveRuntime, BoundClaim } from './bind.queries.js';
import type { WarmSlots } from './warm-slots.js';

/**
 * The answer to a new session goes out beside its mark only within so long after its bind was sent: the claim is then
 * far from its deadline, at which another replica may end it. Milliseconds, by a clock that goes on while the process
 * is stopped.
 */
const BESIDE_MS = 10_000;
/** Longest wait for a sandbox to accept. Milliseconds; agent-server configures action-server meanwhile. */
const ACTIVATION_TIMEOUT_MS = 5_000;

export type Activated =
  | { readonly result: 'active'; readonly runtime: ActiveRuntime; readonly sessionKey: string }
  /** `isSilent`: it did not answer, so that it may have accepted all the same. */
  | { readonly result: 'failed'; readonly reason: string; readonly isSilent?: boolean };

/** Environment of a sandbox, decrypted. */
export interface Secrets {
  readonly sessionKey: string;
  /** JSON. */
  readonly environment: string;
  /** Of the app's key, as the caller named it; `null` from an earlier release of the caller. */
  readonly appKeySha256: string | null;
}

export interface SealedSecrets {
  readonly sealedKey: Buffer;
  /** `null`: the session's own stays. */
  readonly sealedEnvironment: Buffer | null;
}

/** A claim and the session that it is for. */
export interface Activation {
  readonly orgId: string;
  readonly sessionId: string;
  /** Name of the template that the sandbox was made from. */
  readonly template: string;
  readonly claim: BoundClaim;
  /** What was sealed for this request; it counts for a session that is new with it. */
  readonly sent: Secrets;
}

/**
 * Gives the bound sandbox to its claim: the saved workspace first, then the one signed call that carries key and
 * environment, then the mark. Any replica may do it for a claim that is bound, again and again: every step is
 * repeatable, and what is sent is the same to the byte.
 */
export class Activator {
  constructor(
    private readonly context: PoolContext,
    private readonly warmSlots: WarmSlots,
    private readonly box: SecretBox,
    private readonly key: KeyObject,
    private readonly clock: Clock,
    /** `null`: sandboxes get no proxy. */
    private readonly egress: EgressEnvironment | null = null,
  ) {}

  /**
   * @param bindSentAt when the bind of this claim was sent, by `WarmSlots.monotonicMs`, if this request made it: a new
   * session's mark is then written beside its answer.
   *   It would not be waited for to reach the disk anyway, and the sandbox's receipt says the same; reads here wait for
   *   it.
   * @throws never for a sandbox's fault; only when the database does not answer.
   */
  async activate(activation: Activation, signal: AbortSignal, bindSentAt: number | null = null): Promise<Activated> {
    const { failpoints, logger } = this.context;
    const { orgId, sessionId, template, claim, sent } = activation;
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
    const sessionKey = claim.sealedKey === null ? sent.sessionKey : this.openKey(orgId, sessionId, claim.sealedKey);
    const environment =
      claim.sealedEnvironment === null
        ? sent.environment
        : this.box.decrypt(claim.sealedEnvironment, environmentContext(orgId, sessionId));
    const env =
      this.egress?.addTo(environment, { orgId, claimId: claim.claimId, sessionId, template, address }) ?? environment;
    // The environment is JSON already; the key is base64url.
    const body = `{"session_api_keys":["${sessionKey}"],"env":${env}}`;
    // In the token and not in the body: the body of one claim must stay the same to the byte, whichever release of
    // runtime-api repeats it.
    const callers = {
      gateway_key_sha256: callerKeySha256(gatewayKeyOf(this.key, sessionKey)),
      ...(sent.appKeySha256 === null ? {} : { app_key_sha256: sent.appKeySha256 }),
    };
    const claims = {
      slot_id: claim.slotId,
      pod_uid: claim.podUid,
      claim_id: claim.claimId,
      epoch: claim.epoch,
      org: orgId,
      ...callers,
    };
    const token = signActivation(claims, body, this.key, this.clock.now());
    const outcome = await sendActivation(address, { token, body, signal, timeoutMs: ACTIVATION_TIMEOUT_MS });
    await failpoints('claim.activated');
    if (outcome.result === 'owned-by-another') {
      logger.error(
        { claim_id: claim.claimId, slot_id: claim.slotId, org_id: orgId },
        'security: freshly bound sandbox belongs to another claim',
      );
      return { result: 'failed', reason: 'the sandbox belongs to another claim' };
    }
    if (outcome.result === 'failed') return { ...outcome, isSilent: true };
    if (outcome.state.claim_id !== claim.claimId)
      return { result: 'failed', reason: 'the sandbox did not take this claim' };
    const workingDir = outcome.state.working_dir;
    const mark = { orgId, sessionId, claimId: claim.claimId, epoch: claim.epoch, address, workingDir };
    if (bindSentAt !== null && claim.sealedKey === null && this.warmSlots.monotonicMs() - bindSentAt < BESIDE_MS) {
      this.warmSlots.markBeside(mark);
      return {
        result: 'active',
        runtime: { url: address, workingDir, restartCount: 0, restartReasons: [], statusDetail: null },
        sessionKey,
      };
    }
    const marked = await this.warmSlots.mark(mark);
    await failpoints('claim.marked');
    return marked !== null
      ? { result: 'active', runtime: marked, sessionKey }
      : { result: 'failed', reason: 'the claim ended while its sandbox was activated' };
  }

  /**
   * What a claim stores of its secrets; `activate` opens them again. @param withEnvironment `false`: the session's own
   * stays.
   */
  seal(orgId: string, sessionId: string, sent: Secrets, withEnvironment: boolean): SealedSecrets {
    return {
      sealedKey: this.box.encrypt(sent.sessionKey, keyContext(orgId, sessionId)),
      sealedEnvironment: withEnvironment
        ? this.box.encrypt(sent.environment, environmentContext(orgId, sessionId))
        : null,
    };
  }

  openKey(orgId: string, sessionId: string, sealedKey: Buffer): string {
    return this.box.decrypt(sealedKey, keyContext(orgId, sessionId));
  }

  /**
   * @returns where the sandbox answers from now on. A workspace that does not exist any more is given up, and the
   * session gets a notice.
   */
  private async attach(orgId: string, sessionId: string, claim: BoundClaim, signal: AbortSignal): Promise<string> {
    const { db, backend, failpoints, logger } = this.context;
    // Two sandboxes must not work in one workspace.
    for (const old of await unremovedSandboxes(db, orgId, sessionId)) await removeSandbox(this.context, old, signal);
    try {
      await backend.attachWorkspace(claim.podName, claim.workspaceRef, signal);
    } catch (error) {
      if (!(error instanceof SlipwayError) || error.more.extensions?.['workspace'] !== 'missing') throw error;
      logger.warn(
        { err: error, claim_id: claim.claimId, session_id: sessionId, org_id: orgId },
        'workspace lost, its session continues with a blank one',
      );
      const detail = 'The workspace of this session was lost; it goes on with a blank one.';
      if (!(await replaceWorkspace(db, orgId, sessionId, { claim, detail })))
        throw new SlipwayError('sandbox.start-failed', 'the claim ended meanwhile');
      await failpoints('claim.blank');
    }
    const observation = await backend.observe(claim.podName, signal);
    if (observation.state !== 'running')
      throw new SlipwayError('sandbox.start-failed', 'the sandbox ended when it got its workspace');
    return observation.address;
  }
}
