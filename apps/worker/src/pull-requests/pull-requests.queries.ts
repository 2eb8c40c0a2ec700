import { type Columns, inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { Thread } from '@slipway/integrations';
import type { StoredConnection } from '@slipway/integrations/deliveries';
import type { PullRequestRow } from '@slipway/integrations/pull-requests';

const COLUMNS = {
  number: 'number',
  url: 'url',
  title: 'title',
  branch: 'branch',
  base: 'base',
  headSha: 'head_sha',
  pushedSha: 'pushed_sha',
  pushingSha: 'pushing_sha',
  content: 'content',
  state: 'state',
  draft: 'draft',
  checks: 'checks',
  checkList: 'check_list',
  review: 'review',
  conflicts: 'conflicts',
  doneVersion: 'done_version',
  publish: 'publish',
  mergeWanted: 'merge_wanted',
  merge: 'merge',
  problem: 'problem',
  fixWanted: 'fix_wanted',
  fix: 'fix',
  fixRounds: 'fix_rounds',
  fixStopped: 'fix_stopped',
  told: 'told',
  publishedAt: 'published_at',
  refreshedAt: 'refreshed_at',
} as const satisfies Partial<Record<keyof PullRequestRow, string>>;
const JSON_COLUMNS: ReadonlySet<string> = new Set([
  'checks',
  'checkList',
  'mergeWanted',
  'problem',
  'fixWanted',
  'fix',
  'told',
]);

/** What the worker writes of a pull request; what it leaves out stays. */
export type PullRequestChange = Partial<Pick<PullRequestRow, keyof typeof COLUMNS>>;

export async function changePullRequest(
  client: PoolClient,
  orgId: string,
  id: string,
  change: PullRequestChange,
): Promise<void> {
  const names = Object.keys(change) as (keyof typeof COLUMNS)[];
  if (names.length === 0) return;
  await client.query(
    `UPDATE app.pull_request SET ${names.map((name, index) => `${COLUMNS[name]} = $${index + 3}${JSON_COLUMNS.has(name) ? '::jsonb' : ''}`).join(', ')}, updated_at = now()
     WHERE org_id = $1 AND id = $2`,
    [
      orgId,
      id,
      ...names.map((name) =>
        JSON_COLUMNS.has(name) && change[name] !== null ? JSON.stringify(change[name]) : change[name],
      ),
    ],
  );
}

export async function findConnectionById(
  client: PoolClient,
  orgId: string,
  id: string,
): Promise<StoredConnection | null> {
  const { rows } = await client.query<StoredConnection>({
    name: 'find-connection-by-id',
    text: 'SELECT id, provider, host, account, state, own, settings FROM app.integration_connection WHERE org_id = $1 AND id = $2',
    values: [orgId, id],
  });
  return rows[0] ?? null;
}

export type ConversationTexts = Columns<'app.conversation', 'title'> & {
  /** What the agent said last; `null`: nothing. */
  readonly said: string | null;
};

/** How far back the last words of an agent are searched. Events. */
const LOOKED_BACK = 200;

export function readTexts(pool: SqlPool, orgId: string, conversationId: string): Promise<ConversationTexts> {
  return inOrg(pool, orgId, async (client) => {
    const { rows } = await client.query<ConversationTexts>({
      name: 'read-texts-of-conversation',
      text: `SELECT c.title, (
               SELECT coalesce(e.event -> 'action' ->> 'message', e.event -> 'llm_message' -> 'content' -> 0 ->> 'text') FROM app.event e
               WHERE e.conversation_id = c.id AND e.seq > c.head - $3 AND e.event ->> 'source' = 'agent'
                 AND (e.kind = 'MessageEvent' OR (e.kind = 'ActionEvent' AND e.event ->> 'tool_name' = 'finish'))
               ORDER BY e.seq DESC LIMIT 1) AS said
             FROM app.conversation c WHERE c.org_id = $1 AND c.id = $2`,
      values: [orgId, conversationId, LOOKED_BACK],
    });
    return rows[0] ?? { title: '', said: null };
  });
}

/** Where at this connection the conversation came from; `null`: from nowhere there. */
export function readThreadPlace(
  pool: SqlPool,
  orgId: string,
  conversationId: string,
  connectionId: string,
): Promise<Thread['place'] | null> {
  return inOrg(pool, orgId, async (client) => {
    const { rows } = await client.query<Columns<'app.integration_thread', 'place', { place: Thread['place'] }>>({
      name: 'read-thread-place',
      text: 'SELECT place FROM app.integration_thread WHERE org_id = $1 AND conversation_id = $2 AND connection_id = $3 ORDER BY created_at LIMIT 1',
      values: [orgId, conversationId, connectionId],
    });
    return rows[0]?.place ?? null;
  });
}

/**
 * The account of a member at a provider, as they have linked it in this organization, else as verified by the
 * operator's sign-in; `null`: none.
 */
export function readLinkedAccount(
  pool: SqlPool,
  orgId: string,
  userId: string,
  at: { readonly provider: string; readonly host: string },
): Promise<{ id: string; login: string } | null> {
  return inOrg(pool, orgId, async (client) => {
    const { rows } = await client.query<Columns<'app.linked_account', 'login'> & { id: string }>({
      name: 'read-linked-account',
      text: `SELECT a.id, a.login FROM (
               SELECT external_user_id AS id, login, 0 AS rank, linked_at FROM app.linked_account WHERE org_id = $1 AND user_id = $2 AND provider = $3 AND host = $4
               UNION ALL SELECT external_user_id, login, 1, linked_at FROM app.external_identity WHERE user_id = $2 AND provider = $3 AND host = $4) a
             WHERE EXISTS (SELECT 1 FROM app.membership m WHERE m.org_id = $1 AND m.user_id = $2) ORDER BY a.rank, a.linked_at DESC LIMIT 1`,
      values: [orgId, userId, at.provider, at.host],
    });
    return rows[0] ?? null;
  });
}

/** The outbox leaves the job alone for as long. */
export async function postponeJob(pool: SqlPool, orgId: string, id: string, ms: number): Promise<void> {
  await inOrg(pool, orgId, (client) =>
    client.query(
      `UPDATE app.outbox SET enqueued_at = clock_timestamp() + $3 * interval '1 millisecond' WHERE org_id = $1 AND queue = 'pull-request' AND key = $2`,
      [orgId, id, ms],
    ),
  );
}

export interface AskedInThread {
  readonly message: string;
  readonly userId: string;
  readonly label: string;
}

/**
 * The last message to the agent, if it came from a thread of this connection, or is the one that asked to mend the pull
 * request; `null`: it came from elsewhere.
 * @param fix id of that message.
 */
export async function asksToPublish(
  client: PoolClient,
  orgId: string,
  conversationId: string,
  { connectionId, fix }: { readonly connectionId: string; readonly fix: string | null },
): Promise<AskedInThread | null> {
  const { rows } = await client.query<AskedInThread & { asks: boolean | null }>({
    name: 'asks-to-publish',
    text: `SELECT m.id AS message, m.created_by AS "userId", m.created_by_label AS label, m.id::text = $4::text OR (m.from_thread
             AND EXISTS (SELECT 1 FROM app.integration_thread t WHERE t.org_id = $1 AND t.conversation_id = $2 AND t.connection_id = $3)) AS asks
           FROM (SELECT event_id FROM app.event WHERE org_id = $1 AND conversation_id = $2 AND kind = 'MessageEvent' AND (event -> 'source')::text = '"user"' ORDER BY seq DESC LIMIT 1
           ) e JOIN app.inbox_message m ON m.org_id = $1 AND m.id = e.event_id`,
    values: [orgId, conversationId, connectionId, fix],
  });
  return rows[0]?.asks === true ? rows[0] : null;
}

/** Files that the workspace had changed at its last snapshot. */
export async function readChangesCount(client: PoolClient, orgId: string, conversationId: string): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    'SELECT jsonb_array_length(changes)::int AS count FROM app.workspace_snapshot WHERE org_id = $1 AND conversation_id = $2',
    [orgId, conversationId],
  );
  return rows[0]?.count ?? 0;
}

export async function wantPullRequestJob(client: PoolClient, orgId: string, id: string): Promise<void> {
  await client.query(
    `INSERT INTO app.outbox (id, org_id, queue, key, payload, enqueued_at)
     VALUES (gen_random_uuid(), $1, 'pull-request', $2, jsonb_build_object('orgId', $1::text, 'pullRequestId', $2::text), clock_timestamp())
     ON CONFLICT (queue, key) DO UPDATE SET id = excluded.id, enqueued_at = clock_timestamp()`,
    [orgId, id],
  );
}

/**
 * What is said at the pull request belongs to the conversation that made it; a thread that has one already keeps it.
 */
export async function bindThread(
  client: PoolClient,
  row: PullRequestRow,
  connectionId: string,
  thread: Pick<Thread, 'key' | 'place' | 'url' | 'title'>,
): Promise<void> {
  await client.query(
    `INSERT INTO app.integration_thread (connection_id, thread_key, org_id, conversation_id, place, url, title, confidential)
     VALUES ($1, $2, $3, $4, $5::jsonb, $6, left($7, 500), false) ON CONFLICT (connection_id, thread_key) DO NOTHING`,
    [connectionId, thread.key, row.orgId, row.conversationId, JSON.stringify(thread.place), thread.url, thread.title],
  );
}
