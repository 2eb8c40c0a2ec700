import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { asSystem, inOrg, type SqlPool } from '@slipway/db/sql';
import { bytesText } from '@slipway/domain';
import type { Logger } from '@slipway/telemetry';
import type { Config } from '../../config.js';
import { Mails } from '../../organizations/mail/mails.js';
import { CONFIG, LOGGER, SQL_POOL } from '../../platform/tokens.js';
import { recipientsOf } from '../../spending/budgets/budget-mails.queries.js';
import { orgsToWarn, type Reached, takeWarning } from './storage.queries.js';

/** Poll interval for organizations near their limit. Milliseconds. */
const LOOK_MS = 30_000;

/**
 * Warns owners and admins by mail that storage is 80 % used, and that it is used up: each once, marked in the
 * transaction that puts the mails out, and again only after it was below 70 %. Without a mail server the page says it
 * all the same.
 */
@Injectable()
export class StorageMails implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();

  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(CONFIG) private readonly config: Config,
    private readonly mails: Mails,
  ) {}

  onApplicationBootstrap(): void {
    if (!this.mails.sends) return;
    this.timer = setInterval(() => {
      this.running = this.look().catch((error: unknown) =>
        this.logger.warn({ err: error }, 'storage warnings not mailed, will retry'),
      );
    }, LOOK_MS);
    this.timer.unref();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.running;
  }

  /** One poll. @throws what the database does. */
  async look(): Promise<void> {
    const orgs = await asSystem(this.pool, 'slipway_app_system', 'who is to be warned of storage', orgsToWarn);
    for (const orgId of orgs)
      await inOrg(this.pool, orgId, async (client) => {
        const reached = await takeWarning(client, orgId);
        if (reached === null) return;
        for (const to of await recipientsOf(client, orgId, ''))
          await this.mails.want(client, orgId, { to, ...this.words(reached) });
      });
    if (orgs.length > 0) this.mails.nudge();
  }

  private words({ slug, name, used, limit, percent }: Reached): { subject: string; text: string } {
    return {
      subject: percent === 100 ? `The storage of ${name} is used up` : `${percent} % of the storage of ${name} is used`,
      text: [
        `${name} uses ${bytesText(used)} of its ${bytesText(limit)} of storage.`,
        percent === 100
          ? 'Nothing new can be started, and agents pause when they have something to write. Nothing is lost. Delete conversations that are not needed any more, or ask whoever operates Slipway for a higher limit.'
          : 'When it is used up, nothing new can be started and agents pause. Delete conversations that are not needed any more.',
        new URL(`/${slug}/admin/storage`, this.config.PUBLIC_URL).href,
      ].join('\n\n'),
    };
  }
}
