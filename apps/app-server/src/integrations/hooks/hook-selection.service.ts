import { Inject, Injectable } from '@nestjs/common';
import { type IntegrationHookList, MAX_HOOKS, type SelectIntegrationHooks } from '@slipway/contracts/integrations';
import { type Principal } from '@slipway/contracts/organizations';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { Ids } from '@slipway/domain';
import { notFound } from '@slipway/errors';
import { repairHooks } from '@slipway/integrations/hooks';
import { auditOf } from '../../audit/audit-statement.js';
import { Jobs } from '../../platform/jobs.js';
import { IDS, SQL_POOL } from '../../platform/tokens.js';
import { assertOwnHooks, HookAccess } from './hook-access.js';
import { findSelection, listHooks, saveSelection, toHook } from './hooks.queries.js';

/** Which repositories of a connection have webhooks, and which get them by themselves. */
@Injectable()
export class HookSelectionService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    private readonly access: HookAccess,
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
    const { row } = await this.access.callable(orgId, connectionId);
    assertOwnHooks(row);
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
    const { row } = await this.access.callable(orgId, connectionId);
    assertOwnHooks(row);
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
}
