import { type Columns, inOrg, type SqlPool } from '@slipway/db/sql';

/** @param pool one that shows deleted conversations: one in the trash is not gone. */
export function isGone(pool: SqlPool, orgId: string, id: string): Promise<boolean> {
  return inOrg(
    pool,
    orgId,
    async (client) =>
      (await client.query('SELECT 1 FROM app.conversation WHERE org_id = $1 AND id = $2', [orgId, id])).rowCount === 0,
  );
}

/**
 * Deletes up to `limit` of a conversation's references, and those of their payloads that nothing else refers to. The
 * payloads are locked before their references are counted: a concurrent reference (`holdBlob` of app-server) either
 * comes first, or waits and stores the payload again.
 * @returns how many references.
 */
export function deleteSomePayloads(pool: SqlPool, orgId: string, id: string, limit: number): Promise<number> {
  return inOrg(pool, orgId, async (client) => {
    const { rows } = await client.query<Columns<'app.conversation_blob', 'sha256'>>(
      `DELETE FROM app.conversation_blob WHERE org_id = $1 AND conversation_id = $2 AND sha256 IN
         (SELECT sha256 FROM app.conversation_blob WHERE org_id = $1 AND conversation_id = $2 ORDER BY sha256 LIMIT $3) RETURNING sha256`,
      [orgId, id, limit],
    );
    const hashes = rows.map(({ sha256 }) => sha256);
    await client.query('SELECT 1 FROM app.blob WHERE org_id = $1 AND sha256 = ANY ($2) ORDER BY sha256 FOR UPDATE', [
      orgId,
      hashes,
    ]);
    await client.query(
      `DELETE FROM app.blob b WHERE b.org_id = $1 AND b.sha256 = ANY ($2)
         AND NOT EXISTS (SELECT 1 FROM app.conversation_blob r WHERE r.org_id = b.org_id AND r.sha256 = b.sha256)`,
      [orgId, hashes],
    );
    return hashes.length;
  });
}

export async function deleteSecretsOf(pool: SqlPool, orgId: string, id: string): Promise<void> {
  await inOrg(pool, orgId, (client) =>
    client.query(`DELETE FROM app.secret WHERE org_id = $1 AND scope = 'conversation' AND scope_value = $2`, [
      orgId,
      id,
    ]),
  );
}

/** The last of it: whatever was wanted for the conversation, this deletion included. */
export async function finishDeletion(pool: SqlPool, orgId: string, id: string): Promise<void> {
  await inOrg(pool, orgId, (client) =>
    client.query('DELETE FROM app.outbox WHERE org_id = $1 AND key = $2', [orgId, id]),
  );
}
