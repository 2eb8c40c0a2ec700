import { Inject, Injectable } from '@nestjs/common';
import type { CredentialTallyBatch, CredentialUses } from '@slipway/contracts/credentials';
import type { Principal } from '@slipway/contracts/organizations';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import { notFound } from '@slipway/errors';
import { SQL_POOL } from '../../platform/tokens.js';
import { countUseTallies, readUses } from './use-tallies.queries.js';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** How often credentials were used, as credential-broker has counted it. */
@Injectable()
export class UseTalliesService {
  constructor(@Inject(SQL_POOL) private readonly pool: SqlPool) {}

  /** Counts a batch once, however often it comes. What is of no conversation of the organization is left out. */
  async count(batch: CredentialTallyBatch): Promise<void> {
    const rows = batch.rows.filter(({ conversation }) => UUID.test(conversation));
    await inOrg(this.pool, batch.org, (client) => countUseTallies(client, batch.org, { ...batch, rows }));
  }

  /** @throws SlipwayError `resource.not-found` */
  async read({ orgId, permissions }: Principal, id: string): Promise<CredentialUses> {
    const named = permissions.has('conversation:read');
    const found = await inOrg(this.pool, orgId, (client) => readUses(client, orgId, id, named));
    if (found === null) throw notFound();
    return found;
  }
}
