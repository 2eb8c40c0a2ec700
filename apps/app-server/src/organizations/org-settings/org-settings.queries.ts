import { dropEventsOfOrg } from '@slipway/analytics';
import { DEFAULT_ORG_SETTINGS, OrgSettingValues } from '@slipway/contracts/organizations';
import { type PoolClient, transactionTime } from '@slipway/db/sql';
import { type Prisma, userStore } from '@slipway/db/store';

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

export async function readOrgSettings(
  client: PoolClient,
  orgId: string,
): Promise<OrgSettingValues & { version: number }> {
  const org = await userStore(client, (store) =>
    store.org.findUnique({ select: { settings: true, settingsVersion: true }, where: { id: orgId } }),
  );
  return org === null
    ? { ...DEFAULT_ORG_SETTINGS, version: 1 }
    : { ...orgSettingsOf(org.settings), version: org.settingsVersion };
}

/** The same with the row locked until the transaction ends; `null` when there is no such organization. */
export async function lockOrgSettings(
  client: PoolClient,
  orgId: string,
): Promise<(OrgSettingValues & { version: number }) | null> {
  const { rowCount } = await client.query('SELECT 1 FROM app.org WHERE id = $1 FOR UPDATE', [orgId]);
  return rowCount === 0 ? null : readOrgSettings(client, orgId);
}

/** For the holder of the row. Keys that only a newer version knows stay as they are. @returns the new version. */
export async function writeOrgSettings(client: PoolClient, orgId: string, values: OrgSettingValues): Promise<number> {
  const stored = await userStore(client, (store) =>
    store.org.findUnique({ select: { settings: true }, where: { id: orgId } }),
  );
  if (stored === null) return 1;
  const settings = { ...(stored.settings as Prisma.JsonObject), ...values };
  const { settingsVersion } = await userStore(client, (store) =>
    store.org.update({
      where: { id: orgId },
      data: { settings, settingsVersion: { increment: 1 } },
      select: { settingsVersion: true },
    }),
  );
  return settingsVersion;
}

/** From now on, or no more: then what waits to be sent is deleted. In the transaction that changes the setting. */
export async function allowAnalytics(client: PoolClient, orgId: string, allowed: boolean): Promise<void> {
  const analyticsSince = allowed ? await transactionTime(client) : null;
  await userStore(client, (store) => store.org.updateMany({ where: { id: orgId }, data: { analyticsSince } }));
  if (!allowed) await dropEventsOfOrg(client, orgId);
}
