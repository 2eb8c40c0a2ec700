import { Inject, Injectable } from '@nestjs/common';
import { Envelope, integrationSecretContext } from '@slipway/auth/envelope';
import { type InstallIntegrationHook, type IntegrationHook, type IntegrationHookList, MAX_HOOKS, type Principal } from '@slipway/contracts';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import { baseUrlOf, type Provider, type RepositoryHooks } from '@slipway/integrations';
import { auditOf } from '../../audit/audit-statement.js';
import type { Config } from '../../config.js';
import { CONFIG, IDS, SQL_POOL } from '../../platform/tokens.js';
import { type ConnectionRow, findConnection, findSecret, type StoredSecret } from '../connections.queries.js';
import { KNOWN_PROVIDERS } from '../known-providers.js';
import { ProviderCalls } from '../provider-calls.js';
import { countHooks, deleteHook, findHook, type HookRow, listHooks, saveHook } from './hooks.queries.js';

interface Callable {
  readonly row: ConnectionRow;
  readonly hooks: RepositoryHooks;
}

/** Makes the webhooks of a connection at its git host, so that nobody has to enter address and secret there. */
@Injectable()
export class HooksService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(KNOWN_PROVIDERS) private readonly providers: ReadonlyMap<string, Provider>,
    private readonly envelope: Envelope,
    private readonly calls: ProviderCalls,
  ) {}

  /** @throws SlipwayError `resource.not-found` */
  async list({ orgId }: Principal, connectionId: string): Promise<IntegrationHookList> {
    const rows = await inOrg(this.pool, orgId, async (client) => {
      if ((await findConnection(client, orgId, connectionId)) === null) throw notFound();
      return listHooks(client, orgId, connectionId, MAX_HOOKS);
    });
    return { data: rows.map(toHook) };
  }

  /**
   * Repeatable, also when it is not known what became of the call before: the hook is found by its address.
   * @throws SlipwayError `resource.not-found`, `integration.no-token`, `integration.no-secret`, `integration.hooks-unsupported`, `integration.too-many-hooks`,
   * `integration.provider-away`, `integration.provider-refused`, `settings.url-refused`.
   */
  async install(caller: Principal, connectionId: string, { repository }: InstallIntegrationHook): Promise<IntegrationHook> {
    const { orgId } = caller;
    const { row, hooks } = await this.callable(orgId, connectionId);
    if (row.platform) throw new SlipwayError('integration.no-secret', 'Its deliveries come to the platform’s own app, which needs no webhook.');
    const found = await inOrg(this.pool, orgId, async (client) => ({
      secret: await findSecret(client, orgId, connectionId, 'webhook'),
      others: await countHooks(client, orgId, connectionId, repository),
    }));
    if (found.secret === null) throw notFound();
    if (found.others >= MAX_HOOKS) throw new SlipwayError('integration.too-many-hooks', `Slipway has made ${MAX_HOOKS} webhooks of this connection already.`);
    const secretId = found.secret.id;
    const settings = { url: this.addressOf(row), secret: await this.open(orgId, connectionId, 'webhook', found.secret) };
    const { fullName, id: hookId } = await this.asking(row, () => hooks.install(repository, settings));
    const saved = await inOrg(this.pool, orgId, async (client) => {
      // Deleted meanwhile: what was made delivers to an address that nobody knows.
      if ((await findConnection(client, orgId, connectionId)) === null) throw notFound();
      const id = await saveHook(client, orgId, { id: this.ids.uuid(), connectionId, repository: fullName, hookId, secretId, by: caller.actor });
      const detail = { name: row.name, repository: fullName };
      await client.query(auditOf(this.ids.uuid(), caller, { action: 'integration.install-hook', target: connectionId, detail }));
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
      await client.query(auditOf(this.ids.uuid(), caller, { action: 'integration.remove-hook', target: connectionId, detail }));
    });
  }

  private async callable(orgId: string, connectionId: string): Promise<Callable> {
    const { row, token } = await inOrg(this.pool, orgId, async (client) => {
      const found = await findConnection(client, orgId, connectionId);
      if (found === null) throw notFound();
      return { row: found, token: await findSecret(client, orgId, connectionId, 'token') };
    });
    const access = this.providers.get(row.provider)?.codeHost;
    if (access?.hooks === undefined) throw new SlipwayError('integration.hooks-unsupported', 'Slipway makes no webhooks at this provider yet.');
    if (token === null) throw new SlipwayError('integration.no-token', `No admin has entered an access token for ${row.name}.`);
    const authorization = access.authorization(await this.open(orgId, connectionId, 'token', token));
    return { row, hooks: access.hooks(this.calls.client(access.apiUrl(baseUrlOf(row)), authorization)) };
  }

  private addressOf({ provider, id }: ConnectionRow): string {
    return new URL(`/api/integration/${provider}/events/${id}`, this.config.PUBLIC_URL).href;
  }

  private async asking<T>({ host }: ConnectionRow, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.calls.problem(error, host);
    }
  }

  private async open(orgId: string, connectionId: string, kind: 'token' | 'webhook', { id, bytes, keyVersion }: StoredSecret): Promise<string> {
    try {
      return await this.envelope.open(orgId, { bytes, keyVersion }, integrationSecretContext({ id, connectionId, kind }));
    } catch (error) {
      throw new SlipwayError('secret.unreadable', 'A secret of the connection cannot be opened.', { cause: error });
    }
  }
}

function toHook({ id, repository, current, installedBy, installedByLabel, installedAt }: HookRow): IntegrationHook {
  return {
    id,
    repository,
    state: current ? 'installed' : 'old-secret',
    installedBy: { id: installedBy, label: installedByLabel },
    installedAt: installedAt.toISOString(),
  };
}
