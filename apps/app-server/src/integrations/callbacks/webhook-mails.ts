import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { asSystem, inOrg, type SqlPool } from '@slipway/db/sql';
import type { Logger } from '@slipway/telemetry';
import { Mails } from '../../organizations/mail/mails.js';
import { LOGGER, SQL_POOL } from '../../platform/tokens.js';
import { recipientsOf } from '../../spending/budgets/budget-mails.queries.js';
import { type FailingWebhook, orgsWithFailing, takeFailing } from './outgoing-webhooks.queries.js';

/** Poll interval for disabled webhooks. Milliseconds. */
const LOOK_MS = 60_000;

/**
 * Notifies owners and admins by mail of a disabled webhook: once, marked in the transaction that puts the mails out.
 */
@Injectable()
export class WebhookMails implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();

  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly mails: Mails,
  ) {}

  onApplicationBootstrap(): void {
    if (!this.mails.sends) return;
    this.timer = setInterval(() => {
      this.running = this.look().catch((error: unknown) =>
        this.logger.warn({ err: error }, 'failing webhooks not mailed, will retry'),
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
      'recipients of notices on failing webhooks',
      orgsWithFailing,
    );
    for (const orgId of orgs)
      await inOrg(this.pool, orgId, async (client) => {
        const failing = await takeFailing(client, orgId);
        if (failing.length === 0) return;
        for (const to of await recipientsOf(client, orgId, ''))
          for (const webhook of failing) await this.mails.want(client, orgId, { to, ...wordsOf(webhook) });
      });
    if (orgs.length > 0) this.mails.nudge();
  }
}

function wordsOf({ org, name, url, reason }: FailingWebhook): { subject: string; text: string } {
  return {
    subject: `A webhook of ${org} is not called any more`,
    text: [
      `The webhook ${name} (${new URL(url).origin}) is not called any more. ${reason ?? ''}`.trim(),
      'What happens meanwhile is not sent there. When its receiver answers again, enable the webhook; its log says what was answered last.',
    ].join('\n\n'),
  };
}
