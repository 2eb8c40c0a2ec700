import type { ConnectionSettings, OwnIdentity } from '@slipway/contracts/integrations';
import type { Role } from '@slipway/contracts/organizations';
import type { PoolClient } from '@slipway/db/sql';
import type { ActorHere, ThreadHere } from './decision.js';

/** A delivery as it is stored, with what of its connection decides about it. */
export interface StoredDelivery {
  readonly id: string;
  readonly orgId: string;
  readonly state: string;
  readonly attempts: number;
  readonly receivedAt: Date;
  readonly sealed: { readonly bytes: Buffer; readonly keyVersion: number };
  readonly connection: StoredConnection;
  /** The name of the one that its connection requires. */
  readonly signature: string;
  /** The organization waits for its deletion. */
  readonly closing: boolean;
}

export interface StoredConnection {
  readonly id: string;
  readonly provider: string;
  readonly host: string;
  readonly account: string | null;
  readonly state: string;
  readonly own: OwnIdentity;
  readonly settings: ConnectionSettings;
  /** The app that it is by; `null` or missing: it is by none. */
  readonly app?: { readonly state: string; readonly installationId: string | null } | null;
}

export async function findDelivery(client: PoolClient, orgId: string, id: string): Promise<StoredDelivery | null> {
  const { rows } = await client.query<{
    state: string;
    attempts: number;
    received_at: Date;
    sealed: Buffer;
    key_version: number;
    signature: string;
    connection: StoredConnection;
    closing: boolean;
  }>({
    name: 'find-delivery',
    text: `SELECT d.state, d.attempts, d.received_at, d.sealed, d.key_version, c.signature,
             jsonb_build_object('id', c.id, 'provider', c.provider, 'host', c.host, 'account', c.account, 'state', c.state, 'own', c.own, 'settings', c.settings,
               'app', (SELECT jsonb_build_object('state', a.state, 'installationId', a.installation_id) FROM app.integration_app a WHERE a.connection_id = c.id)) AS connection,
             coalesce((SELECT o.deletes_at IS NOT NULL FROM app.org o WHERE o.id = $1), true) AS closing
           FROM app.integration_delivery d JOIN app.integration_connection c ON c.id = d.connection_id WHERE d.org_id = $1 AND d.id = $2`,
    values: [orgId, id],
  });
  const row = rows[0];
  if (row === undefined) return null;
  const { state, attempts, received_at: receivedAt, sealed, key_version, signature, connection, closing } = row;
  return {
    id,
    orgId,
    state,
    attempts,
    receivedAt,
    sealed: { bytes: sealed, keyVersion: key_version },
    signature,
    connection,
    closing,
  };
}

/** Of the threads that are asked for, those that belong to a conversation or are muted. */
export async function findThreads(
  client: PoolClient,
  orgId: string,
  connectionId: string,
  keys: readonly string[],
): Promise<ReadonlyMap<string, ThreadHere>> {
  if (keys.length === 0) return new Map();
  const { rows } = await client.query<{ thread_key: string; conversation_id: string | null; muted: boolean }>({
    name: 'find-threads',
    text: `SELECT thread_key, conversation_id, muted_at IS NOT NULL AS muted FROM app.integration_thread WHERE org_id = $1 AND connection_id = $2 AND thread_key = ANY ($3)`,
    values: [orgId, connectionId, keys],
  });
  return new Map(rows.map((row) => [row.thread_key, { conversationId: row.conversation_id, muted: row.muted }]));
}

export async function findActor(
  client: PoolClient,
  orgId: string,
  actor: { readonly provider: string; readonly host: string; readonly id: string },
): Promise<ActorHere | null> {
  const { rows } = await client.query<{ user_id: string; label: string; role: Role | null; over_budget: boolean }>({
    name: 'integration-actor',
    text: 'SELECT user_id, label, role, over_budget FROM app.integration_actor($1, $2, $3, $4)',
    values: [orgId, actor.provider, actor.host, actor.id],
  });
  const row = rows[0];
  return row === undefined
    ? null
    : { userId: row.user_id, label: row.label, role: row.role, overBudget: row.over_budget };
}

/** A deed, by the key that all its deliveries share. */
export interface Deed {
  readonly provider: string;
  readonly host: string;
  readonly semanticKey: string;
}

/** Whether another delivery than `id` has claimed the deed. */
export async function isRepeated(
  client: PoolClient,
  orgId: string,
  { provider, host, semanticKey }: Deed,
  id: string,
): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'deed-claimed',
    text: 'SELECT 1 FROM app.integration_dedupe WHERE org_id = $1 AND provider = $2 AND host = $3 AND semantic_key = $4 AND delivery_id <> $5',
    values: [orgId, provider, host, semanticKey, id],
  });
  return rowCount === 1;
}

/**
 * Takes the deed for this delivery, until the transaction ends for good. False: another has it. Waits for one that is
 * about to take it.
 */
export async function claimDeed(
  client: PoolClient,
  orgId: string,
  { provider, host, semanticKey }: Deed,
  id: string,
): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'claim-deed',
    text: `INSERT INTO app.integration_dedupe (org_id, provider, host, semantic_key, delivery_id) VALUES ($1, $2, $3, $4, $5)
           ON CONFLICT (org_id, provider, host, semantic_key) DO NOTHING`,
    values: [orgId, provider, host, semanticKey, id],
  });
  return rowCount === 1;
}
