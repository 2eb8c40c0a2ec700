import { asSystem, type Columns, type PoolClient, type SqlPool } from '@slipway/db/sql';

export type DueMail = Columns<'app.outgoing_mail', 'id' | 'recipient' | 'subject' | 'body' | 'attempts'> & {
  readonly orgId: string;
};

export async function insertMail(
  client: PoolClient,
  orgId: string,
  mail: { id: string; recipient: string; subject: string; body: Buffer },
): Promise<void> {
  await client.query(
    'INSERT INTO app.outgoing_mail (id, org_id, recipient, subject, body) VALUES ($1, $2, $3, $4, $5)',
    [mail.id, orgId, mail.recipient, mail.subject, mail.body],
  );
}

/** A mail that is not wanted any more. One that is being sent at this moment may still arrive. */
export async function withdrawMail(client: PoolClient, orgId: string, id: string): Promise<void> {
  await client.query('DELETE FROM app.outgoing_mail WHERE org_id = $1 AND id = $2 AND sent_at IS NULL', [orgId, id]);
}

const system = <T>(pool: SqlPool, work: (client: PoolClient) => Promise<T>): Promise<T> =>
  asSystem(pool, 'slipway_app_system', 'send mail', work);

/** Takes mails that are due, of all organizations; reserved for `seconds`. */
export function claimMails(pool: SqlPool, limit: number, seconds: number): Promise<DueMail[]> {
  return system(pool, async (client) => {
    const { rows } = await client.query<DueMail>(
      `UPDATE app.outgoing_mail SET next_try_at = now() + $2 * interval '1 second', attempts = attempts + 1 WHERE id IN
         (SELECT id FROM app.outgoing_mail WHERE sent_at IS NULL AND failed_at IS NULL AND next_try_at <= now() ORDER BY next_try_at LIMIT $1 FOR UPDATE SKIP LOCKED)
       RETURNING id, org_id AS "orgId", recipient, subject, body, attempts`,
      [limit, seconds],
    );
    return rows;
  });
}

export async function markSent(pool: SqlPool, id: string): Promise<void> {
  await system(pool, (client) =>
    client.query('UPDATE app.outgoing_mail SET sent_at = now(), body = NULL, last_error = NULL WHERE id = $1', [id]),
  );
}

/** @param againSeconds `null`: given up. */
export async function markFailed(pool: SqlPool, id: string, error: string, againSeconds: number | null): Promise<void> {
  await system(pool, (client) =>
    againSeconds === null
      ? client.query('UPDATE app.outgoing_mail SET failed_at = now(), body = NULL, last_error = $2 WHERE id = $1', [
          id,
          error,
        ])
      : client.query(
          `UPDATE app.outgoing_mail SET next_try_at = now() + $3 * interval '1 second', last_error = $2 WHERE id = $1`,
          [id, error, againSeconds],
        ),
  );
}
