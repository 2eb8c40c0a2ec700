import { type ConversationEvent, LEASE_MS } from '@slipway/contracts/events';
import { type Columns, inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { ConversationStatusState } from '@slipway/domain';
import type { EventBlob } from './event-blobs.js';
import { type ConversationPatch, conversationPatch, storedStatus } from './status-patch.js';

/** An event on its way into the log: parsed for what is decided by it, and as the text that is stored. */
export interface IncomingEvent {
  /** `null` for an event of the platform itself. */
  readonly producerSeq: number | null;
  readonly event: ConversationEvent;
  readonly text: string;
  readonly blobs: readonly EventBlob[];
}

export interface Appended {
  readonly outcome: 'ok' | 'stale' | 'gap' | 'missing';
  readonly acked: number;
  readonly head: number;
  readonly firstSeq: number;
  /** Ids of the events that were stored, ascending from `firstSeq`. */
  readonly stored: readonly string[];
}

interface Caller {
  query: PoolClient['query'];
}

export interface AppendedBatch {
  readonly epoch: number | null;
  readonly events: readonly IncomingEvent[];
  readonly patch?: ConversationPatch | undefined;
}

/** One round trip and one commit. For events that say nothing of the conversation's columns; `[]` renews the lease. */
export function append(
  caller: Caller,
  orgId: string,
  conversationId: string,
  { epoch, events, patch = {} }: AppendedBatch,
): Promise<Appended> {
  return caller
    .query<{ outcome: Appended['outcome']; acked: number; head: number; first_seq: number; stored: string[] }>({
      name: 'append-events',
      text: 'SELECT outcome, acked, head, first_seq, stored::text[] AS stored FROM app.append_events($1, $2, $3, $4, $5::bigint[], $6::uuid[], $7::text[], $8::text[], $9::jsonb)',
      values: [
        orgId,
        conversationId,
        epoch,
        LEASE_MS,
        events.map(({ producerSeq }) => producerSeq),
        events.map(({ event }) => event.id),
        events.map(({ event }) => event.kind),
        events.map(({ text }) => text),
        JSON.stringify(patch),
      ],
    })
    .then(({ rows }) => {
      const row = rows[0];
      if (row === undefined) throw new Error('append_events answered nothing');
      return { outcome: row.outcome, acked: row.acked, head: row.head, firstSeq: row.first_seq, stored: row.stored };
    });
}

export interface LockedBatch {
  readonly epoch: number | null;
  readonly events: readonly IncomingEvent[];
  readonly also?: (client: PoolClient, patch: ConversationPatch, fresh: readonly ConversationEvent[]) => Promise<void>;
}

/**
 * Appends events that change the conversation's columns or bring blobs: the row is locked first, so that the status is
 * reduced from what is really before them, and only from events that are new. `also` runs in the same transaction when
 * something was stored.
 */
export function appendLocked(
  pool: SqlPool,
  orgId: string,
  conversationId: string,
  { epoch, events, also = async () => {} }: LockedBatch,
): Promise<Appended> {
  return inOrg(pool, orgId, async (client) => {
    const row = await lockConversation(client, orgId, conversationId);
    if (row === null) return { outcome: 'missing', acked: 0, head: 0, firstSeq: 0, stored: [] };
    const { appended, patch, fresh } = await appendUnderLock(client, orgId, conversationId, { epoch, events, row });
    if (appended.stored.length > 0) await also(client, patch, fresh);
    return appended;
  });
}

export interface LockedConversation {
  readonly epoch: number;
  readonly acked: number;
  readonly statusState: ConversationStatusState;
}

export async function lockConversation(
  client: PoolClient,
  orgId: string,
  conversationId: string,
): Promise<LockedConversation | null> {
  const { rows } = await client.query<Columns<'app.conversation', 'epoch' | 'acked' | 'status_state'>>({
    name: 'lock-conversation',
    text: 'SELECT epoch, acked, status_state FROM app.conversation WHERE org_id = $1 AND id = $2 FOR UPDATE',
    values: [orgId, conversationId],
  });
  return rows[0] === undefined
    ? null
    : { epoch: rows[0].epoch, acked: rows[0].acked, statusState: storedStatus(rows[0].status_state) };
}

export interface BatchUnderLock {
  readonly epoch: number | null;
  readonly events: readonly IncomingEvent[];
  readonly row: LockedConversation;
}

/** For callers that hold the row's lock and do more in their transaction. */
export async function appendUnderLock(
  client: PoolClient,
  orgId: string,
  conversationId: string,
  { epoch, events, row }: BatchUnderLock,
): Promise<{ appended: Appended; patch: ConversationPatch; fresh: readonly ConversationEvent[] }> {
  const known = await knownIds(client, orgId, conversationId, events);
  const unknown = events.filter(
    ({ event, producerSeq }) => !known.has(event.id) && (producerSeq === null || producerSeq > row.acked),
  );
  const fresh = unknown.map(({ event }) => event);
  const patch = conversationPatch(row.statusState, fresh);
  // Before the events, which take the organization's storage: no transaction waits for a payload while holding that.
  if (takes(row, epoch, events)) await insertBlobs(client, orgId, conversationId, unknown);
  const appended = await append(client, orgId, conversationId, { epoch, events, patch });
  return { appended, patch, fresh };
}

/** Whether `append` will store what is new of these events: as `app.append_events` decides it. */
function takes(row: LockedConversation, epoch: number | null, events: readonly IncomingEvent[]): boolean {
  if (epoch === null) return true;
  return (
    epoch === row.epoch &&
    events.find(({ producerSeq }) => producerSeq !== null && producerSeq > row.acked)?.producerSeq === row.acked + 1
  );
}

async function knownIds(
  client: PoolClient,
  orgId: string,
  conversationId: string,
  events: readonly IncomingEvent[],
): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<Columns<'app.event', 'event_id'>>({
    name: 'known-events',
    text: 'SELECT event_id FROM app.event WHERE org_id = $1 AND conversation_id = $2 AND event_id = ANY($3::uuid[])',
    values: [orgId, conversationId, events.map(({ event }) => event.id)],
  });
  return new Set(rows.map((row) => row.event_id));
}

async function insertBlobs(
  client: PoolClient,
  orgId: string,
  conversationId: string,
  events: readonly IncomingEvent[],
): Promise<void> {
  // In one order everywhere, so that two batches with the same payloads never wait for each other.
  const blobs = [
    ...new Map(events.flatMap((event) => event.blobs.map((blob) => [blob.sha256, blob] as const))).values(),
  ].sort((a, b) => (a.sha256 < b.sha256 ? -1 : 1));
  let added = 0;
  for (const { sha256, content } of blobs) {
    await holdBlob(client, orgId, { sha256, content });
    const { rowCount } = await client.query(
      'INSERT INTO app.conversation_blob (conversation_id, sha256, org_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
      [conversationId, sha256, orgId],
    );
    if (rowCount === 1) added += content.length;
  }
  // Its storage is taken with the events, by the same statement for both.
  if (added > 0)
    await client.query('UPDATE app.conversation SET blob_bytes = blob_bytes + $3 WHERE org_id = $1 AND id = $2', [
      orgId,
      conversationId,
      added,
    ]);
}

/**
 * The payload is there and stays until the transaction ends: whoever deletes what nothing refers to waits for its row.
 */
async function holdBlob(client: PoolClient, orgId: string, { sha256, content }: EventBlob): Promise<void> {
  for (;;) {
    const made = await client.query(
      'INSERT INTO app.blob (org_id, sha256, bytes, content) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING',
      [orgId, sha256, content.length, content],
    );
    if (made.rowCount === 1) return;
    const held = await client.query('SELECT 1 FROM app.blob WHERE org_id = $1 AND sha256 = $2 FOR KEY SHARE', [
      orgId,
      sha256,
    ]);
    if (held.rowCount === 1) return;
  }
}
