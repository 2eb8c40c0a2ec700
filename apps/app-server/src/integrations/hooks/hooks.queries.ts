import { type IntegrationHook } from '@slipway/contracts/integrations';
import type { Columns, PoolClient } from '@slipway/db/sql';

export interface HookRow {
  readonly id: string;
  readonly repository: string;
  readonly hookId: string;
  /** It signs with the newest webhook secret. */
  readonly current: boolean;
  readonly installedBy: string;
  readonly installedByLabel: string;
  readonly installedAt: Date;
  readonly state: 'queued' | 'installed' | 'missing-right' | 'failed' | 'disabled';
  readonly detail: string | null;
  readonly checkedAt: Date | null;
}

export interface SelectionRow {
  readonly patterns: string[];
  readonly listedAt: Date | null;
  readonly problem: string | null;
}

const COLUMNS = `h.id, h.repository, h.hook_id AS "hookId", h.installed_by AS "installedBy", h.installed_by_label AS "installedByLabel", h.installed_at AS "installedAt",
  h.state, h.detail, h.checked_at AS "checkedAt",
  h.secret_id IS NOT DISTINCT FROM (SELECT s.id FROM app.integration_secret s WHERE s.org_id = $1 AND s.connection_id = $2 AND s.kind = 'webhook' AND s.valid_until IS NULL
                                    ORDER BY s.created_at DESC LIMIT 1) AS current`;

export async function listHooks(
  client: PoolClient,
  orgId: string,
  connectionId: string,
  limit: number,
): Promise<HookRow[]> {
  const text = `SELECT ${COLUMNS} FROM app.integration_hook h WHERE h.org_id = $1 AND h.connection_id = $2 ORDER BY lower(h.repository) LIMIT $3`;
  return (await client.query<HookRow>(text, [orgId, connectionId, limit])).rows;
}

export async function findHook(
  client: PoolClient,
  orgId: string,
  connectionId: string,
  id: string,
): Promise<HookRow | null> {
  const text = `SELECT ${COLUMNS} FROM app.integration_hook h WHERE h.org_id = $1 AND h.connection_id = $2 AND h.id = $3`;
  return (await client.query<HookRow>(text, [orgId, connectionId, id])).rows[0] ?? null;
}

export async function countHooks(
  client: PoolClient,
  orgId: string,
  connectionId: string,
  otherThan: string,
): Promise<number> {
  const text = `SELECT count(*)::int AS count FROM app.integration_hook WHERE org_id = $1 AND connection_id = $2 AND lower(repository) <> lower($3)`;
  return (await client.query<{ count: number }>(text, [orgId, connectionId, otherThan])).rows[0]?.count ?? 0;
}

export async function saveHook(
  client: PoolClient,
  orgId: string,
  hook: {
    id: string;
    connectionId: string;
    repository: string;
    hookId: string;
    secretId: string;
    by: { id: string; label: string };
  },
): Promise<string> {
  const { rows } = await client.query<Columns<'app.integration_hook', 'id'>>(
    `INSERT INTO app.integration_hook (id, org_id, connection_id, repository, hook_id, secret_id, installed_by, installed_by_label) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
     ON CONFLICT (connection_id, lower(repository)) DO UPDATE SET repository = excluded.repository, hook_id = excluded.hook_id, secret_id = excluded.secret_id,
       installed_by = excluded.installed_by, installed_by_label = excluded.installed_by_label, installed_at = now(), state = 'installed', detail = NULL, checked_at = now() RETURNING id`,
    [hook.id, orgId, hook.connectionId, hook.repository, hook.hookId, hook.secretId, hook.by.id, hook.by.label],
  );
  return rows[0]?.id ?? hook.id;
}

export async function deleteHook(client: PoolClient, orgId: string, connectionId: string, id: string): Promise<void> {
  await client.query('DELETE FROM app.integration_hook WHERE org_id = $1 AND connection_id = $2 AND id = $3', [
    orgId,
    connectionId,
    id,
  ]);
}

/** `null`: no such connection. */
export async function findSelection(
  client: PoolClient,
  orgId: string,
  connectionId: string,
): Promise<SelectionRow | null> {
  const text = `SELECT hook_patterns AS patterns, hooks_listed_at AS "listedAt", hooks_problem AS problem FROM app.integration_connection WHERE org_id = $1 AND id = $2`;
  return (await client.query<SelectionRow>(text, [orgId, connectionId])).rows[0] ?? null;
}

/** With the job that finds their repositories. */
export async function saveSelection(
  client: PoolClient,
  orgId: string,
  connectionId: string,
  patterns: readonly string[],
): Promise<void> {
  await client.query(
    'UPDATE app.integration_connection SET hook_patterns = $3, hooks_listed_at = NULL, hooks_problem = NULL, updated_at = now() WHERE org_id = $1 AND id = $2',
    [orgId, connectionId, patterns],
  );
  if (patterns.length === 0) return;
  await client.query(
    `INSERT INTO app.outbox (id, org_id, queue, key, payload, enqueued_at)
     VALUES (gen_random_uuid(), $1, 'integration-hooks', $2, jsonb_build_object('orgId', $1::text, 'connectionId', $2::text), clock_timestamp())
     ON CONFLICT (queue, key) DO UPDATE SET id = excluded.id, enqueued_at = clock_timestamp()`,
    [orgId, connectionId],
  );
}

export function toHook({
  id,
  repository,
  current,
  state,
  detail,
  checkedAt,
  installedBy,
  installedByLabel,
  installedAt,
}: HookRow): IntegrationHook {
  return {
    id,
    repository,
    state: state === 'installed' && !current ? 'old-secret' : state,
    detail,
    checkedAt: checkedAt?.toISOString() ?? null,
    installedBy: { id: installedBy, label: installedByLabel },
    installedAt: installedAt.toISOString(),
  };
}
