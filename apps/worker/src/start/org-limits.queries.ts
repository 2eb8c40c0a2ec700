import { OrgSettingValues } from '@slipway/contracts/organizations';
import { inOrg, type SqlPool } from '@slipway/db/sql';

/**
 * Steps that an agent of the organization may take for one message, as its admins have set them; `null` when they have
 * not.
 */
export async function maxIterationsOf(pool: SqlPool, orgId: string): Promise<number | null> {
  const { rows } = await inOrg(pool, orgId, (client) =>
    client.query<{ value: unknown }>("SELECT settings -> 'maxIterations' AS value FROM app.org WHERE id = $1", [orgId]),
  );
  return OrgSettingValues.shape.maxIterations.catch(null).parse(rows[0]?.value ?? null);
}
