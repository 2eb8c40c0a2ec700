import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { connectionPage } from '@slipway/contracts/integrations';
import { asSystem, inOrg, type SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import type { Logger } from '@slipway/telemetry';
import type { Config } from '../config.js';
import { Mails } from '../organizations/mail/mails.js';
import { CLOCK, CONFIG, LOGGER, SQL_POOL } from '../platform/tokens.js';
import { recipientsOf } from '../spending/budgets/budget-mails.queries.js';
import { type ConnectionNews, orgsWithNews, takeNews } from './connection-mails.queries.js';

/** Poll interval. Milliseconds. */
const LOOK_MS = 60_000;
const DAY_MS = 86_400_000;
/** Of an access token without renewal. Days. */
const ENDS_WITHIN_DAYS = 7;
/** Organizations of one poll. */
const BATCH = 100;

/**
 * Notifies owners and admins by mail that a connection needs attention, or that its access token ends: once, marked in
 * the transaction that puts the mails out.
 */
@Injectable()
export class ConnectionMails implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();

  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly mails: Mails,
  ) {}

  onApplicationBootstrap(): void {
    if (!this.mails.sends) return;
    this.timer = setInterval(() => {
      this.running = this.look().catch((error: unknown) =>
        this.logger.warn({ err: error }, 'connections that need attention not mailed, will retry'),
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
    const now = this.clock.now();
    const until = new Date(now.getTime() + ENDS_WITHIN_DAYS * DAY_MS);
    const orgs = await asSystem(this.pool, 'slipway_app_system', 'recipients of notices on connections', (client) =>
      orgsWithNews(client, until, BATCH),
    );
    for (const orgId of orgs)
      await inOrg(this.pool, orgId, async (client) => {
        const news = await takeNews(client, orgId, until, now);
        if (news.length === 0) return;
        for (const to of await recipientsOf(client, orgId, ''))
          for (const each of news)
            await this.mails.want(client, orgId, { to, ...wordsOf(each, now, this.config.PUBLIC_URL) });
      });
    if (orgs.length > 0) this.mails.nudge();
  }
}

function wordsOf(
  { org, slug, connectionId, name, host, endsAt, reason }: ConnectionNews,
  now: Date,
  publicUrl: string,
): { subject: string; text: string } {
  const page = new URL(connectionPage(slug, connectionId), publicUrl).href;
  if (endsAt === null)
    return {
      subject: `A connection of ${org} needs attention`,
      text: [
        `The connection ${name} to ${host} does not work any more. ${reason ?? ''}`.trim(),
        'Until then nothing is started or answered through it.',
        page,
      ].join('\n\n'),
    };
  const over = endsAt <= now;
  const day = endsAt.toISOString().slice(0, 10);
  return {
    subject: `An access token of ${org} ${over ? 'has ended' : `ends on ${day}`}`,
    text: [
      `The access token of the connection ${name} to ${host} ${over ? `ended on ${day}` : `ends on ${day}`}. After that nothing is started or answered through it.`,
      'Make another one at the provider and enter it on the page of the connection, or connect with OAuth, which is renewed by itself.',
      page,
    ].join('\n\n'),
  };
}
