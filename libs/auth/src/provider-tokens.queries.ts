import type { SqlPool } from '@slipway/db/sql';
import { userStore } from '@slipway/db/store';

/** Another provider's account of a user, without its token. */
export interface Connected {
  readonly provider: string;
  readonly scopes: string[];
  readonly connectedAt: Date;
  readonly refreshedAt: Date;
  /** `null`: it does not end by itself. */
  readonly expiresAt: Date | null;
}

export function listProviderTokens(pool: SqlPool, userId: string): Promise<Connected[]> {
  return userStore(pool, (store) =>
    store.providerToken.findMany({
      where: { userId },
      orderBy: { provider: 'asc' },
      select: { provider: true, scopes: true, connectedAt: true, refreshedAt: true, expiresAt: true },
    }),
  );
}

export function findProviderToken(
  pool: SqlPool,
  userId: string,
  provider: string,
): Promise<{ readonly token: Uint8Array; readonly expiresAt: Date | null } | null> {
  return userStore(pool, (store) =>
    store.providerToken.findFirst({ where: { userId, provider }, select: { token: true, expiresAt: true } }),
  );
}

/** In the place of the one before; when it was first connected stays. */
export async function storeProviderToken(
  pool: SqlPool,
  userId: string,
  provider: string,
  {
    token,
    scopes,
    refreshedAt,
    expiresAt,
  }: {
    readonly token: Uint8Array;
    readonly scopes: readonly string[];
    readonly refreshedAt: Date;
    readonly expiresAt: Date | null;
  },
): Promise<void> {
  const changed = { token: new Uint8Array(token), scopes: [...scopes], refreshedAt, expiresAt };
  await userStore(pool, (store) =>
    store.providerToken.upsert({
      where: { userId_provider: { userId, provider } },
      create: { userId, provider, connectedAt: refreshedAt, ...changed },
      update: changed,
    }),
  );
}
