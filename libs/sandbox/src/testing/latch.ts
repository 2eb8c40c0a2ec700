import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { ActivationClaims, type InitState } from '@slipway/contracts/agent';
import { z } from 'zod';

const Token = ActivationClaims.extend({ aud: z.literal('slipway-activation'), exp: z.number() });

/**
 * The one-shot activation of a sandbox, as agent-server keeps it: the first claim wins, for ever. For sandboxes of
 * tests and benchmarks.
 */
export class Latch {
  claimId: string | null = null;
  /** The body that was accepted; its secrets are what I14 asks about. */
  body: string | null = null;
  /** Set it, and the sandbox says that it should be replaced. */
  problem: string | null = null;
  private readonly key: KeyObject;

  constructor(
    private readonly identity: { slotId: string; podUid: string; publicKey: string },
    public workingDir: string,
  ) {
    this.key = createPublicKey({ key: Buffer.from(identity.publicKey, 'base64'), format: 'der', type: 'spki' });
  }

  state(): InitState {
    return {
      state: this.claimId === null ? 'dormant' : 'ready',
      slot_id: this.identity.slotId,
      claim_id: this.claimId,
      working_dir: this.workingDir,
      warmed_at: null,
      healthy: this.problem === null,
      unhealthy_reason: this.problem,
    };
  }

  /** Answer to `POST /api/init`. */
  activate(authorization: string | undefined, body: string): { status: number; body: unknown } {
    const claims = this.verify(authorization, body);
    if (claims === null) return { status: 401, body: { code: 'auth.missing' } };
    if (this.claimId !== null && this.claimId !== claims.claim_id)
      return { status: 409, body: { code: 'sandbox.already-activated' } };
    this.claimId = claims.claim_id;
    this.body = body;
    return { status: 200, body: this.state() };
  }

  private verify(authorization: string | undefined, body: string): ActivationClaims | null {
    const [header, payload, signature] = (authorization ?? '').replace(/^Bearer /, '').split('.');
    if (header === undefined || payload === undefined || signature === undefined) return null;
    if (!verify(null, Buffer.from(`${header}.${payload}`), this.key, Buffer.from(signature, 'base64url'))) return null;
    const token = Token.safeParse(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')));
    if (!token.success || token.data.exp * 1000 < Date.now()) return null;
    const { slot_id, pod_uid, body_sha256 } = token.data;
    const sameBody = body_sha256 === createHash('sha256').update(body).digest('base64url');
    return slot_id === this.identity.slotId && pod_uid === this.identity.podUid && sameBody ? token.data : null;
  }
}
