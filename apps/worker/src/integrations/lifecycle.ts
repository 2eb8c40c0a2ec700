import { randomUUID } from 'node:crypto';
import type { Columns, PoolClient } from '@slipway/db/sql';
import type { Lifecycle } from '@slipway/integrations';
import { noteApproved, noteRemoved, noteResumed, noteSuspended } from '@slipway/integrations/apps';
import type { StoredConnection } from '@slipway/integrations/deliveries';

/**
 * Applies a delivery about the app of its connection at once. In the transaction of the decision.
 * @returns whether the provider is to be asked after the commit: the delivery may be outdated, and is incomplete.
 */
export async function noteLifecycle(
  client: PoolClient,
  orgId: string,
  connection: StoredConnection,
  lifecycle: Lifecycle,
): Promise<boolean> {
  if (connection.app === undefined || connection.app === null) return false;
  switch (lifecycle.kind) {
    case 'verified':
      return false;
    case 'removed':
      await noteRemoved(client, orgId, connection.id);
      return false;
    case 'suspended':
      await noteSuspended(client, orgId, connection.id);
      return true;
    case 'restored':
      await noteResumed(client, orgId, connection.id);
      return true;
    case 'access-changed':
      await noteApproved(client, orgId, connection.id, lifecycle.account);
      return true;
    case 'authorization-revoked':
      await unlink(client, orgId, connection, lifecycle.actorId);
      return false;
  }
}

/** Who took back what they gave the app is linked by it no more. */
async function unlink(
  client: PoolClient,
  orgId: string,
  { id, provider, host }: StoredConnection,
  externalUserId: string,
): Promise<void> {
  const { rows } = await client.query<Columns<'app.linked_account', 'id' | 'user_id' | 'login'>>(
    'DELETE FROM app.linked_account WHERE org_id = $1 AND provider = $2 AND host = $3 AND external_user_id = $4 RETURNING id, user_id, login',
    [orgId, provider, host, externalUserId],
  );
  for (const { id: link, user_id: userId, login } of rows) {
    const detail = { provider, host, login, externalUserId, userId, reason: 'revoked at the provider' };
    await client.query(
      `INSERT INTO app.audit_entry (id, org_id, actor_kind, actor_id, actor_label, action, target, detail)
       SELECT $1, $2, 'integration', $3, name, 'linked-account.delete', $4, $5::jsonb FROM app.integration_connection WHERE org_id = $2 AND id = $3`,
      [randomUUID(), orgId, id, link, JSON.stringify(detail)],
    );
  }
}
