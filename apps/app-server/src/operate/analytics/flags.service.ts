import { randomUUID } from 'node:crypto';
import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Flags, readDefinitions, StaticFlags, type StringFlags } from '@slipway/analytics/flags';
import type { FlagValues } from '@slipway/contracts/operate';
import type { SqlPool } from '@slipway/db/sql';
import type { Config } from '../../config.js';
import { CONFIG, SQL_POOL } from '../../platform/tokens.js';

/** Values of flags for the page. A provider that cannot begin leaves the defaults, and no request waits for one. */
@Injectable()
export class FlagsService implements OnModuleInit, OnApplicationShutdown {
  private readonly flags: Flags;
  private close: () => Promise<void> = async () => {};

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(SQL_POOL) private readonly pool: SqlPool,
  ) {
    this.flags = new Flags(`app-server ${randomUUID()}`, config.ANALYTICS_SECRET);
  }

  async onModuleInit(): Promise<void> {
    // Not waited for: a database that is away keeps no server from starting.
    void this.flags.use(await this.provider());
  }

  async onApplicationShutdown(): Promise<void> {
    await this.close();
  }

  /** By the id of the organization. */
  async valuesIn(userId: string, orgs: ReadonlyArray<{ readonly id: string }>): Promise<Record<string, FlagValues>> {
    return Object.fromEntries(
      await Promise.all(orgs.map(async ({ id }) => [id, await this.flags.valuesFor(userId, id)] as const)),
    );
  }

  valuesFor(userId: string, orgId: string): Promise<FlagValues> {
    return this.flags.valuesFor(userId, orgId);
  }

  /** PostHog's package is read only where it decides. */
  private async provider(): Promise<StringFlags> {
    if (this.config.FLAGS_PROVIDER === 'static') return new StaticFlags(this.config.FLAGS);
    const { PosthogFlags } = await import('@slipway/analytics/posthog');
    const provider = new PosthogFlags(async () => (await readDefinitions(this.pool))?.definitions ?? null);
    this.close = () => provider.onClose();
    return provider;
  }
}
