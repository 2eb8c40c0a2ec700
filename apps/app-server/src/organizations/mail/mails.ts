import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { SecretBox } from '@slipway/auth';
import type { PoolClient, SqlPool } from '@slipway/db/sql';
import type { Ids } from '@slipway/domain';
import type { Logger } from '@slipway/telemetry';
import type { Config } from '../../config.js';
import { CONFIG, IDS, LOGGER, SQL_POOL } from '../../platform/tokens.js';
import { claimMails, type DueMail, insertMail, markFailed, markSent } from './mail.queries.js';
import { isRefused, Mailer } from './mailer.js';

/**
 * Poll interval for mails without a notification: those of a process that died, and those that are due again.
 * Milliseconds.
 */
const LOOK_MS = 5_000;
/** Mails of one poll. */
const BATCH = 20;
/** A mail whose sender died is sent by another after this. Seconds; longer than sending a batch can take. */
const CLAIM_SECONDS = 900;
/** Waits between attempts. Seconds; after the last the mail is given up, some eight hours after the first. */
const AGAIN_SECONDS = [30, 120, 600, 1_800, 7_200, 18_000];
const MAX_ERROR_LENGTH = 300;

/**
 * Mail that is not lost: it is a row of the transaction that wants it, sent after the commit by whichever process comes
 * first, and again until the mail server has taken it or has refused it for good. It may arrive twice (with one
 * Message-ID) when a process dies in between; it never just vanishes.
 */
@Injectable()
export class Mails implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly mailer: Mailer | null;
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();
  private closed = false;

  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(CONFIG) config: Config,
    private readonly box: SecretBox,
  ) {
    this.mailer = config.SMTP_URL === undefined ? null : new Mailer(config.SMTP_URL, config.MAIL_FROM);
  }

  /** Whether this installation sends mail at all. Without it `want` does nothing. */
  get sends(): boolean {
    return this.mailer !== null;
  }

  /**
   * Call `nudge` after the commit, or wait five seconds. @returns its id; `null` when no mail is sent here: then it is
   * only logged that it was not.
   */
  async want(
    client: PoolClient,
    orgId: string,
    mail: { to: string; subject: string; text: string },
  ): Promise<string | null> {
    if (this.mailer === null) {
      this.logger.info({ org_id: orgId, subject: mail.subject }, 'mail not sent: SMTP_URL is not set');
      return null;
    }
    const id = this.ids.uuid();
    await insertMail(client, orgId, {
      id,
      recipient: mail.to,
      subject: mail.subject,
      body: this.box.encrypt(mail.text, `mail:${id}`),
    });
    return id;
  }

  /** Polls now. */
  nudge(): void {
    if (this.mailer === null || this.closed) return;
    clearTimeout(this.timer);
    this.running = this.running.then(() => this.look());
  }

  onApplicationBootstrap(): void {
    this.plan();
  }

  async onApplicationShutdown(): Promise<void> {
    this.closed = true;
    clearTimeout(this.timer);
    // What is being sent is known before the database goes; a server that does not answer does not hold the process.
    await Promise.race([this.running, new Promise((resolve) => setTimeout(resolve, LOOK_MS).unref())]);
    this.mailer?.close();
  }

  private plan(): void {
    if (this.mailer === null || this.closed) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.nudge(), LOOK_MS);
    this.timer.unref();
  }

  private async look(): Promise<void> {
    try {
      for (
        let due = await claimMails(this.pool, BATCH, CLAIM_SECONDS);
        due.length > 0 && !this.closed;
        due = await claimMails(this.pool, BATCH, CLAIM_SECONDS)
      )
        await Promise.all(due.map((mail) => this.send(mail)));
    } catch (error) {
      this.logger.warn({ err: error }, 'outgoing mail poll failed, will retry');
    } finally {
      this.plan();
    }
  }

  private async send(mail: DueMail): Promise<void> {
    let text: string;
    try {
      text = this.box.decrypt(mail.body ?? Buffer.alloc(0), `mail:${mail.id}`);
    } catch (error) {
      this.logger.warn({ err: error, mail: mail.id }, 'failed to decrypt a mail');
      return markFailed(
        this.pool,
        mail.id,
        'The text of the mail cannot be read: the encryption key was changed.',
        null,
      );
    }
    try {
      await this.mailer?.send({ id: mail.id, to: mail.recipient, subject: mail.subject, text });
    } catch (error) {
      const wait = isRefused(error) ? undefined : AGAIN_SECONDS[mail.attempts - 1];
      this.logger.warn({ err: error, mail: mail.id, again_seconds: wait ?? null }, 'failed to send a mail');
      return markFailed(this.pool, mail.id, (error as Error).message.slice(0, MAX_ERROR_LENGTH), wait ?? null);
    }
    await markSent(this.pool, mail.id);
  }
}
