import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from './generated/client.js';

/** Longest wait for one answer. Milliseconds; the connection is then given up. */
const QUERY_TIMEOUT_MS = 10_000;
/** From the last word on an idle connection to the first question of TCP whether the other end is still there. Milliseconds. */
const KEEP_ALIVE_MS = 10_000;

/** Prisma inside one transaction that sees one organization. */
export type TenantTx = Parameters<Parameters<PrismaClient['$transaction']>[0]>[0];

/**
 * The app's database through Prisma, for everything that is not a hot path (those are SQL: `@slipway/db/sql`).
 * There is no way to a tenant's row but through `withOrg`, or on purpose `asSystem`.
 */
export class Db {
  private readonly prisma: PrismaClient;

  constructor(options: { url: string; max: number; applicationName: string }) {
    this.prisma = new PrismaClient({
      adapter: new PrismaPg(
        {
          connectionString: options.url,
          max: options.max,
          application_name: options.applicationName,
          connectionTimeoutMillis: 5_000,
          query_timeout: QUERY_TIMEOUT_MS,
          keepAlive: true,
          keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
        },
        { schema: 'app' },
      ),
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

  /** One transaction across organizations. For what belongs to no single one: sign-in, memberships of a person, sweeps. */
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
