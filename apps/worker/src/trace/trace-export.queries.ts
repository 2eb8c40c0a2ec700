import { inOrg, type SqlPool } from '@slipway/db/sql';
import { system } from '../conversations/conversation.queries.js';

/** A conversation that has more than was exported. */
export interface UnexportedTrace {
  readonly id: string;
  readonly orgId: string;
  readonly head: number;
  readonly after: number;
}

/** Of one organization and sweep. */
const MOST_OF_ONE = 200;
const MOST = 1_000;

/** Conversations that changed in `(since, until)` and not after, the oldest first. */
export function unexportedTraces(pool: SqlPool, since: Date, until: Date): Promise<UnexportedTrace[]> {
  return system(pool, 'traces to export', async (client) => {
    const { rows } = await client.query<{ id: string; orgId: string; head: string; after: string }>({
      name: 'unexported-traces',
      text: `SELECT c.id, c.org_id AS "orgId", c.head, coalesce(t.upto, 0) AS after
             FROM app.org o
             CROSS JOIN LATERAL (SELECT id, org_id, head, updated_at FROM app.conversation
               WHERE org_id = o.id AND updated_at > $1 AND updated_at < $2 ORDER BY updated_at DESC LIMIT $3) c
             LEFT JOIN app.trace_export t ON t.conversation_id = c.id
             WHERE c.head > coalesce(t.upto, 0) ORDER BY c.updated_at LIMIT $4`,
      values: [since, until, MOST_OF_ONE, MOST],
    });
    return rows.map(({ head, after, ...rest }) => ({ ...rest, head: Number(head), after: Number(after) }));
  });
}

/** Never back: of two workers that export the same the further one counts. */
export function noteExported(pool: SqlPool, orgId: string, conversationId: string, upto: number): Promise<void> {
  return inOrg(pool, orgId, async (client) => {
    await client.query({
      name: 'note-exported',
      text: `INSERT INTO app.trace_export (org_id, conversation_id, upto) SELECT $1, c.id, $3 FROM app.conversation c WHERE c.org_id = $1 AND c.id = $2
             ON CONFLICT (conversation_id) DO UPDATE SET upto = greatest(app.trace_export.upto, excluded.upto), updated_at = now()`,
      values: [orgId, conversationId, upto],
    });
  });
}
