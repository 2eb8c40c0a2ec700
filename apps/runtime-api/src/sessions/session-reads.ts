import type { KeyObject } from 'node:crypto';
import { gatewayKeyOf } from '@slipway/auth/caller-keys';
import type { SecretBox } from '@slipway/auth/secret-box';
import type { Runtime } from '@slipway/contracts/sandboxes';
import { notFound, SlipwayError } from '@slipway/errors';
import type { Claims } from '../claims/claims.js';
import type { PoolContext } from '../pool/pool-context.js';
import { STOPPED_SECONDS } from '../pool/reaper.js';
import { toRuntime } from './session-view.js';
import { listSessions, type SessionRow, sessionByRuntimeId, sessionsById } from './sessions.queries.js';

/** Most sessions of one batch or list answer. */
const MAX_LISTED = 1_000;

/** What sessions are, with every answer that was given before. */
export class SessionReads {
  constructor(
    private readonly context: PoolContext,
    private readonly claims: Pick<Claims, 'marked'>,
    private readonly box: SecretBox,
    private readonly activationKey: KeyObject,
  ) {}

  async session(orgId: string, sessionId: string): Promise<Runtime> {
    await this.claims.marked(orgId);
    const [row] = await sessionsById(this.context.db, orgId, [sessionId]);
    if (row === undefined) throw notFound();
    return toRuntime(orgId, row, this.box);
  }

  /** With sandbox-gateway's key for its agent-server. */
  async sessionForGateway(orgId: string, sessionId: string): Promise<Runtime> {
    const runtime = await this.session(orgId, sessionId);
    return { ...runtime, gateway_api_key: gatewayKeyOf(this.activationKey, runtime.session_api_key) };
  }

  /** Those that exist; the others are left out. */
  async batch(orgId: string, sessionIds: readonly string[]): Promise<Runtime[]> {
    if (sessionIds.length > MAX_LISTED)
      throw new SlipwayError('request.invalid', `ids: at most ${MAX_LISTED}`, {
        fields: [{ path: 'ids', message: `at most ${MAX_LISTED}` }],
      });
    await this.claims.marked(orgId);
    return (await sessionsById(this.context.db, orgId, sessionIds)).map((row) => toRuntime(orgId, row, this.box));
  }

  async list(orgId: string): Promise<{ runtimes: Runtime[] }> {
    await this.claims.marked(orgId);
    const rows = await listSessions(this.context.db, orgId, MAX_LISTED, STOPPED_SECONDS);
    return { runtimes: rows.map((row) => toRuntime(orgId, row, this.box)) };
  }

  async runtime(orgId: string, runtimeId: string): Promise<Runtime> {
    return toRuntime(orgId, await this.byRuntimeId(orgId, runtimeId), this.box);
  }

  /** @throws SlipwayError `resource.not-found`. */
  async byRuntimeId(orgId: string, runtimeId: string): Promise<SessionRow> {
    await this.claims.marked(orgId);
    const row = await sessionByRuntimeId(this.context.db, orgId, runtimeId);
    if (row === undefined) throw notFound();
    return row;
  }
}
