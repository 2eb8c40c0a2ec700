import { Inject, Injectable } from '@nestjs/common';
import { Envelope, integrationSecretContext } from '@slipway/auth/envelope';
import {
  type InstallIntegrationHook,
  type IntegrationHook,
  type IntegrationHookList,
  MAX_HOOKS,
  type SelectIntegrationHooks,
} from '@slipway/contracts/integrations';
import { type Principal } from '@slipway/contracts/organizations';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import { baseUrlOf, deliveriesUrl, type Provider, type RepositoryHooks } from '@slipway/integrations';
import { ConnectionCredentials } from '@slipway/integrations/credentials';
import { repairHooks, settleSignature } from '@slipway/integrations/hooks';
import { auditOf } from '../../audit/audit-statement.js';
import type { Config } from '../../config.js';
import { Jobs } from '../../platform/jobs.js';
import { CONFIG, IDS, SQL_POOL } from '../../platform/tokens.js';
import { type ConnectionRow, findConnection, findSecret, type StoredSecret } from '../connections.queries.js';
import { KNOWN_PROVIDERS } from '../known-providers.js';
import { ProviderCalls } from '../provider-calls.js';
import {
  countHooks,
  deleteHook,
  findHook,
  findSelection,
  type HookRow,
  listHooks,
  saveHook,
  saveSelection,
} from './hooks.queries.js';

interface Callable {
  readonly row: ConnectionRow;
  readonly hooks: RepositoryHooks;
}

/** Makes the webhooks of a connection at its git host, so that no user has to enter address and secret there. */
@Injectable()
export class HooksService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(KNOWN_PROVIDERS) private readonly providers: ReadonlyMap<string, Provider>,
    private readonly envelope: Envelope,
    private readonly credentials: ConnectionCredentials,
    private readonly calls: ProviderCalls,
    private readonly jobs: Jobs,
  ) {}

  /** @throws SlipwayError `resource.not-found` */
  async list({ orgId }: Principal, connectionId: string): Promise<IntegrationHookList> {
    return inOrg(this.pool, orgId, (client) => this.listed(client, orgId, connectionId));
  }

  /**
   * Which repositories get a webhook by themselves. A job makes them, and says of each what became of it.
   * @throws SlipwayError `resource.not-found`, `integration.no-token`, `integration.no-secret`,
   * `integration.hooks-unsupported`.
   */
  async select(
    caller: Principal,
    connectionId: string,
    { patterns }: SelectIntegrationHooks,
  ): Promise<IntegrationHookList> {
    const { orgId } = caller;
    const { row } = await this.callable(orgId, connectionId);
    this.assertOwnHooks(row);
    const wanted = [...new Set(patterns)];
    const list = await inOrg(this.pool, orgId, async (client) => {
      await saveSelection(client, orgId, connectionId, wanted);
      const detail = { name: row.name, patterns: wanted };
      await client.query(
        auditOf(this.ids.uuid(), caller, { action: 'integration.select-hooks', target: connectionId, detail }),
      );
      return this.listed(client, orgId, connectionId);
    });
    if (wanted.length > 0) this.jobs.enqueueAs('integration-hooks', connectionId, { orgId, connectionId });
    return list;
  }

  /** @throws SlipwayError as `select`. */
  async repair(caller: Principal, connectionId: string): Promise<IntegrationHookList> {
    const { orgId } = caller;
    const { row } = await this.callable(orgId, connectionId);
    this.assertOwnHooks(row);
    const { queued, list } = await inOrg(this.pool, orgId, async (client) => {
      const ids = await repairHooks(client, orgId, connectionId);
      await client.query(
        auditOf(this.ids.uuid(), caller, {
          action: 'integration.repair-hooks',
          target: connectionId,
          detail: { name: row.name, count: ids.length },
        }),
      );
      return { queued: ids, list: await this.listed(client, orgId, connectionId) };
    });
    for (const hookId of queued) this.jobs.enqueueAs('integration-hook', hookId, { orgId, hookId });
    return list;
  }

  private async listed(client: PoolClient, orgId: string, connectionId: string): Promise<IntegrationHookList> {
    const selection = await findSelection(client, orgId, connectionId);
    if (selection === null) throw notFound();
    const rows = await listHooks(client, orgId, connectionId, MAX_HOOKS);
    return { data: rows.map(toHook), selection: { ...selection, listedAt: selection.listedAt?.toISOString() ?? null } };
  }

  private assertOwnHooks({ platform }: ConnectionRow): void {
    if (platform)
      throw new SlipwayError(
        'integration.no-secret',
        'Its deliveries come to the platform’s own app, which needs no webhook.',
      );
  }

  /**
   * Repeatable, also when it is not known what became of the call before: the hook is found by its address.
   * @throws SlipwayError `resource.not-found`, `integration.no-token`, `integration.no-secret`,
   * `integration.hooks-unsupported`, `integration.too-many-hooks`, `integration.provider-away`,
   * `integration.provider-refused`, `settings.url-refused`.
   */
  async install(
    caller: Principal,
    connectionId: string,
    { repository }: InstallIntegrationHook,
  ): Promise<IntegrationHook> {
    const { orgId } = caller;
    const { row, hooks } = await this.callable(orgId, connectionId);
    this.assertOwnHooks(row);
    const found = await inOrg(this.pool, orgId, async (client) => ({
      secret: await findSecret(client, orgId, connectionId, { kind: 'webhook' }),
      others: await countHooks(client, orgId, connectionId, repository),
    }));
    if (found.secret === null) throw notFound();
    if (found.others >= MAX_HOOKS)
      throw new SlipwayError(
        'integration.too-many-hooks',
        `Slipway has made ${MAX_HOOKS} webhooks of this connection already.`,
      );
    const secretId = found.secret.id;
    const secret = await this.opened(orgId, connectionId, found.secret);
    const settings = {
      url: this.addressOf(row),
      secret,
      signature: row.signature,
      confidential: row.settings.confidential,
    };
    const { fullName, id: hookId, signature } = await this.asking(row, () => hooks.install(repository, settings));
    const saved = await inOrg(this.pool, orgId, async (client) => {
      // Deleted meanwhile: what was made delivers to an unknown address.
      if ((await findConnection(client, orgId, connectionId)) === null) throw notFound();
      if (!(await settleSignature(client, orgId, connectionId, signature)))
        throw new SlipwayError(
          'integration.provider-refused',
          `${row.host} does not sign this webhook, and deliveries of the connection have to be signed.`,
        );
      const id = await saveHook(client, orgId, {
        id: this.ids.uuid(),
        connectionId,
        repository: fullName,
        hookId,
        secretId,
        by: caller.actor,
      });
      const detail = { name: row.name, repository: fullName };
      await client.query(
        auditOf(this.ids.uuid(), caller, { action: 'integration.install-hook', target: connectionId, detail }),
      );
      return findHook(client, orgId, connectionId, id);
    });
    if (saved === null) throw notFound();
    return toHook(saved);
  }

  /** @throws SlipwayError as `install`. */
  async remove(caller: Principal, connectionId: string, id: string): Promise<void> {
    const { orgId } = caller;
    const { row, hooks } = await this.callable(orgId, connectionId);
    const hook = await inOrg(this.pool, orgId, (client) => findHook(client, orgId, connectionId, id));
    if (hook === null) throw notFound();
    await this.asking(row, () => hooks.remove(hook.repository, this.addressOf(row)));
    await inOrg(this.pool, orgId, async (client) => {
      await deleteHook(client, orgId, connectionId, id);
      const detail = { name: row.name, repository: hook.repository };
      await client.query(
        auditOf(this.ids.uuid(), caller, { action: 'integration.remove-hook', target: connectionId, detail }),
      );
    });
  }

  private async callable(orgId: string, connectionId: string): Promise<Callable> {
    const row = await inOrg(this.pool, orgId, (client) => findConnection(client, orgId, connectionId));
    if (row === null) throw notFound();
    const access = this.providers.get(row.provider)?.codeHost;
    if (access?.hooks === undefined)
      throw new SlipwayError('integration.hooks-unsupported', 'Slipway makes no webhooks at this provider yet.');
    const credential = await this.asking(row, () => this.credentials.credential(orgId, row));
    if (credential === null) throw new SlipwayError('integration.no-token', `${row.name} has no credential.`);
    const other = (): ReturnType<ConnectionCredentials['credential']> =>
      this.credentials.credential(orgId, row, { refused: credential.id });
    return {
      row,
      hooks: access.hooks(
        this.calls.clientOf(
          access.apiUrl(credential.baseUrl ?? baseUrlOf(row)),
          access.authorization,
          credential,
          other,
        ),
      ),
    };
  }

  private addressOf(row: ConnectionRow): string {
    return deliveriesUrl(this.config.PUBLIC_URL, row);
  }

  private async asking<T>({ host }: ConnectionRow, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.calls.problem(error, host);
    }
  }

  private async opened(orgId: string, connectionId: string, { id, bytes, keyVersion }: StoredSecret): Promise<string> {
    try {
      return await this.envelope.open(
        orgId,
        { bytes, keyVersion },
        integrationSecretContext({ id, connectionId, kind: 'webhook' }),
      );
    } catch (error) {
      throw new SlipwayError('secret.unreadable', 'The webhook secret of the connection cannot be opened.', {
        cause: error,
      });
    }
  }
}

function toHook({
  id,
  repository,
  current,
  state,
  detail,
  checkedAt,
  installedBy,
  installedByLabel,
  installedAt,
}: HookRow): IntegrationHook {
  return {
    id,
    repository,
    state: state === 'installed' && !current ? 'old-secret' : state,
    detail,
    checkedAt: checkedAt?.toISOString() ?? null,
    installedBy: { id: installedBy, label: installedByLabel },
    installedAt: installedAt.toISOString(),
  };
}
