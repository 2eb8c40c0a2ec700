import { type Columns, inOrg, type SqlPool } from '@slipway/db/sql';

/** Texts of the payloads that this conversation's events refer to, by hash. Others are absent. */
export async function readBlobs(
  pool: SqlPool,
  orgId: string,
  conversationId: string,
  hashes: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await inOrg(pool, orgId, (client) =>
    client.query<Columns<'app.blob', 'sha256' | 'content'>>({
      name: 'read-blobs',
      text: `SELECT b.sha256, b.content FROM app.conversation_blob c JOIN app.blob b ON b.org_id = c.org_id AND b.sha256 = c.sha256
             WHERE c.org_id = $1 AND c.conversation_id = $2 AND c.sha256 = ANY($3)`,
      values: [orgId, conversationId, hashes],
    }),
  );
  return new Map(rows.map((row) => [row.sha256, row.content.toString('utf8')]));
}
