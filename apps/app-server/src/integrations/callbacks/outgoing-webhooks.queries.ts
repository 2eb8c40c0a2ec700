import type { WebhookEvent, WebhookMessageState, WebhookState } from '@slipway/contracts/integrations';
import type { Columns, PoolClient } from '@slipway/db/sql';

export type WebhookRow = Columns<
  'app.outgoing_webhook',
  | 'id'
  | 'name'
  | 'url'
  | 'events'
  | 'state'
  | 'state_reason'
  | 'failing_since'
  | 'created_by'
  | 'created_by_label'
  | 'created_at'
  | 'updated_at',
  { events: WebhookEvent[]; state: WebhookState }
> & { readonly old_secret_until: Date | null };

const COLUMNS = `w.id, w.name, w.url, w.events, w.state, w.state_reason, w.failing_since, w.created_by, w.created_by_label, w.created_at, w.updated_at,
  (SELECT max(s.valid_until) FROM app.outgoing_webhook_secret s WHERE s.webhook_id = w.id AND s.valid_until > now()) AS old_secret_until`;

export async function listWebhooks(client: PoolClient, orgId: string, limit: number): Promise<WebhookRow[]> {
  const { rows } = await client.query<WebhookRow>(
    `SELECT ${COLUMNS} FROM app.outgoing_webhook w WHERE w.org_id = $1 ORDER BY w.name, w.id LIMIT $2`,
    [orgId, limit],
  );
  return rows;
}

export async function findWebhook(client: PoolClient, orgId: string, id: string): Promise<WebhookRow | null> {
  const { rows } = await client.query<WebhookRow>(
    `SELECT ${COLUMNS} FROM app.outgoing_webhook w WHERE w.org_id = $1 AND w.id = $2`,
    [orgId, id],
  );
  return rows[0] ?? null;
}

/** The same, locked until the transaction ends. */
export async function lockWebhook(client: PoolClient, orgId: string, id: string): Promise<WebhookRow | null> {
  const { rowCount } = await client.query(
    'SELECT 1 FROM app.outgoing_webhook WHERE org_id = $1 AND id = $2 FOR NO KEY UPDATE',
    [orgId, id],
  );
  return rowCount === 0 ? null : findWebhook(client, orgId, id);
}

export async function countWebhooks(client: PoolClient, orgId: string): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM app.outgoing_webhook WHERE org_id = $1',
    [orgId],
  );
  return rows[0]?.count ?? 0;
}

export async function insertWebhook(
  client: PoolClient,
  orgId: string,
  made: {
    readonly id: string;
    readonly name: string;
    readonly url: string;
    readonly events: readonly string[];
    readonly by: { id: string; label: string };
  },
): Promise<void> {
  await client.query(
    `INSERT INTO app.outgoing_webhook (org_id, id, name, url, events, created_by, created_by_label) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [orgId, made.id, made.name, made.url, made.events, made.by.id, made.by.label],
  );
}

export async function updateWebhook(
  client: PoolClient,
  orgId: string,
  id: string,
  next: Pick<WebhookRow, 'name' | 'url' | 'events' | 'state' | 'state_reason' | 'failing_since'>,
): Promise<void> {
  await client.query(
    `UPDATE app.outgoing_webhook SET name = $3, url = $4, events = $5, state = $6, state_reason = $7, failing_since = $8, mailed_at = CASE $6 WHEN 'failing' THEN mailed_at END, updated_at = now() WHERE org_id = $1 AND id = $2`,
    [orgId, id, next.name, next.url, next.events, next.state, next.state_reason, next.failing_since],
  );
}

export async function deleteWebhook(client: PoolClient, orgId: string, id: string): Promise<void> {
  await client.query('DELETE FROM app.outgoing_webhook WHERE org_id = $1 AND id = $2', [orgId, id]);
}

/** The present secret signs for so many hours more; one that was outdated before goes. */
export async function outdateWebhookSecrets(
  client: PoolClient,
  orgId: string,
  webhookId: string,
  hours: number,
): Promise<void> {
  await client.query(
    'DELETE FROM app.outgoing_webhook_secret WHERE org_id = $1 AND webhook_id = $2 AND valid_until IS NOT NULL',
    [orgId, webhookId],
  );
  await client.query(
    `UPDATE app.outgoing_webhook_secret SET valid_until = now() + $3 * interval '1 hour' WHERE org_id = $1 AND webhook_id = $2 AND valid_until IS NULL`,
    [orgId, webhookId, hours],
  );
}

export async function insertWebhookSecret(
  client: PoolClient,
  orgId: string,
  secret: {
    readonly id: string;
    readonly webhookId: string;
    readonly sealed: { readonly bytes: Uint8Array; readonly keyVersion: number };
  },
): Promise<void> {
  await client.query(
    'INSERT INTO app.outgoing_webhook_secret (org_id, id, webhook_id, sealed, key_version) VALUES ($1, $2, $3, $4, $5)',
    [orgId, secret.id, secret.webhookId, secret.sealed.bytes, secret.sealed.keyVersion],
  );
}

export type MessageRow = Columns<
  'app.webhook_message',
  | 'id'
  | 'event'
  | 'conversation_id'
  | 'body'
  | 'state'
  | 'attempts'
  | 'next_at'
  | 'last_at'
  | 'last_status'
  | 'last_answer'
  | 'problem'
  | 'created_at',
  { state: WebhookMessageState }
>;

const MESSAGE =
  'id, event, conversation_id, body, state, attempts, next_at, last_at, last_status, last_answer, problem, created_at';

/** The newest first, `limit` after `after`. */
export async function listMessages(
  client: PoolClient,
  orgId: string,
  webhookId: string,
  page: {
    readonly state: WebhookMessageState | null;
    readonly after: { readonly createdAt: Date; readonly id: string } | null;
    readonly limit: number;
  },
): Promise<MessageRow[]> {
  const { rows } = await client.query<MessageRow>(
    `SELECT ${MESSAGE} FROM app.webhook_message
     WHERE org_id = $1 AND webhook_id = $2 AND ($3::text IS NULL OR state = $3) AND ($4::timestamptz IS NULL OR (created_at, id) < ($4, $5))
     ORDER BY created_at DESC, id DESC LIMIT $6`,
    [orgId, webhookId, page.state, page.after?.createdAt ?? null, page.after?.id ?? null, page.limit],
  );
  return rows;
}

export async function insertMessage(
  client: PoolClient,
  orgId: string,
  made: { readonly id: string; readonly webhookId: string; readonly event: string; readonly body: string },
): Promise<MessageRow> {
  const { rows } = await client.query<MessageRow>(
    `INSERT INTO app.webhook_message (org_id, id, webhook_id, event, body) VALUES ($1, $2, $3, $4, $5) RETURNING ${MESSAGE}`,
    [orgId, made.id, made.webhookId, made.event, made.body],
  );
  return rows[0] as MessageRow;
}

/** As if it had never been tried. `null`: there is no such message. */
export async function reopenMessage(
  client: PoolClient,
  orgId: string,
  webhookId: string,
  id: string,
): Promise<MessageRow | null> {
  const { rows } = await client.query<MessageRow>(
    `UPDATE app.webhook_message SET state = 'waiting', attempts = 0, next_at = now(), problem = NULL
     WHERE org_id = $1 AND webhook_id = $2 AND id = $3 RETURNING ${MESSAGE}`,
    [orgId, webhookId, id],
  );
  return rows[0] ?? null;
}

/** Organizations with a webhook that is called no more and not mailed yet. As the system role. */
export async function orgsWithFailing(client: PoolClient): Promise<string[]> {
  const { rows } = await client.query<Columns<'app.outgoing_webhook', 'org_id'>>(
    `SELECT DISTINCT org_id FROM app.outgoing_webhook WHERE state = 'failing' AND mailed_at IS NULL LIMIT 100`,
  );
  return rows.map(({ org_id }) => org_id);
}

export interface FailingWebhook {
  readonly org: string;
  readonly name: string;
  readonly url: string;
  readonly reason: string | null;
}

/** Marks them. @returns those to notify, each once. */
export async function takeFailing(client: PoolClient, orgId: string): Promise<FailingWebhook[]> {
  const { rows } = await client.query<FailingWebhook>(
    `UPDATE app.outgoing_webhook w SET mailed_at = now() FROM app.org o WHERE o.id = w.org_id AND w.org_id = $1 AND w.state = 'failing' AND w.mailed_at IS NULL
     RETURNING o.name AS org, w.name, w.url, w.state_reason AS reason`,
    [orgId],
  );
  return rows;
}
