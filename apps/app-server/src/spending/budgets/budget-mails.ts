import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { asSystem, inOrg, type SqlPool } from '@slipway/db/sql';
import type { Logger } from '@slipway/telemetry';
import type { Config } from '../../config.js';
import { Mails } from '../../organizations/mail/mails.js';
import { CONFIG, LOGGER, SQL_POOL } from '../../platform/tokens.js';
import { type NoticeToMail, orgsWithNotices, recipientsOf, takeNotices } from './budget-mails.queries.js';

/** Poll interval for notices not mailed yet. Milliseconds. */
const LOOK_MS = 30_000;

/**
 * Notifies by mail that a share of a budget is spent: the user whose it is, and the organization's owners and admins.
 * Each notice once: it is marked in the transaction that puts its mails out. Without a mail server nothing is done; the
 * notices are on the page anyway.
 */
@Injectable()
export class BudgetMails implements OnApplicationBootstrap, OnApplicationShutdown {
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
        this.logger.warn({ err: error }, 'budget notices not mailed, will retry'),
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
    const orgs = await asSystem(
      this.pool,
      'slipway_app_system',
      'whose notices of budgets are to be mailed',
      orgsWithNotices,
    );
    for (const orgId of orgs) {
      await inOrg(this.pool, orgId, async (client) => {
        for (const notice of highestOfEach(await takeNotices(client, orgId)))
          for (const to of await recipientsOf(client, orgId, notice.user_id))
            await this.mails.want(client, orgId, { to, ...this.words(notice) });
      });
    }
    if (orgs.length > 0) this.mails.nudge();
  }

  private words({ org_name, org_slug, label, threshold, spent_usd, limit_usd, cycle_end }: NoticeToMail): {
    subject: string;
    text: string;
  } {
    const whose = label === null ? `${org_name}` : `${label} in ${org_name}`;
    const end = cycle_end.toISOString().slice(0, 10);
    return {
      subject: `${threshold} % of a budget is spent: ${whose}`,
      text: [
        `${whose} has spent $${spent_usd} of $${limit_usd}, ${threshold} % or more of the budget of this month.`,
        threshold === 100
          ? `Nothing new can be started, and what runs pauses at its next call to a model, until ${end} or until the limit is raised. Nothing is lost.`
          : `The next month begins on ${end}.`,
        new URL(`/${org_slug}/admin/budgets`, this.config.PUBLIC_URL).href,
      ].join('\n\n'),
    };
  }
}

/** A limit that is set below what is spent reaches several thresholds at once: one mail says it. */
function highestOfEach(notices: readonly NoticeToMail[]): NoticeToMail[] {
  const highest = new Map<string, NoticeToMail>();
  for (const notice of notices)
    if (notice.threshold > (highest.get(notice.user_id)?.threshold ?? 0)) highest.set(notice.user_id, notice);
  return [...highest.values()];
}
