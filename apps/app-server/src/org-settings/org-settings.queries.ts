import { dropEventsOfOrg } from '@slipway/analytics';
import { DEFAULT_ORG_SETTINGS, OrgSettingValues } from '@slipway/contracts';
import type { PoolClient } from '@slipway/db/sql';

/**
 * Values of an older version miss keys, those of a newer one have more: missing ones get defaults, extra ones are
 * ignored. A value that cannot be read counts as not set.
 */
export function orgSettingsOf(stored: unknown): OrgSettingValues {
  const given = typeof stored === 'object' && stored !== null ? (stored as Record<string, unknown>) : {};
  const read = Object.entries(OrgSettingValues.shape).flatMap(([key, schema]) => {
    const value = schema.safeParse(given[key]);
    return value.success && key in given ? [[key, value.data] as const] : [];
  });
  return { ...DEFAULT_ORG_SETTINGS, ...Object.fromEntries(read) };
}

export async function readOrgSettings(client: PoolClient, orgId: string): Promise<OrgSettingValues & { version: number }> {
  return (
    (await settingsRow(client, 'SELECT settings, settings_version AS version FROM app.org WHERE id = $1', orgId)) ?? { ...DEFAULT_ORG_SETTINGS, version: 1 }
  );
}

/** The same with the row locked until the transaction ends; `null` when there is no such organization. */
export function lockOrgSettings(client: PoolClient, orgId: string): Promise<(OrgSettingValues & { version: number }) | null> {
  return settingsRow(client, 'SELECT settings, settings_version AS version FROM app.org WHERE id = $1 FOR UPDATE', orgId);
}

/** @returns the new version. */
export async function writeOrgSettings(client: PoolClient, orgId: string, values: OrgSettingValues): Promise<number> {
  const { rows } = await client.query<{ version: number }>(
    'UPDATE app.org SET settings = settings || $2::jsonb, settings_version = settings_version + 1 WHERE id = $1 RETURNING settings_version AS version',
    [orgId, JSON.stringify(values)],
  );
  return rows[0]?.version ?? 1;
}

/** From now on, or no more: then what waits to be sent is deleted. In the transaction that changes the setting. */
export async function allowAnalytics(client: PoolClient, orgId: string, allowed: boolean): Promise<void> {
  await client.query('UPDATE app.org SET analytics_since = CASE WHEN $2 THEN now() END WHERE id = $1', [orgId, allowed]);
  if (!allowed) await dropEventsOfOrg(client, orgId);
}

async function settingsRow(client: PoolClient, text: string, orgId: string): Promise<(OrgSettingValues & { version: number }) | null> {
  const { rows } = await client.query<{ settings: unknown; version: number }>(text, [orgId]);
  return rows[0] === undefined ? null : { ...orgSettingsOf(rows[0].settings), version: rows[0].version };
}
