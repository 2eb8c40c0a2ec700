import { Inject, Injectable } from '@nestjs/common';
import type { EgressBodyBatch, WorkspacePrintsAnswer, WorkspacePrintsQuestion } from '@slipway/contracts/sandboxes';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import { SQL_POOL } from '../../platform/tokens.js';
import { countBodies } from './egress-bodies.queries.js';
import { EgressBudgetService } from './egress-budget.service.js';
import { UUID } from './egress-decisions.service.js';
import { WorkspacePrintsService } from './workspace-prints.service.js';

/** What credential-broker saw in the bodies of requests, and what it compares them with. */
@Injectable()
export class EgressBodiesService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    private readonly workspaces: WorkspacePrintsService,
    private readonly budgets: EgressBudgetService,
  ) {}

  /** Counts a batch once, however often it comes. What is of no conversation of the organization is left out. */
  async count(batch: EgressBodyBatch): Promise<void> {
    const rows = batch.rows.filter(({ conversation }) => UUID.test(conversation));
    await inOrg(this.pool, batch.org, async (client) => {
      const seen = await countBodies(client, batch.org, { ...batch, rows });
      await this.budgets.chargeWorkspace(client, batch.org, seen);
    });
  }

  /** Never fails. */
  prints(question: WorkspacePrintsQuestion): Promise<WorkspacePrintsAnswer> {
    return this.workspaces.of(question);
  }
}
