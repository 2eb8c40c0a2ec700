import type { SecurityRules, SecurityRuleValues } from '@slipway/contracts/organizations';
import type { PoolClient } from '@slipway/db/sql';
import { type Prisma, userStore } from '@slipway/db/store';

const COLUMNS = {
  sessionMaxMinutes: true,
  sessionIdleMinutes: true,
  secondFactor: true,
  securityVersion: true,
} satisfies Prisma.OrgSelect;

export async function readSecurityRules(client: PoolClient, orgId: string): Promise<SecurityRules | null> {
  const org = await userStore(client, (store) => store.org.findUnique({ select: COLUMNS, where: { id: orgId } }));
  if (org === null) return null;
  const { securityVersion: version, ...rules } = org;
  return { ...rules, version } as SecurityRules;
}

/** The same with the row locked until the transaction ends. */
export async function lockSecurityRules(client: PoolClient, orgId: string): Promise<SecurityRules | null> {
  const { rowCount } = await client.query('SELECT 1 FROM app.org WHERE id = $1 FOR UPDATE', [orgId]);
  return rowCount === 0 ? null : readSecurityRules(client, orgId);
}

/** @returns the new version. */
export async function writeSecurityRules(
  client: PoolClient,
  orgId: string,
  values: SecurityRuleValues,
): Promise<number> {
  const { sessionMaxMinutes, sessionIdleMinutes, secondFactor } = values;
  const { securityVersion } = await userStore(client, (store) =>
    store.org.update({
      where: { id: orgId },
      data: { sessionMaxMinutes, sessionIdleMinutes, secondFactor, securityVersion: { increment: 1 } },
      select: { securityVersion: true },
    }),
  );
  return securityVersion;
}

/** A session is its user's, in no organization. */
export async function hadSecondFactor(client: PoolClient, sessionId: string): Promise<boolean> {
  const session = await userStore(client, (store) =>
    store.session.findFirst({ select: { id: true }, where: { id: sessionId, secondFactor: true } }),
  );
  return session !== null;
}
