import { Inject, Injectable } from '@nestjs/common';
import type {
  EgressBodyBatch,
  EgressTallyBatch,
  WorkspacePrintsAnswer,
  WorkspacePrintsQuestion,
} from '@slipway/contracts/sandboxes';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import { SQL_POOL } from '../../platform/tokens.js';
import { countBodies } from './egress-bodies.queries.js';
import { UUID } from './egress-decisions.service.js';
import { countTallies } from './egress-tallies.queries.js';
import { WorkspacePrintsService } from './workspace-prints.service.js';

/** What egress-proxy and credential-broker counted of the sandboxes of an organization. */
@Injectable()
export class EgressTalliesService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    private readonly workspaces: WorkspacePrintsService,
  ) {}

  /** Counts a batch once, however often it comes. What is of no conversation of the organization is left out. */
  async count(batch: EgressTallyBatch): Promise<void> {
    await inOrg(this.pool, batch.org, (client) => countTallies(client, batch.org, ofConversations(batch)));
  }

  /** The same of what was in bodies. */
  async countBodies(batch: EgressBodyBatch): Promise<void> {
    await inOrg(this.pool, batch.org, async (client) => {
      await countBodies(client, batch.org, ofConversations(batch));
    });
  }

  /** What bodies are compared with. */
  prints(question: WorkspacePrintsQuestion): Promise<WorkspacePrintsAnswer> {
    return this.workspaces.of(question);
  }
}

/** Sandboxes that work for no conversation have sessions with other names. */
function ofConversations<Row extends { readonly conversation: string }, Batch extends { readonly rows: Row[] }>(
  batch: Batch & { readonly rows: Row[] },
): Batch {
  return { ...batch, rows: batch.rows.filter(({ conversation }) => UUID.test(conversation)) };
}
