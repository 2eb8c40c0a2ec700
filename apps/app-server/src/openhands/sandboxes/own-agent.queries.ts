import { type Role } from '@slipway/contracts/organizations';
import { repositoryKey } from '@slipway/contracts/secrets';
import type { Columns, PoolClient } from '@slipway/db/sql';

/**
 * What commands of a conversation's sandbox have as variables, by name. As the worker gives them (`GrantedSecrets`): of
 * two with one name the narrower, and a reference to a brokered credential before both.
 */
export async function namesOfSecrets(
  client: PoolClient,
  orgId: string,
  conversation: string,
): Promise<Array<{ name: string; description: string | null }>> {
  const { rows: found } = await client.query<Columns<'app.conversation', 'created_by' | 'environment' | 'repository'>>(
    'SELECT created_by, environment, repository FROM app.conversation WHERE org_id = $1 AND id = $2',
    [orgId, conversation],
  );
  const [row] = found;
  if (row === undefined) return [];
  const { rows } = await client.query<Columns<'app.secret', 'name' | 'description'>>(
    `SELECT DISTINCT ON (found.name) found.name, found.description FROM (
       SELECT s.name, s.description, array_position(ARRAY['conversation', 'person', 'repository', 'environment', 'org'], s.scope::text) AS rank
       FROM app.secret s LEFT JOIN app.org o ON o.id = s.org_id
       WHERE s.org_id = $1 AND s.kind = 'variable' AND coalesce(o.settings ->> 'secretsInSandbox', 'allowed') = 'allowed'
         AND ((s.scope = 'org') OR (s.scope = 'environment' AND s.scope_value = $2) OR (s.scope = 'repository' AND s.scope_value = $3)
           OR (coalesce(o.settings -> 'memberSecrets' <> 'false'::jsonb, true)
               AND ((s.scope = 'person' AND s.scope_value = $4) OR (s.scope = 'conversation' AND s.scope_value = $5))))
       UNION ALL
       SELECT k.name, k.description, array_position(ARRAY['repository', 'environment', 'org'], k.scope) - 10
       FROM app.credential k
       WHERE k.org_id = $1 AND k.form = 'placeholder'
         AND ((k.scope = 'org') OR (k.scope = 'environment' AND k.scope_value = $2) OR (k.scope = 'repository' AND k.scope_value = $3))
     ) found ORDER BY found.name, found.rank`,
    [
      orgId,
      row.environment,
      row.repository === null ? null : repositoryKey(row.repository),
      row.created_by,
      conversation,
    ],
  );
  return rows.map(({ name, description }) => ({ name, description: description === '' ? null : description }));
}

/**
 * The role of who holds a grant, while it holds; `null` when it has ended. The client's transaction is the system's
 * afterwards.
 */
export async function liveRoleOf(client: PoolClient, grant: string): Promise<Role | null> {
  const { rows } = await client.query<{ role: Role }>('SELECT role FROM app.live_sandbox_grants($1)', [[grant]]);
  return rows[0]?.role ?? null;
}
