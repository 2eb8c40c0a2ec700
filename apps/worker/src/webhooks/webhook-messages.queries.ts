import type { Columns, PoolClient } from '@slipway/db/sql';

export interface DueMessage {
  readonly id: string;
  readonly body: string;
  /** This one included. */
  readonly attempts: number;
  readonly createdAt: Date;
  readonly webhookId: string;
  readonly url: string;
  readonly failingSince: Date | null;
  readonly secrets: readonly { readonly id: string; readonly bytes: Buffer; readonly keyVersion: number }[];
}

export type Claim =
  | { readonly kind: 'due'; readonly message: DueMessage }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'done' };

/** Takes a message for one attempt; whoever dies with it leaves it for another after `claimMs`. */
export async function claimMessage(
  client: PoolClient,
  orgId: string,
  id: string,
  { now, claimMs }: { readonly now: Date; readonly claimMs: number },
): Promise<Claim> {
  const { rows } = await client.query<
    Columns<'app.webhook_message', 'next_at' | 'body' | 'attempts' | 'created_at' | 'webhook_id'> &
      Columns<'app.outgoing_webhook', 'url' | 'failing_since'> & { state: string; webhook: string }
  >({
    name: 'lock-webhook-message',
    text: `SELECT m.state, m.next_at, m.body, m.attempts, m.created_at, m.webhook_id, w.url, w.state AS webhook, w.failing_since
           FROM app.webhook_message m JOIN app.outgoing_webhook w ON w.id = m.webhook_id WHERE m.org_id = $1 AND m.id = $2 FOR NO KEY UPDATE OF m`,
    values: [orgId, id],
  });
  const row = rows[0];
  if (row === undefined || row.state !== 'waiting') return { kind: 'done' };
  if (row.webhook !== 'active') {
    await client.query(
      `UPDATE app.webhook_message SET state = 'given-up', problem = 'The webhook is disabled.' WHERE org_id = $1 AND id = $2`,
      [orgId, id],
    );
    return { kind: 'done' };
  }
  // The first attempt waits for no clock.
  if (row.attempts > 0 && row.next_at > now) return { kind: 'wait', ms: row.next_at.getTime() - now.getTime() };
  await client.query(
    'UPDATE app.webhook_message SET attempts = attempts + 1, last_at = $3, next_at = $4 WHERE org_id = $1 AND id = $2',
    [orgId, id, now, new Date(now.getTime() + claimMs)],
  );
  const { rows: secrets } = await client.query<DueMessage['secrets'][number]>(
    `SELECT id, sealed AS bytes, key_version AS "keyVersion" FROM app.outgoing_webhook_secret
     WHERE org_id = $1 AND webhook_id = $2 AND (valid_until IS NULL OR valid_until > $3) ORDER BY created_at DESC`,
    [orgId, row.webhook_id, now],
  );
  const message = {
    id,
    body: row.body,
    attempts: row.attempts + 1,
    createdAt: row.created_at,
    webhookId: row.webhook_id,
    url: row.url,
    failingSince: row.failing_since,
    secrets,
  };
  return { kind: 'due', message };
}

export interface Attempt {
  readonly state: 'waiting' | 'delivered' | 'given-up';
  readonly nextAt: Date | null;
  readonly status: number | null;
  readonly answer: string | null;
  readonly problem: string | null;
}

export async function endAttempt(
  client: PoolClient,
  orgId: string,
  id: string,
  { state, nextAt, status, answer, problem }: Attempt,
): Promise<void> {
  await client.query({
    name: 'end-webhook-attempt',
    text: `UPDATE app.webhook_message SET state = $3, next_at = coalesce($4, next_at), last_status = $5, last_answer = left($6, 500), problem = left($7, 500)
           WHERE org_id = $1 AND id = $2 AND state = 'waiting'`,
    values: [orgId, id, state, nextAt, status, answer, problem],
  });
}

/** Whether its webhook takes what is sent. Written only where it changes. */
export async function noteWebhook(
  client: PoolClient,
  orgId: string,
  webhookId: string,
  failingSince: Date | null,
): Promise<void> {
  await client.query(
    `UPDATE app.outgoing_webhook SET failing_since = CASE WHEN $3::timestamptz IS NULL THEN NULL ELSE coalesce(failing_since, $3) END
     WHERE org_id = $1 AND id = $2 AND (failing_since IS NULL) <> ($3::timestamptz IS NULL)`,
    [orgId, webhookId, failingSince],
  );
}

/** @returns whether it was active. */
export async function endWebhook(
  client: PoolClient,
  orgId: string,
  webhookId: string,
  { reason, auditId }: { readonly reason: string; readonly auditId: string },
): Promise<boolean> {
  const { rows } = await client.query<Columns<'app.outgoing_webhook', 'name'>>(
    `UPDATE app.outgoing_webhook SET state = 'failing', state_reason = $3, updated_at = now() WHERE org_id = $1 AND id = $2 AND state = 'active' RETURNING name`,
    [orgId, webhookId, reason],
  );
  if (rows[0] === undefined) return false;
  await client.query(
    `INSERT INTO app.audit_entry (id, org_id, actor_kind, actor_id, actor_label, action, target, detail)
     VALUES ($1, $2, 'system', 'worker', 'Slipway', 'webhook.failing', $3, $4::jsonb)`,
    [auditId, orgId, webhookId, JSON.stringify({ name: rows[0].name, reason })],
  );
  return true;
}
