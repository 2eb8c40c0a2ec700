import type { DeskMark, PutReadMark, ReadMark, SetDeskMark } from '@slipway/contracts/conversations';
import type { PoolClient } from '@slipway/db/sql';

type Mark = ReadMark & DeskMark;

/** As Postgres writes it: times as text of the contract. */
const MARK = `m.seq, m.tree_hash AS "treeHash", m.done_key AS "doneKey", m.muted,
  to_char(m.snoozed_until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "snoozedUntil"`;

/**
 * Moves the mark forward, never back, whoever comes first; never past the end of the log. The tree hash is that of the
 * furthest position. @returns `null` when there is no such conversation.
 */
export async function putReadMark(
  client: PoolClient,
  orgId: string,
  of: { readonly conversationId: string; readonly userId: string },
  { seq, treeHash }: PutReadMark,
): Promise<ReadMark | null> {
  const { rows } = await client.query<ReadMark>({
    name: 'put-read-mark',
    text: `INSERT INTO app.read_mark AS m (conversation_id, user_id, org_id, seq, seq_at, tree_hash)
           SELECT c.id, $3, c.org_id, least($4::bigint, c.head), now(), $5 FROM app.conversation c WHERE c.org_id = $1 AND c.id = $2 AND c.deleted_at IS NULL
           ON CONFLICT (conversation_id, user_id) DO UPDATE SET seq = greatest(m.seq, excluded.seq),
             seq_at = CASE WHEN excluded.seq >= m.seq THEN excluded.seq_at ELSE m.seq_at END,
             tree_hash = CASE WHEN excluded.seq > m.seq THEN excluded.tree_hash WHEN excluded.seq = m.seq THEN coalesce(excluded.tree_hash, m.tree_hash) ELSE m.tree_hash END
             WHERE m.org_id = $1
           RETURNING m.seq, m.tree_hash AS "treeHash"`,
    values: [orgId, of.conversationId, of.userId, seq, treeHash ?? null],
  });
  return rows[0] ?? null;
}

/** Fields that are not given stay. @returns `null` when there is no such conversation. */
export async function setDeskMark(
  client: PoolClient,
  orgId: string,
  of: { readonly conversationId: string; readonly userId: string },
  { doneKey, snoozedUntil, muted }: SetDeskMark,
): Promise<DeskMark | null> {
  const { rows } = await client.query<Mark>({
    name: 'set-desk-mark',
    text: `INSERT INTO app.read_mark AS m (conversation_id, user_id, org_id, done_key, snoozed_until, muted)
           SELECT c.id, $3, c.org_id, $5, $7, coalesce($8, false) FROM app.conversation c WHERE c.org_id = $1 AND c.id = $2 AND c.deleted_at IS NULL
           ON CONFLICT (conversation_id, user_id) DO UPDATE SET done_key = CASE WHEN $4 THEN excluded.done_key ELSE m.done_key END,
             snoozed_until = CASE WHEN $6 THEN excluded.snoozed_until ELSE m.snoozed_until END, muted = coalesce($8, m.muted)
             WHERE m.org_id = $1
           RETURNING ${MARK}`,
    values: [
      orgId,
      of.conversationId,
      of.userId,
      doneKey !== undefined,
      doneKey ?? null,
      snoozedUntil !== undefined,
      snoozedUntil ?? null,
      muted ?? null,
    ],
  });
  const [mark] = rows;
  return mark === undefined ? null : { doneKey: mark.doneKey, snoozedUntil: mark.snoozedUntil, muted: mark.muted };
}

/** Marks of one user, by conversation. Those without one are absent. */
export async function readMarks(
  client: PoolClient,
  orgId: string,
  userId: string,
  conversationIds: readonly string[],
): Promise<ReadonlyMap<string, Mark>> {
  const { rows } = await client.query<Mark & { id: string }>({
    name: 'read-marks',
    text: `SELECT m.conversation_id AS id, ${MARK} FROM app.read_mark m WHERE m.org_id = $1 AND m.user_id = $2 AND m.conversation_id = ANY ($3::uuid[])`,
    values: [orgId, userId, conversationIds],
  });
  return new Map(rows.map(({ id, ...mark }) => [id, mark]));
}

/** How far a user has looked into a conversation, and when. */
export async function readMarkOf(
  client: PoolClient,
  orgId: string,
  { conversationId, userId }: { readonly conversationId: string; readonly userId: string },
): Promise<{ readonly readSeq: number; readonly readAt: string | null }> {
  const { rows } = await client.query<{ readSeq: number; readAt: Date | null }>({
    name: 'read-mark-of',
    text: `SELECT seq AS "readSeq", seq_at AS "readAt" FROM app.read_mark WHERE org_id = $1 AND user_id = $2 AND conversation_id = $3`,
    values: [orgId, userId, conversationId],
  });
  const [mark] = rows;
  return { readSeq: mark?.readSeq ?? 0, readAt: mark?.readAt?.toISOString() ?? null };
}
