import { Inject, Injectable } from '@nestjs/common';
import { Envelope, integrationSecretContext } from '@slipway/auth/envelope';
import type { OAuthClient, SetOAuthClient } from '@slipway/contracts/identity';
import type { Principal } from '@slipway/contracts/organizations';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import { type AccountLinking, baseUrlOf, type OAuthApp, type Provider } from '@slipway/integrations';
import { openOAuthApp } from '@slipway/integrations/credentials';
import { assertOutside } from '@slipway/outside';
import { auditOf } from '../../audit/audit-statement.js';
import type { Config } from '../../config.js';
import { CONFIG, IDS, SQL_POOL } from '../../platform/tokens.js';
import { oauthOf } from '../authorization/oauth-of.js';
import {
  type ConnectionRow,
  deleteSecrets,
  findConnection,
  findSecret,
  insertSecret,
  lockConnection,
  type StoredSecret,
} from '../connections.queries.js';
import { KNOWN_PROVIDERS } from '../known-providers.js';
import { callbackUrl } from './callback-url.js';

const KIND = 'oauth-client';

/** What linking at one connection needs. */
export interface LinkingClient {
  readonly connection: ConnectionRow;
  readonly linking: AccountLinking;
  readonly app: OAuthApp;
  readonly baseUrl: string;
  readonly redirectUri: string;
}

/**
 * The OAuth client of a connection: entered by admins, sealed whole with the organization's data key, its secret in no
 * answer.
 */
@Injectable()
export class OAuthClientService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(KNOWN_PROVIDERS) private readonly providers: ReadonlyMap<string, Provider>,
    private readonly envelope: Envelope,
  ) {}

  /** @throws SlipwayError `resource.not-found`, `integration.oauth-unsupported`. */
  async get({ orgId }: Principal, connectionId: string): Promise<OAuthClient> {
    const { row, secret } = await this.find(orgId, connectionId);
    const linking = this.linkingOf(row);
    return this.toClient(
      row,
      linking,
      secret === null ? null : { ...(await this.open(orgId, connectionId, secret)), setAt: secret.createdAt },
    );
  }

  /**
   * @throws SlipwayError `resource.not-found`, `integration.oauth-unsupported`, `settings.url-refused` for a connection
   * whose address leads inside.
   */
  async set(caller: Principal, connectionId: string, { clientId, clientSecret }: SetOAuthClient): Promise<OAuthClient> {
    const { orgId } = caller;
    const { row } = await this.find(orgId, connectionId);
    const linking = this.linkingOf(row);
    const baseUrl = baseUrlOf(row);
    await assertOutside(baseUrl, this.config.INTEGRATION_PRIVATE_HOSTS.includes(new URL(baseUrl).host));
    const place = { id: this.ids.uuid(), connectionId, kind: KIND };
    const sealed = await this.envelope.seal(
      orgId,
      JSON.stringify({ clientId, clientSecret }),
      integrationSecretContext(place),
    );
    const secret = await inOrg(this.pool, orgId, async (client) => {
      if ((await lockConnection(client, orgId, connectionId)) === null) throw notFound();
      await deleteSecrets(client, orgId, connectionId, { kind: KIND });
      await insertSecret(client, orgId, { ...place, sealed });
      const detail = { name: row.name, clientId };
      await client.query(
        auditOf(this.ids.uuid(), caller, { action: 'integration.set-oauth-client', target: connectionId, detail }),
      );
      return findSecret(client, orgId, connectionId, { kind: KIND });
    });
    if (secret === null) throw new Error('an OAuth client that was entered is not there');
    return this.toClient(row, linking, { clientId, setAt: secret.createdAt });
  }

  /** No-op when there is none. @throws SlipwayError `resource.not-found` */
  async delete(caller: Principal, connectionId: string): Promise<void> {
    const { orgId } = caller;
    await inOrg(this.pool, orgId, async (client) => {
      const row = await lockConnection(client, orgId, connectionId);
      if (row === null) throw notFound();
      if (!(await deleteSecrets(client, orgId, connectionId, { kind: KIND }))) return;
      await client.query(
        auditOf(this.ids.uuid(), caller, {
          action: 'integration.delete-oauth-client',
          target: connectionId,
          detail: { name: row.name },
        }),
      );
    });
  }

  /**
   * @throws SlipwayError `resource.not-found` also for a connection that is disabled, `integration.oauth-unsupported`,
   * `integration.no-oauth-client`.
   */
  async forLinking(orgId: string, connectionId: string): Promise<LinkingClient> {
    const { row, secret } = await this.find(orgId, connectionId);
    if (row.state === 'disabled') throw notFound();
    const linking = this.linkingOf(row);
    if (secret === null)
      throw new SlipwayError('integration.no-oauth-client', `No admin has entered an OAuth client for ${row.name}.`);
    return {
      connection: row,
      linking,
      app: await this.open(orgId, connectionId, secret),
      baseUrl: baseUrlOf(row),
      redirectUri: callbackUrl(this.config.PUBLIC_URL, connectionId),
    };
  }

  private async find(
    orgId: string,
    connectionId: string,
  ): Promise<{ row: ConnectionRow; secret: StoredSecret | null }> {
    return inOrg(this.pool, orgId, async (client) => {
      const row = await findConnection(client, orgId, connectionId);
      if (row === null) throw notFound();
      return { row, secret: await findSecret(client, orgId, connectionId, { kind: KIND }) };
    });
  }

  /** Whether users can link their accounts at a provider. */
  links(provider: string): boolean {
    return this.providers.get(provider)?.linking !== undefined;
  }

  /** What a provider is called. */
  nameOf(provider: string): string {
    return this.providers.get(provider)?.name ?? provider;
  }

  private linkingOf({ provider }: ConnectionRow): AccountLinking {
    const known = this.providers.get(provider);
    if (known?.linking === undefined)
      throw new SlipwayError(
        'integration.oauth-unsupported',
        `Slipway cannot link accounts of ${known?.name ?? provider} yet.`,
      );
    return known.linking;
  }

  private open(orgId: string, connectionId: string, secret: StoredSecret): Promise<OAuthApp> {
    return openOAuthApp(this.envelope, orgId, connectionId, secret);
  }

  private toClient(
    row: ConnectionRow,
    { scopes }: AccountLinking,
    known: { readonly clientId: string; readonly setAt: Date } | null,
  ): OAuthClient {
    return {
      clientId: known?.clientId ?? null,
      callbackUrl: callbackUrl(this.config.PUBLIC_URL, row.id),
      scopes: [...scopes(baseUrlOf(row))],
      connectionScopes: [...(oauthOf(this.providers.get(row.provider), row)?.scopes ?? [])],
      setAt: known?.setAt.toISOString() ?? null,
    };
  }
}
