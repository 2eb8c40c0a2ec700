import { ROLE_PERMISSIONS, type Role } from '@slipway/contracts/organizations';
import { MAX_LISTED_SANDBOX_ACCESS } from '@slipway/contracts/sandboxes';
import type { Columns, PoolClient } from '@slipway/db/sql';

export interface NewGrant {
  readonly id: string;
  readonly orgId: string;
  readonly userId: string;
  /** Of these two, the one that it was made with. */
  readonly sessionId: string | null;
  readonly apiKeyId: string | null;
  readonly conversationId: string;
  readonly port: number;
  /** Null: it has no ticket. */
  readonly ticketHash: Buffer | null;
  readonly ticketExpiresAt: Date;
  readonly expiresAt: Date;
}

/**
 * Makes the grant, and clears away those of the organization that are over. @returns false when there is no such
 * conversation.
 */
export async function insertGrant(client: PoolClient, grant: NewGrant): Promise<boolean> {
  await client.query('DELETE FROM app.sandbox_grant WHERE org_id = $1 AND expires_at < now()', [grant.orgId]);
  const { rowCount } = await client.query(
    `INSERT INTO app.sandbox_grant (id, org_id, user_id, session_id, conversation_id, port, ticket_hash, ticket_expires_at, expires_at, api_key_id)
     SELECT $1, $2, $3, $4, c.id, $6, $7, $8, $9, $10 FROM app.conversation c WHERE c.org_id = $2 AND c.id = $5`,
    [
      grant.id,
      grant.orgId,
      grant.userId,
      grant.sessionId,
      grant.conversationId,
      grant.port,
      grant.ticketHash,
      grant.ticketExpiresAt,
      grant.expiresAt,
      grant.apiKeyId,
    ],
  );
  return rowCount === 1;
}

export type OpenGrant = Columns<'app.sandbox_grant', 'id' | 'user_id' | 'port' | 'created_at' | 'expires_at'> & {
  readonly label: string;
};

/**
 * The grants of a conversation that sandbox-gateway lets in now, newest first; `null` when there is no such
 * conversation. The client's transaction is the system's afterwards (`app.live_sandbox_grants`): this is the last that
 * is asked in it.
 */
export async function openGrants(
  client: PoolClient,
  orgId: string,
  conversationId: string,
): Promise<OpenGrant[] | null> {
  const known = await client.query('SELECT 1 FROM app.conversation WHERE org_id = $1 AND id = $2', [
    orgId,
    conversationId,
  ]);
  if (known.rowCount === 0) return null;
  const { rows } = await client.query<OpenGrant>(
    `SELECT g.id, g.user_id, coalesce(u.name, a.name, g.user_id) AS label, g.port, g.created_at, g.expires_at FROM app.sandbox_grant g
     LEFT JOIN app.user_account u ON u.id = g.user_id LEFT JOIN app.service_account a ON a.org_id = g.org_id AND a.id = g.user_id
     WHERE g.org_id = $1 AND g.conversation_id = $2 AND g.revoked_at IS NULL AND g.expires_at > now()
     ORDER BY g.created_at DESC, g.id LIMIT $3`,
    [orgId, conversationId, MAX_LISTED_SANDBOX_ACCESS],
  );
  const live = await client.query<{ id: string; role: Role }>('SELECT id, role FROM app.live_sandbox_grants($1)', [
    rows.map((row) => row.id),
  ]);
  const open = new Set(
    live.rows
      .filter(({ role }) => (ROLE_PERMISSIONS[role] as readonly string[]).includes('sandbox:access'))
      .map(({ id }) => id),
  );
  return rows.filter((row) => open.has(row.id));
}

/**
 * Ends one grant of a conversation, or with `null` all of them. @returns the ids of those that held until now; `null`
 * when there is no such conversation or grant.
 */
export async function revokeGrants(
  client: PoolClient,
  orgId: string,
  conversationId: string,
  id: string | null,
): Promise<string[] | null> {
  const known =
    id === null
      ? await client.query('SELECT 1 FROM app.conversation WHERE org_id = $1 AND id = $2', [orgId, conversationId])
      : await client.query('SELECT 1 FROM app.sandbox_grant WHERE org_id = $1 AND conversation_id = $2 AND id = $3', [
          orgId,
          conversationId,
          id,
        ]);
  if (known.rowCount === 0) return null;
  const { rows } = await client.query<Columns<'app.sandbox_grant', 'id'>>(
    `UPDATE app.sandbox_grant SET revoked_at = now(), ticket_hash = NULL
     WHERE org_id = $1 AND conversation_id = $2 AND ($3::text IS NULL OR id = $3) AND revoked_at IS NULL RETURNING id`,
    [orgId, conversationId, id],
  );
  return rows.map((row) => row.id);
}

/** A user's access to one port of one conversation, by the credential that it ends with. */
export type OwnAccess = Pick<NewGrant, 'orgId' | 'userId' | 'sessionId' | 'apiKeyId' | 'conversationId' | 'port'>;

/** Of those who ask for the same access at once, the others wait until the first has one. */
export async function lockOwnAccess(client: PoolClient, access: OwnAccess): Promise<void> {
  const of = [
    access.orgId,
    access.userId,
    access.sessionId ?? access.apiKeyId ?? '',
    access.conversationId,
    access.port,
  ];
  await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`sandbox-access ${of.join(' ')}`]);
}

/** An active access to a port, given by the same credential and valid for another hour; `null` when there is none. */
export async function ownGrant(
  client: PoolClient,
  access: OwnAccess,
): Promise<{ id: string; expires_at: Date } | null> {
  const { rows } = await client.query<Columns<'app.sandbox_grant', 'id' | 'expires_at'>>(
    `SELECT id, expires_at FROM app.sandbox_grant
     WHERE org_id = $1 AND user_id = $2 AND conversation_id = $3 AND port = $4 AND session_id IS NOT DISTINCT FROM $5 AND api_key_id IS NOT DISTINCT FROM $6
       AND revoked_at IS NULL AND expires_at > now() + interval '1 hour' ORDER BY expires_at DESC LIMIT 1`,
    [access.orgId, access.userId, access.conversationId, access.port, access.sessionId, access.apiKeyId],
  );
  return rows[0] ?? null;
}

/**
 * Another ticket for an access; one that it had is good for nothing then. @returns false when the access has ended
 * meanwhile.
 */
export async function renewTicket(
  client: PoolClient,
  orgId: string,
  id: string,
  ticket: Pick<NewGrant, 'ticketHash' | 'ticketExpiresAt'>,
): Promise<boolean> {
  const { rowCount } = await client.query(
    'UPDATE app.sandbox_grant SET ticket_hash = $3, ticket_expires_at = $4 WHERE org_id = $1 AND id = $2 AND revoked_at IS NULL',
    [orgId, id, ticket.ticketHash, ticket.ticketExpiresAt],
  );
  return rowCount === 1;
}
