import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from './generated/client.js';
import { createPool, type SqlPool } from './sql/index.js';

/** Prisma inside one transaction that sees one organization. */
export type TenantTx = Parameters<Parameters<PrismaClient['$transaction']>[0]>[0];

/**
 * The app's database through Prisma, for everything that is not a hot path (those are SQL: `@slipway/db/sql`).
 * There is no way to a tenant's row but through `withOrg`, or on purpose `asSystem`.
 */
export class Db {
  private readonly prisma: PrismaClient;

  /** @param options `watch` sees the pool once, for its metrics. */
  constructor({ watch = (pool) => pool, ...options }: { url: string; max: number; applicationName: string; watch?: (pool: SqlPool) => SqlPool }) {
    this.prisma = new PrismaClient({
      // Whoever uses a connection that breaks learns it from the query.
      adapter: new PrismaPg(watch(createPool({ ...options, onError: () => {} })), { schema: 'app', disposeExternalPool: true }),
      transactionOptions: { maxWait: 5_000, timeout: 15_000 },
    });
  }

  /** One transaction under row-level security: rows of other organizations do not exist in it. */
  withOrg<T>(orgId: string, work: (tx: TenantTx) => Promise<T>): Promise<T> {
    return this.prisma.$transaction(async (tx) => {
      await tx.$executeRaw`SELECT set_config('app.org', ${orgId}, true)`;
      return work(tx);
    });
  }

  /** One transaction across organizations. For data of no single one: sign-in, memberships of a user, sweeps. */
  asSystem<T>(reason: string, work: (tx: TenantTx) => Promise<T>): Promise<T> {
    return this.prisma.$transaction(async (tx) => {
      await tx.$executeRawUnsafe(`SET LOCAL ROLE slipway_app_system /* ${reason.replaceAll('*/', '')} */`);
      return work(tx);
    });
  }

  async ping(): Promise<void> {
    await this.prisma.$queryRaw`SELECT 1`;
  }

  close(): Promise<void> {
    return this.prisma.$disconnect();
  }
}
