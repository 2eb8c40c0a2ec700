import type { UserSettings } from '@slipway/contracts/identity';
import type { PoolClient, SqlPool } from '@slipway/db/sql';
import { userStore } from '@slipway/db/store';

export interface StoredSettings {
  readonly settings: unknown;
  readonly settingsVersion: number;
  /** Since when the user allows analytics; `null`: they do not. */
  readonly analyticsSince: Date | null;
}

export function findSettings(pool: SqlPool, userId: string): Promise<StoredSettings | null> {
  return userStore(pool, (store) =>
    store.userAccount.findUnique({
      select: { settings: true, settingsVersion: true, analyticsSince: true },
      where: { id: userId },
    }),
  );
}

/**
 * @param version of the settings that they take the place of. @returns false when there is a newer one; nothing is
 * changed then.
 */
export async function writeSettings(
  connection: SqlPool | PoolClient,
  userId: string,
  version: number,
  { settings, analyticsSince }: { readonly settings: UserSettings; readonly analyticsSince: Date | null },
): Promise<boolean> {
  const { count } = await userStore(connection, (store) =>
    store.userAccount.updateMany({
      where: { id: userId, settingsVersion: version },
      data: { settings, analyticsSince, settingsVersion: { increment: 1 } },
    }),
  );
  return count === 1;
}

/** @returns false when the account has accepted this version already. */
export async function acceptTerms(client: PoolClient, userId: string, version: string, at: Date): Promise<boolean> {
  const { count } = await userStore(client, (store) =>
    store.userAccount.updateMany({
      where: { id: userId, OR: [{ termsVersion: null }, { termsVersion: { not: version } }] },
      data: { termsVersion: version, termsAcceptedAt: at },
    }),
  );
  return count === 1;
}

/** @returns false when there was no token of it. */
export async function deleteProviderToken(client: PoolClient, userId: string, provider: string): Promise<boolean> {
  const { count } = await userStore(client, (store) => store.providerToken.deleteMany({ where: { userId, provider } }));
  return count === 1;
}
