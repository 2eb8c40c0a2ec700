import {
  CREDENTIAL_USE_DAYS,
  type CredentialTallyBatch,
  type CredentialUses,
  MAX_LISTED_USES,
} from '@slipway/contracts/credentials';
import type { PoolClient } from '@slipway/db/sql';

/** Largest count that is kept, so that every answer holds it as a number. */
const MOST = Number.MAX_SAFE_INTEGER;

/**
 * Counts a batch, once. Rows of conversations that are not of the organization, or deleted, and of days that are not
 * kept are left out. Forgets what is too old.
 */
export async function countUseTallies(
  client: PoolClient,
  orgId: string,
  { source, seq, rows }: CredentialTallyBatch,
): Promise<void> {
  // One batch of an organization at a time: no two wait for each other's rows.
  await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`credential-tally ${orgId}`]);
  await client.query({
    name: 'credential-tally',
    text: `WITH counted AS (
             INSERT INTO app.egress_tally_source AS s (org_id, source, seq) SELECT id, $2, $3 FROM app.org WHERE id = $1
             ON CONFLICT (org_id, source) DO UPDATE SET seq = excluded.seq, at = now() WHERE s.seq < excluded.seq RETURNING 1
           ), old AS (
             DELETE FROM app.credential_tally WHERE org_id = $1 AND day < current_date - $9::integer
           ), given AS (
             SELECT g.conversation, g.credential, g.place, date '1970-01-01' + g.day AS day, sum(g.uses) AS uses
             FROM unnest($4::uuid[], $5::text[], $6::text[], $7::integer[], $8::bigint[]) AS g(conversation, credential, place, day, uses)
             JOIN app.conversation c ON c.org_id = $1 AND c.id = g.conversation
             WHERE date '1970-01-01' + g.day BETWEEN current_date - $9::integer AND current_date + 1
             GROUP BY 1, 2, 3, 4
           )
           INSERT INTO app.credential_tally AS t (org_id, conversation_id, credential_id, place, day, uses)
           SELECT $1, conversation, credential, place, day, least(uses, ${MOST})::bigint FROM given WHERE EXISTS (SELECT 1 FROM counted)
           ON CONFLICT (org_id, conversation_id, credential_id, place, day)
           DO UPDATE SET uses = least(t.uses + excluded.uses, ${MOST}), last_at = now()`,
    values: [
      orgId,
      source,
      seq,
      rows.map(({ conversation }) => conversation),
      rows.map(({ credential }) => credential),
      rows.map(({ place }) => place),
      rows.map(({ day }) => day),
      rows.map(({ uses }) => uses),
      CREDENTIAL_USE_DAYS,
    ],
  });
}

const COUNTED = `app.credential_tally t WHERE t.org_id = $1 AND t.credential_id = $2 AND t.day >= current_date - ${CREDENTIAL_USE_DAYS}`;

/** @param named whether conversations are named. `null`: there is no such credential. */
export async function readUses(
  client: PoolClient,
  orgId: string,
  id: string,
  named: boolean,
): Promise<CredentialUses | null> {
  const { rows } = await client.query<{ uses: string; last_at: Date | null }>(
    `SELECT coalesce(sum(t.uses), 0)::text AS uses, max(t.last_at) AS last_at
     FROM app.credential k LEFT JOIN (SELECT * FROM ${COUNTED}) t ON true WHERE k.org_id = $1 AND k.id = $2 GROUP BY k.id`,
    [orgId, id],
  );
  const [all] = rows;
  if (all === undefined) return null;
  const { rows: places } = await client.query<{ place: string; uses: string }>(
    `SELECT t.place, sum(t.uses)::text AS uses FROM ${COUNTED} GROUP BY t.place ORDER BY sum(t.uses) DESC, t.place LIMIT ${MAX_LISTED_USES}`,
    [orgId, id],
  );
  const { rows: conversations } = await client.query<{ id: string; title: string; uses: string; last_at: Date }>(
    `SELECT c.id, c.title, u.uses::text AS uses, u.last_at FROM (
       SELECT t.conversation_id, sum(t.uses) AS uses, max(t.last_at) AS last_at FROM ${COUNTED} GROUP BY t.conversation_id) u
     JOIN app.conversation c ON c.org_id = $1 AND c.id = u.conversation_id AND c.deleted_at IS NULL
     WHERE $3 ORDER BY u.uses DESC, c.id LIMIT ${MAX_LISTED_USES}`,
    [orgId, id, named],
  );
  return {
    uses: countOf(all.uses),
    lastAt: all.last_at?.toISOString() ?? null,
    places: places.map(({ place, uses }) => ({ place, uses: countOf(uses) })),
    conversations: conversations.map((each) => ({
      id: each.id,
      title: each.title,
      uses: countOf(each.uses),
      lastAt: each.last_at.toISOString(),
    })),
  };
}

const countOf = (sum: string): number => Math.min(Number(sum), MOST);
