import { Inject, Injectable } from '@nestjs/common';
import { Envelope, integrationSecretContext } from '@slipway/auth/envelope';
import { type InstallIntegrationHook, type IntegrationHook, MAX_HOOKS } from '@slipway/contracts/integrations';
import { type Principal } from '@slipway/contracts/organizations';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import { deliveriesUrl } from '@slipway/integrations';
import { settleSignature } from '@slipway/integrations/hooks';
import { auditOf } from '../../audit/audit-statement.js';
import type { Config } from '../../config.js';
import { CONFIG, IDS, SQL_POOL } from '../../platform/tokens.js';
import { type ConnectionRow, findConnection, findSecret, type StoredSecret } from '../connections.queries.js';
import { assertOwnHooks, HookAccess } from './hook-access.js';
import { countHooks, deleteHook, findHook, saveHook, toHook } from './hooks.queries.js';

/** Makes the webhooks of a connection at its git host, so that no user has to enter address and secret there. */
@Injectable()
export class HookInstallationService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CONFIG) private readonly config: Config,
    private readonly envelope: Envelope,
    private readonly access: HookAccess,
  ) {}

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
    const { row, hooks } = await this.access.callable(orgId, connectionId);
    assertOwnHooks(row);
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
    const {
      fullName,
      id: hookId,
      signature,
    } = await this.access.asking(row, () => hooks.install(repository, settings));
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
    const { row, hooks } = await this.access.callable(orgId, connectionId);
    const hook = await inOrg(this.pool, orgId, (client) => findHook(client, orgId, connectionId, id));
    if (hook === null) throw notFound();
    await this.access.asking(row, () => hooks.remove(hook.repository, this.addressOf(row)));
    await inOrg(this.pool, orgId, async (client) => {
      await deleteHook(client, orgId, connectionId, id);
      const detail = { name: row.name, repository: hook.repository };
      await client.query(
        auditOf(this.ids.uuid(), caller, { action: 'integration.remove-hook', target: connectionId, detail }),
      );
    });
  }

  private addressOf(row: ConnectionRow): string {
    return deliveriesUrl(this.config.PUBLIC_URL, row);
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
