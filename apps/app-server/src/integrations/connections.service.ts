import { randomBytes, randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Envelope, integrationSecretContext, type Sealed } from '@slipway/auth/envelope';
import {
  type ConnectionApp,
  type ConnectionCredential,
  type ConnectionWithSecret,
  type CreateIntegrationConnection,
  DEFAULT_PROCESSORS,
  type IntegrationConnection,
  type IntegrationConnectionList,
  type IntegrationProviderList,
  MAX_CONNECTIONS,
  OLD_SECRET_HOURS,
  type RotateWebhookSecret,
  type UpdateIntegrationConnection,
} from '@slipway/contracts/integrations';
import { type Principal } from '@slipway/contracts/organizations';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import type { Provider } from '@slipway/integrations';
import { revokeTokens } from '@slipway/integrations/credentials';
import { repairHooks } from '@slipway/integrations/hooks';
import { auditOf } from '../audit/audit-statement.js';
import type { Config } from '../config.js';
import { Jobs } from '../platform/jobs.js';
import { CONFIG, IDS, SQL_POOL } from '../platform/tokens.js';
import { missingOf, neededScopes, oauthOf } from './authorization/oauth-of.js';
import { assertCodeHost, invalid } from './code-host-address.js';
import {
  type ConnectionAppRow,
  type ConnectionRow,
  countConnections,
  deleteConnection,
  deleteSecrets,
  findConnection,
  insertConnection,
  insertSecret,
  listConnections,
  lockConnection,
  outdateSecrets,
  type StoredCredentialState,
  updateConnection,
} from './connections.queries.js';
import { KNOWN_PROVIDERS } from './known-providers.js';
import { makeWebhookSecret } from './webhook-secret.js';

/** Abilities of a connection in threads. */
function processorsOf(answers: Provider['answers']): IntegrationProviderList['data'][number]['processors'] {
  if (answers === undefined) return [];
  const { effects = [], reacts } = answers;
  return [
    ...(reacts ? (['reaction'] as const) : []),
    'comment',
    ...(effects.includes('link') ? (['link'] as const) : []),
    ...(effects.includes('move') ? (['start', 'done'] as const) : []),
  ];
}

interface NewSecret {
  readonly id: string;
  readonly connectionId: string;
  readonly kind: string;
  readonly sealed: Sealed;
}

/**
 * Connections of an organization: made, changed and deleted by its admins, each change in the audit. A webhook secret
 * is in one answer and nowhere else.
 */
@Injectable()
export class ConnectionsService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(KNOWN_PROVIDERS) private readonly providers: ReadonlyMap<string, Provider>,
    private readonly envelope: Envelope,
    private readonly jobs: Jobs,
  ) {}

  listProviders(): IntegrationProviderList {
    const data = [...this.providers.values()].map(
      ({ id, name, does, host, connections, codeHost, rights, answers, linking, places, apps, oauth }) => ({
        id,
        name,
        does: [...does],
        host,
        takesToken: rights !== undefined || answers !== undefined,
        makesHooks: codeHost?.hooks !== undefined,
        connections: connections.map((each) => ({ kind: each.kind, name: each.name, signature: each.signature })),
        linking: linking !== undefined,
        places: places?.kind ?? null,
        processors: processorsOf(answers),
        apps: [
          ...(apps === undefined ? [] : ['own' as const]),
          ...(this.config.INTEGRATION_APPS[id] === undefined ? [] : ['platform' as const]),
        ],
        authorizes: oauth !== undefined,
      }),
    );
    return { data };
  }

  async list({ orgId }: Principal): Promise<IntegrationConnectionList> {
    const rows = await inOrg(this.pool, orgId, (client) => listConnections(client, orgId, MAX_CONNECTIONS));
    return { data: rows.map((row) => this.toConnection(row)) };
  }

  /** @throws SlipwayError `resource.not-found` */
  async get({ orgId }: Principal, id: string): Promise<IntegrationConnection> {
    const row = await inOrg(this.pool, orgId, (client) => findConnection(client, orgId, id));
    if (row === null) throw notFound();
    return this.toConnection(row);
  }

  /**
   * @throws SlipwayError `request.invalid` for a provider or kind that there is not, or without a host where one is
   * needed; `integration.too-many`; `settings.url-refused`.
   */
  async create(caller: Principal, body: CreateIntegrationConnection): Promise<ConnectionWithSecret> {
    const provider = this.providers.get(body.provider);
    if (provider === undefined) throw invalid('provider', `is none of ${[...this.providers.keys()].join(', ')}`);
    const kind =
      body.kind === undefined ? provider.connections[0] : provider.connections.find((each) => each.kind === body.kind);
    if (kind === undefined)
      throw invalid('kind', `is none of ${provider.connections.map((each) => each.kind).join(', ')}`);
    const host = body.host ?? provider.host;
    if (host === null) throw invalid('host', `is required for ${provider.name}`);
    await assertCodeHost(
      provider,
      { host, settings: body.settings, token: body.token },
      this.config.INTEGRATION_PRIVATE_HOSTS,
    );
    const secret = body.webhookSecret ?? this.makeSecret(provider, kind.signature);
    const id = randomUUID();
    const sealed = await this.sealSecret(caller.orgId, id, 'webhook', secret);
    const token = body.token === undefined ? null : await this.sealSecret(caller.orgId, id, 'token', body.token);
    const row = await inOrg(this.pool, caller.orgId, async (client) => {
      // Two at the same moment may both find the last place: the limit is there to bound, not to count.
      if ((await countConnections(client, caller.orgId)) >= MAX_CONNECTIONS)
        throw new SlipwayError('integration.too-many', `There are ${MAX_CONNECTIONS} connections already.`);
      const { name, own, settings, account = null } = body;
      await insertConnection(client, caller.orgId, {
        id,
        provider: provider.id,
        kind: kind.kind,
        name,
        host,
        account,
        signature: kind.signature,
        own,
        settings,
        by: caller.actor,
      });
      await insertSecret(client, caller.orgId, sealed);
      if (token !== null) await insertSecret(client, caller.orgId, token);
      const detail = { provider: provider.id, kind: kind.kind, name, host, account, token: token !== null };
      await client.query(auditOf(this.ids.uuid(), caller, { action: 'integration.create', target: id, detail }));
      return findConnection(client, caller.orgId, id);
    });
    if (row === null) throw new Error('a connection that was made is not there');
    return { connection: this.toConnection(row), webhookSecret: body.webhookSecret === undefined ? secret : null };
  }

  /**
   * A new access token ends the attention that the one before needed. @throws SlipwayError `resource.not-found`;
   * `request.invalid`; `settings.url-refused`.
   */
  async update(caller: Principal, id: string, change: UpdateIntegrationConnection): Promise<IntegrationConnection> {
    await this.assertCallable(caller.orgId, id, change);
    const token =
      typeof change.token === 'string' ? await this.sealSecret(caller.orgId, id, 'token', change.token) : null;
    const row = await inOrg(this.pool, caller.orgId, async (client) => {
      const before = await lockConnection(client, caller.orgId, id);
      if (before === null) throw notFound();
      const enabled =
        before.state === 'disabled' || (before.state === 'needs-attention' && token !== null)
          ? before.verified_at === null
            ? 'unverified'
            : 'active'
          : before.state;
      const next = {
        name: change.name ?? before.name,
        // For the platform's app an account is verified, not claimed.
        account: change.account === undefined || before.platform ? before.account : change.account,
        own: change.own ?? before.own,
        settings: change.settings ?? before.settings,
        state: (change.disabled ?? before.state === 'disabled') ? ('disabled' as const) : enabled,
      };
      await updateConnection(client, caller.orgId, id, next);
      if (change.token !== undefined) await takeCredential(client, caller.orgId, id);
      if (token !== null) await insertSecret(client, caller.orgId, token);
      const changed = (Object.keys(next) as (keyof typeof next)[]).filter(
        (field) => JSON.stringify(before[field]) !== JSON.stringify(next[field]),
      );
      await client.query(
        auditOf(this.ids.uuid(), caller, {
          action: 'integration.update',
          target: id,
          detail: {
            name: next.name,
            ...(change.token === undefined ? {} : { token: token === null ? 'removed' : 'replaced' }),
          },
          before: Object.fromEntries(changed.map((field) => [field, before[field]])),
          after: Object.fromEntries(changed.map((field) => [field, next[field]])),
        }),
      );
      return findConnection(client, caller.orgId, id);
    });
    if (row === null) throw notFound();
    return this.toConnection(row);
  }

  /** @throws SlipwayError `resource.not-found` */
  async delete(caller: Principal, id: string): Promise<void> {
    await inOrg(this.pool, caller.orgId, async (client) => {
      const row = await lockConnection(client, caller.orgId, id);
      if (row === null) throw notFound();
      await revokeTokens(client, caller.orgId, { connectionId: id, kinds: ['oauth-tokens', 'oauth-pending'] });
      await deleteConnection(client, caller.orgId, id);
      const { provider, name, host } = row;
      await client.query(
        auditOf(this.ids.uuid(), caller, {
          action: 'integration.delete',
          target: id,
          detail: { provider, name, host },
        }),
      );
    });
  }

  /**
   * Tokens of OAuth are given back to the provider, when it answers. No-op where there is no credential. @throws
   * SlipwayError `resource.not-found`
   */
  async disconnect(caller: Principal, id: string): Promise<void> {
    await inOrg(this.pool, caller.orgId, async (client) => {
      const row = await lockConnection(client, caller.orgId, id);
      if (row === null) throw notFound();
      if (row.credential === null) return;
      await takeCredential(client, caller.orgId, id);
      const detail = { name: row.name, provider: row.provider, host: row.host, credential: row.credential.kind };
      await client.query(auditOf(this.ids.uuid(), caller, { action: 'integration.disconnect', target: id, detail }));
    });
  }

  /**
   * The secret before holds for another day, so that the provider can be changed at leisure. @throws SlipwayError
   * `resource.not-found`, `integration.no-secret`.
   */
  async rotateSecret(caller: Principal, id: string, body: RotateWebhookSecret): Promise<ConnectionWithSecret> {
    const before = await inOrg(this.pool, caller.orgId, (client) => findConnection(client, caller.orgId, id));
    if (before === null) throw notFound();
    if (before.platform)
      throw new SlipwayError('integration.no-secret', 'Its deliveries come to the platform’s own app.');
    const provider = this.providers.get(before.provider);
    if (provider === undefined) throw notFound();
    const secret = body.webhookSecret ?? this.makeSecret(provider, before.signature);
    const sealed = await this.sealSecret(caller.orgId, id, 'webhook', secret);
    const repaired: string[] = [];
    const row = await inOrg(this.pool, caller.orgId, async (client) => {
      if ((await lockConnection(client, caller.orgId, id)) === null) throw notFound();
      await outdateSecrets(client, caller.orgId, id, OLD_SECRET_HOURS);
      await insertSecret(client, caller.orgId, sealed);
      // Those that Slipway has made get the new one; the old one holds until then.
      repaired.push(...(await repairHooks(client, caller.orgId, id)));
      await client.query(
        auditOf(this.ids.uuid(), caller, {
          action: 'integration.rotate-secret',
          target: id,
          detail: { name: before.name },
        }),
      );
      return findConnection(client, caller.orgId, id);
    });
    if (row === null) throw notFound();
    for (const hookId of repaired) this.jobs.enqueueAs('integration-hook', hookId, { orgId: caller.orgId, hookId });
    return { connection: this.toConnection(row), webhookSecret: body.webhookSecret === undefined ? secret : null };
  }

  private makeSecret(provider: Provider, signature: string): string {
    const scheme = provider.signatures[signature];
    if (scheme === undefined) throw new Error(`${provider.id} has no scheme ${signature}`);
    if (scheme.kind === 'socket')
      throw invalid('webhookSecret', 'is required: it is the token by which the socket is opened');
    return makeWebhookSecret(scheme, randomBytes);
  }

  private async assertCallable(
    orgId: string,
    id: string,
    { settings, token }: UpdateIntegrationConnection,
  ): Promise<void> {
    if (settings === undefined && typeof token !== 'string') return;
    const before = await inOrg(this.pool, orgId, (client) => findConnection(client, orgId, id));
    const provider = before === null ? undefined : this.providers.get(before.provider);
    if (before === null || provider === undefined) throw notFound();
    await assertCodeHost(
      provider,
      { host: before.host, settings: settings ?? before.settings, token },
      this.config.INTEGRATION_PRIVATE_HOSTS,
    );
  }

  private async sealSecret(
    orgId: string,
    connectionId: string,
    kind: 'webhook' | 'token',
    secret: string,
  ): Promise<NewSecret> {
    const place = { id: this.ids.uuid(), connectionId, kind };
    return { ...place, sealed: await this.envelope.seal(orgId, secret, integrationSecretContext(place)) };
  }

  private toConnection(row: ConnectionRow): IntegrationConnection {
    const unaddressed = row.platform || this.providers.get(row.provider)?.signatures[row.signature]?.kind === 'socket';
    const address = unaddressed
      ? null
      : new URL(`/api/integration/${row.provider}/events/${row.id}`, this.config.PUBLIC_URL).href;
    return {
      id: row.id,
      provider: row.provider,
      kind: row.kind,
      name: row.name,
      host: row.host,
      account: row.account,
      signature: row.signature,
      address,
      own: row.own,
      // Those of before these settings have none.
      settings: {
        ...row.settings,
        baseUrl: row.settings.baseUrl ?? null,
        repositories: row.settings.repositories ?? [],
        processors: { ...DEFAULT_PROCESSORS, ...row.settings.processors },
      },
      tokenSetAt: row.token_set_at?.toISOString() ?? null,
      oauthClientSetAt: row.oauth_client_set_at?.toISOString() ?? null,
      app: row.app === null ? null : toApp(row.app, this.providers.get(row.provider)),
      credential: row.credential === null ? null : toCredential(row.credential, this.providers.get(row.provider)),
      authorizes: oauthOf(this.providers.get(row.provider), row) !== null,
      appHook:
        row.app_hook === null || row.app_hook_at === null
          ? null
          : { ...row.app_hook, checkedAt: row.app_hook_at.toISOString() },
      state: row.state,
      stateReason: row.state_reason,
      oldSecretUntil: row.old_secret_until?.toISOString() ?? null,
      verifiedAt: row.verified_at?.toISOString() ?? null,
      lastDeliveryAt: row.last_delivery_at?.toISOString() ?? null,
      createdBy: { id: row.created_by, label: row.created_by_label },
      createdAt: row.created_at.toISOString(),
      updatedAt: row.updated_at.toISOString(),
    };
  }
}

function toApp(row: ConnectionAppRow, provider: Provider | undefined): ConnectionApp {
  const { account_login: login, account_kind: kind, permissions } = row;
  const moment = (at: string | null): string | null => (at === null ? null : new Date(at).toISOString());
  return {
    id: row.app_id,
    slug: row.slug,
    url: row.url,
    state: row.state,
    account: login === null || kind === null ? null : { login, kind },
    selection: row.selection,
    repositories: row.repositories,
    missingPermissions: permissions === null ? [] : [...(provider?.apps?.missing(permissions) ?? [])],
    checkedAt: moment(row.checked_at),
    recoveredAt: moment(row.recovered_at),
  };
}

/** Whatever calls are made with now: of OAuth it is given back. */
async function takeCredential(client: PoolClient, orgId: string, id: string): Promise<void> {
  await revokeTokens(client, orgId, { connectionId: id, kinds: ['oauth-tokens'] });
  await deleteSecrets(client, orgId, id, { kind: 'token' });
  await deleteSecrets(client, orgId, id, { kind: 'app-installation' });
}

function toCredential(
  { kind, setAt, expiresAt, renewAt, scopes, problem }: StoredCredentialState,
  provider: Provider | undefined,
): ConnectionCredential {
  return {
    kind,
    setAt: new Date(setAt).toISOString(),
    expiresAt: expiresAt === null ? null : new Date(expiresAt).toISOString(),
    renews: renewAt !== null,
    scopes: scopes === null ? null : [...scopes],
    missingScopes: missingOf(neededScopes(provider, kind), scopes),
    problem,
  };
}
