import { Inject, Injectable } from '@nestjs/common';
import type { Principal } from '@slipway/contracts/organizations';
import type { EgressTopHosts, EgressTraffic } from '@slipway/contracts/sandboxes';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import { notFound } from '@slipway/errors';
import { SQL_POOL } from '../../platform/tokens.js';
import { bodiesOf } from './egress-bodies.queries.js';
import { EgressBudgetService } from './egress-budget.service.js';
import { topHosts, trafficOf } from './egress-traffic.queries.js';

/** What sandboxes sent, and where to. */
@Injectable()
export class EgressTrafficService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    private readonly budgets: EgressBudgetService,
  ) {}

  /** @throws SlipwayError `resource.not-found` */
  ofConversation({ orgId }: Principal, conversationId: string): Promise<EgressTraffic> {
    return inOrg(this.pool, orgId, async (client) => {
      const { rowCount } = await client.query('SELECT 1 FROM app.conversation WHERE org_id = $1 AND id = $2', [
        orgId,
        conversationId,
      ]);
      if (rowCount === 0) throw notFound();
      const budget = await this.budgets.today(client, orgId, conversationId);
      const bodies = await bodiesOf(client, orgId, conversationId);
      return { ...(await trafficOf(client, orgId, conversationId)), bodies, budget };
    });
  }

  topHosts({ orgId }: Principal): Promise<EgressTopHosts> {
    return inOrg(this.pool, orgId, (client) => topHosts(client, orgId));
  }
}
