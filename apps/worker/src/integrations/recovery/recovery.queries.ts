import { asSystem, inOrg, type SqlPool } from '@slipway/db/sql';
import type { StoredConnection } from '@slipway/integrations/deliveries';

export interface DueConnection {
  readonly orgId: string;
  readonly connectionId: string;
}

/**
 * Connections whose provider may have deliveries that have not come, the longest unchecked first. @param providers with
 * a record of webhook deliveries.
 */
export async function dueForRecovery(
  pool: SqlPool,
  providers: readonly string[],
  everySeconds: number,
  limit: number,
): Promise<DueConnection[]> {
  return asSystem(pool, 'slipway_app_system', 'recovery of deliveries', async (client) => {
    const { rows } = await client.query<DueConnection>(
      `SELECT c.org_id AS "orgId", c.id AS "connectionId" FROM app.integration_connection c
       JOIN app.org o ON o.id = c.org_id AND o.deletes_at IS NULL
       CROSS JOIN LATERAL (
         SELECT min(at) AS at FROM (
           SELECT coalesce(a.recovered_at, '-infinity') AS at FROM app.integration_app a WHERE a.connection_id = c.id AND (a.state <> 'removed' OR NOT c.platform)
           UNION ALL
           SELECT coalesce(h.recovered_at, '-infinity') FROM app.integration_hook h WHERE h.connection_id = c.id AND h.hook_id <> '' AND c.provider = ANY ($1)) AS sources) AS oldest
       WHERE c.state <> 'disabled' AND oldest.at < now() - $2 * interval '1 second' ORDER BY oldest.at LIMIT $3`,
      [providers, everySeconds, limit],
    );
    return rows;
  });
}

/** A source of deliveries to read: the app of the connection, or a webhook of a repository. */
export interface RecoverySource {
  /** `null`: the app. */
  readonly hook: { readonly rowId: string; readonly id: string; readonly repository: string } | null;
  /** Deliveries of before are known to have come, or were another's. */
  readonly until: Date;
}

export interface Recoverable {
  readonly connection: StoredConnection;
  readonly platform: boolean;
  /** When the provider was last asked about the installation. */
  readonly checkedAt: Date | null;
  readonly sources: readonly RecoverySource[];
}

/** @param hooks so many of its webhooks, the longest unchecked first. */
export function findRecoverable(
  pool: SqlPool,
  orgId: string,
  connectionId: string,
  hooks: number,
): Promise<Recoverable | null> {
  return inOrg(pool, orgId, async (client) => {
    const { rows } = await client.query<{
      connection: StoredConnection;
      platform: boolean;
      app: boolean;
      until: Date;
      checkedAt: Date | null;
    }>(
      `SELECT jsonb_build_object('id', c.id, 'provider', c.provider, 'host', c.host, 'account', c.account, 'state', c.state, 'own', c.own, 'settings', c.settings,
                'app', CASE WHEN a.connection_id IS NOT NULL THEN jsonb_build_object('state', a.state, 'installationId', a.installation_id) END) AS connection,
              c.platform, a.connection_id IS NOT NULL AS app, coalesce(a.recovered_until, c.created_at) AS until, a.checked_at AS "checkedAt"
       FROM app.integration_connection c LEFT JOIN app.integration_app a ON a.connection_id = c.id WHERE c.org_id = $1 AND c.id = $2 AND c.state <> 'disabled'`,
      [orgId, connectionId],
    );
    const row = rows[0];
    if (row === undefined) return null;
    const found = await client.query<{ rowId: string; id: string; repository: string; until: Date }>(
      `SELECT id AS "rowId", hook_id AS id, repository, coalesce(recovered_until, installed_at) AS until FROM app.integration_hook
       WHERE org_id = $1 AND connection_id = $2 AND hook_id <> '' ORDER BY recovered_at NULLS FIRST, id LIMIT $3`,
      [orgId, connectionId, hooks],
    );
    const { connection, platform, app, until, checkedAt } = row;
    const ofHooks = found.rows.map(({ until: from, ...hook }) => ({ hook, until: from }));
    return { connection, platform, checkedAt, sources: [...(app ? [{ hook: null, until }] : []), ...ofHooks] };
  });
}

/** Of these deliveries, those that came or were asked for again already. */
export function alreadyKnown(
  pool: SqlPool,
  orgId: string,
  connectionId: string,
  deliveryIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (deliveryIds.length === 0) return Promise.resolve(new Set());
  return inOrg(pool, orgId, async (client) => {
    const { rows } = await client.query<{ id: string }>(
      `SELECT delivery_id AS id FROM app.integration_delivery WHERE org_id = $1 AND connection_id = $2 AND delivery_id = ANY ($3)
       UNION SELECT delivery_id FROM app.integration_recovery WHERE org_id = $1 AND connection_id = $2 AND delivery_id = ANY ($3)`,
      [orgId, connectionId, deliveryIds],
    );
    return new Set(rows.map(({ id }) => id));
  });
}

/** Before the provider is asked: what comes then is seen to be recovered. False: another worker asks for it. */
export function noteAsked(
  pool: SqlPool,
  orgId: string,
  connectionId: string,
  {
    deliveryId,
    event,
    failedAt,
    now,
  }: { readonly deliveryId: string; readonly event: string; readonly failedAt: Date; readonly now: Date },
): Promise<boolean> {
  return inOrg(pool, orgId, async (client) => {
    const { rowCount } = await client.query(
      `INSERT INTO app.integration_recovery (connection_id, delivery_id, org_id, event, failed_at, asked_at)
       SELECT id, $3, $1, left($4, 200), $5, $6 FROM app.integration_connection WHERE org_id = $1 AND id = $2 ON CONFLICT DO NOTHING`,
      [orgId, connectionId, deliveryId, event, failedAt, now],
    );
    return rowCount === 1;
  });
}

/** The provider was not asked after all. */
export async function forgetAsked(
  pool: SqlPool,
  orgId: string,
  connectionId: string,
  deliveryId: string,
): Promise<void> {
  await inOrg(pool, orgId, (client) =>
    client.query('DELETE FROM app.integration_recovery WHERE org_id = $1 AND connection_id = $2 AND delivery_id = $3', [
      orgId,
      connectionId,
      deliveryId,
    ]),
  );
}

/** @param until `null`: the source could not be read; its stored state stays. */
export async function noteRecovered(
  pool: SqlPool,
  orgId: string,
  connectionId: string,
  { hook, until, now }: Pick<RecoverySource, 'hook'> & { readonly until: Date | null; readonly now: Date },
): Promise<void> {
  const set = 'SET recovered_at = $3, recovered_until = coalesce($4, recovered_until)';
  await inOrg(pool, orgId, (client) =>
    hook === null
      ? client.query(`UPDATE app.integration_app ${set} WHERE org_id = $1 AND connection_id = $2`, [
          orgId,
          connectionId,
          now,
          until,
        ])
      : client.query(`UPDATE app.integration_hook ${set} WHERE org_id = $1 AND id = $2`, [
          orgId,
          hook.rowId,
          now,
          until,
        ]),
  );
}
