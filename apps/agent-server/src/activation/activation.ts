import { createHash, hash, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { InitRequest, type InitState } from '@slipway/contracts/agent';
import { parseOrThrow, SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import type { Config } from '../config.js';
import { ok, type Route, readBody } from '../http/router.js';
import type { ActivationLatch } from './activation-latch.js';
import { verifyActivation } from './activation-token.js';
import { type Caller, callerOf, UNAUTHENTICATED } from './caller.js';

/** State of an unclaimed sandbox. */
export interface BlankCondition {
  /** Why it takes no claim now, in a sentence. */
  readonly obstacle: string | null;
  /** Why it should be replaced, in a sentence. */
  readonly problem: string | null;
  /** ISO 8601. */
  readonly warmedAt: string | null;
}

/** Owner of this sandbox: none until one signed claim has closed the latch. */
export class Activation {
  /** Claims that are being accepted or refused. */
  private claiming = 0;

  constructor(
    private readonly config: Config,
    private readonly key: KeyObject,
    private readonly latch: ActivationLatch,
    private readonly logger: Logger,
    private readonly condition: BlankCondition,
    /**
     * Called with the sandbox's environment and session keys, at activation or at a start after it (then only the keys'
     * hashes are known).
     */
    private readonly onReady: (env: Readonly<Record<string, string>>, keys: readonly string[]) => void,
  ) {
    if (latch.state.state === 'closed') onReady(latch.state.record.env, []);
    if (latch.state.state === 'unreadable')
      logger.error({ slot_id: config.SLOT_ID }, 'activation record not readable, claims are refused');
  }

  state(): InitState {
    const { state } = this.latch;
    const { problem, warmedAt } = this.condition;
    return {
      state: state.state === 'closed' ? 'ready' : 'dormant',
      slot_id: this.config.SLOT_ID,
      claim_id: state.state === 'closed' ? state.record.claim_id : null,
      working_dir: this.config.WORKSPACE_DIR,
      warmed_at: warmedAt,
      healthy: problem === null,
      unhealthy_reason: problem,
    };
  }

  /** True when it is unclaimed and no claim is under way. */
  get untouched(): boolean {
    return this.latch.state.state === 'open' && this.claiming === 0;
  }

  /** @throws SlipwayError `sandbox.dormant` or `auth.missing`. Takes the key from the header, a bearer, or `extra`. */
  authorize(request: IncomingMessage, extra?: string | null): Caller {
    if (this.latch.state.state !== 'closed')
      throw new SlipwayError('sandbox.dormant', 'This sandbox has not been activated.');
    const header = request.headers['x-session-api-key'];
    const bearer = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1];
    if (!this.accepts((typeof header === 'string' ? header : undefined) ?? bearer ?? extra ?? ''))
      throw new SlipwayError('auth.missing', 'The session key is missing or wrong.');
    return this.callerOf(request);
  }

  /** Who speaks, of those with the session key. */
  callerOf(request: IncomingMessage): Caller {
    const { state } = this.latch;
    return state.state === 'closed' ? callerOf(request, state.record) : UNAUTHENTICATED;
  }

  /** Compares hashes, in constant time. */
  accepts(key: string): boolean {
    const { state } = this.latch;
    if (state.state !== 'closed' || key === '') return false;
    const given = hash('sha256', key, 'buffer');
    let found = false;
    for (const kept of state.record.session_key_hashes) {
      const known = Buffer.from(kept, 'base64url');
      if (known.length === given.length && timingSafeEqual(known, given)) found = true;
    }
    return found;
  }

  routes(): Route[] {
    return [
      { method: 'GET', path: '/api/init', access: 'open', handle: () => ok(this.state()) },
      {
        method: 'POST',
        path: '/api/init',
        access: 'open',
        handle: async ({ request }) => {
          const body = await readBody(request);
          const token = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1];
          if (token === undefined) throw new SlipwayError('auth.missing', 'An activation needs a signed token.');
          return ok(await this.activate(token, body));
        },
      },
    ];
  }

  private async activate(token: string, body: Buffer): Promise<InitState> {
    const claims = verifyActivation(token, body, {
      key: this.key,
      slotId: this.config.SLOT_ID,
      podUid: this.config.POD_UID,
      nowMs: Date.now(),
    });
    let parsed: unknown;
    try {
      parsed = JSON.parse(body.toString('utf8'));
    } catch (error) {
      throw new SlipwayError('request.not-json', 'The body could not be read as JSON.', { cause: error });
    }
    const request = parseOrThrow(InitRequest, parsed);
    const { obstacle } = this.condition;
    if (obstacle !== null && this.latch.state.state === 'open')
      throw new SlipwayError('sandbox.archive-broken', obstacle);
    this.claiming += 1;
    const verdict = await this.latch
      .claim({
        claim_id: claims.claim_id,
        body_sha256: claims.body_sha256,
        epoch: claims.epoch,
        org: claims.org,
        session_key_hashes: request.session_api_keys.map((key) => createHash('sha256').update(key).digest('base64url')),
        env: request.env,
        ...(claims.app_key_sha256 === undefined ? {} : { app_key_sha256: claims.app_key_sha256 }),
        ...(claims.gateway_key_sha256 === undefined ? {} : { gateway_key_sha256: claims.gateway_key_sha256 }),
      })
      .finally(() => {
        this.claiming -= 1;
      });
    if (verdict === 'refused') {
      this.logger.error(
        { claim_id: claims.claim_id, slot_id: claims.slot_id, org_id: claims.org },
        'second claim refused, sandbox is activated already',
      );
      throw new SlipwayError('sandbox.already-activated', 'This sandbox was activated by another claim.');
    }
    if (verdict === 'accepted') {
      this.logger.info({ claim_id: claims.claim_id, slot_id: claims.slot_id, org_id: claims.org }, 'activated');
      this.onReady(request.env, request.session_api_keys);
    }
    return this.state();
  }
}
