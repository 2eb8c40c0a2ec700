import { type Envelope, integrationSecretContext } from '@slipway/auth/envelope';
import type { QueuePayload } from '@slipway/contracts/operate';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import { baseUrlOf, type Connect, type Provider, ProviderRefusal } from '@slipway/integrations';
import { isFinal, OAuthTokens } from '@slipway/integrations/credentials';
import type { Logger } from '@slipway/telemetry';
import { delayOutboxRow, deleteOutboxJob, readOutboxJob } from '../../orgs/orgs.queries.js';
import { countAttempt, deleteRevocation, findRevocation, type Revocation } from './credentials.queries.js';

const QUEUE = 'credential-revocation';
const MINUTE_MS = 60_000;
/** Between attempts; after the last, tokens are left to end by themselves. Milliseconds. */
const WAITS_MS = [
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * 60 * MINUTE_MS,
  6 * 60 * MINUTE_MS,
  12 * 60 * MINUTE_MS,
] as const;

/** Gives tokens back that a connection does not use any more. Whoever disconnected does not wait for it. */
export class CredentialRevocation {
  constructor(
    private readonly pool: SqlPool,
    private readonly envelope: Envelope,
    private readonly providers: ReadonlyMap<string, Provider>,
    private readonly connect: Connect,
    private readonly logger: Logger,
  ) {}

  /** @returns how long until the next attempt. Milliseconds; `null`: none is needed. */
  async run({ orgId, revocationId }: QueuePayload<typeof QUEUE>): Promise<number | null> {
    const wanted = await readOutboxJob(this.pool, orgId, QUEUE, revocationId);
    const row = await inOrg(this.pool, orgId, (client) => findRevocation(client, orgId, revocationId));
    const next = row === null ? null : await this.attempt(orgId, row);
    if (next === null) await inOrg(this.pool, orgId, (client) => deleteRevocation(client, orgId, revocationId));
    if (wanted !== null) {
      if (next === null) await deleteOutboxJob(this.pool, orgId, wanted.id);
      else await delayOutboxRow(this.pool, orgId, wanted.id, next);
    }
    return next;
  }

  private async attempt(orgId: string, row: Revocation): Promise<number | null> {
    const place = { connection_id: row.connectionId, provider: row.provider, host: row.host };
    const revoke = this.providers.get(row.provider)?.oauth?.revoke;
    if (revoke === undefined) return null;
    try {
      const context = integrationSecretContext({ id: row.id, connectionId: row.connectionId, kind: row.kind });
      const { clientId, clientSecret, accessToken, refreshToken } = OAuthTokens.parse(
        JSON.parse(await this.envelope.open(orgId, row, context)),
      );
      await revoke(
        { baseUrl: baseUrlOf(row), app: { clientId, clientSecret }, tokens: { accessToken, refreshToken } },
        this.connect,
      );
      return null;
    } catch (error) {
      const failure =
        error instanceof ProviderRefusal
          ? { kind: error.kind, status: error.status }
          : { kind: error instanceof Error ? error.name : 'unknown' };
      // They are worth nothing there any more, or there is no such call.
      if (isFinal(error) || (error instanceof ProviderRefusal && error.kind === 'missing')) return null;
      const wait = WAITS_MS[row.attempts];
      this.logger.warn(
        { ...place, ...failure, attempts: row.attempts + 1 },
        wait === undefined ? 'tokens not revoked, left to expire' : 'tokens not revoked, will retry',
      );
      if (wait === undefined) return null;
      await inOrg(this.pool, orgId, (client) => countAttempt(client, orgId, row.id));
      return wait;
    }
  }
}
