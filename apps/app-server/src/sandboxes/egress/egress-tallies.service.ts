import { Inject, Injectable } from '@nestjs/common';
import type { EgressTallyBatch } from '@slipway/contracts/sandboxes';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import { SQL_POOL } from '../../platform/tokens.js';
import { UUID } from './egress-decisions.service.js';
import { countTallies } from './egress-tallies.queries.js';

/** What egress-proxy counted of the sandboxes of an organization. */
@Injectable()
export class EgressTalliesService {
  constructor(@Inject(SQL_POOL) private readonly pool: SqlPool) {}

  /** Counts a batch once, however often it comes. What is of no conversation of the organization is left out. */
  async count(batch: EgressTallyBatch): Promise<void> {
    // Sandboxes that work for no conversation have sessions with other names.
    const rows = batch.rows.filter(({ conversation }) => UUID.test(conversation));
    await inOrg(this.pool, batch.org, (client) => countTallies(client, batch.org, { ...batch, rows }));
  }
}
