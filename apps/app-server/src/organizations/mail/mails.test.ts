import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SecretBox } from '@slipway/auth';
import { createPool, inOrg, type SqlPool } from '@slipway/db/sql';
import { createIds, systemClock } from '@slipway/domain';
import { createLogger } from '@slipway/telemetry';
import { createTestDatabase, freePort, type TestDatabase, until } from '@slipway/testing';
import { SMTPServer } from 'smtp-server';
import type { Config } from '../../config.js';
import { testConfig } from '../../testing/test-app.js';
import { Mails } from './mails.js';

const ORG = 'org_mail';

describe('mail', () => {
  let database: TestDatabase;
  let pool: SqlPool;
  let server: SMTPServer;
  let config: Config;
  const got: string[] = [];
  /** What the server answers to a recipient; `null`: it takes it. */
  let refusal: { code: number; text: string } | null = null;
  const senders: Mails[] = [];

  beforeAll(async () => {
    database = await createTestDatabase();
    pool = createPool({ url: database.urls.app, max: 5, applicationName: 'test', onError: () => {} });
    server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      onRcptTo: (_address, _session, done) =>
        done(refusal === null ? null : Object.assign(new Error(refusal.text), { responseCode: refusal.code })),
      onData: (stream, _session, done) => {
        let text = '';
        stream.on('data', (chunk: Buffer) => {
          text += chunk.toString('utf8');
        });
        stream.on('end', () => {
          got.push(text);
          done();
        });
      },
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.server.address() as AddressInfo;
    const issuer = { issuerUrl: 'http://127.0.0.1:9/realms/none', clientId: 'none', clientSecret: 'none' };
    config = testConfig(0, database, issuer, {
      SMTP_URL: `smtp://127.0.0.1:${port}`,
      MAIL_FROM: 'Slipway <slipway@mail.example>',
    });
  });
  afterAll(async () => {
    for (const each of senders) await each.onApplicationShutdown();
    await new Promise<void>((resolve) => server.close(resolve));
    await pool?.end();
    await database?.close();
  });

  const mails = (more: Partial<Config> = {}): Mails => {
    const made = new Mails(
      pool,
      createIds(systemClock),
      createLogger('test', 'silent'),
      { ...config, ...more },
      new SecretBox(config.ENCRYPTION_KEY),
    );
    senders.push(made);
    return made;
  };
  const want = (sender: Mails, subject: string, text = 'Hello'): Promise<string | null> =>
    inOrg(pool, ORG, (client) => sender.want(client, ORG, { to: 'ada@guests.example', subject, text }));
  const row = async (id: string | null) => {
    const { rows } = await inOrg(pool, ORG, (client) =>
      client.query(
        'SELECT attempts, sent_at IS NOT NULL AS sent, failed_at IS NOT NULL AS failed, last_error, body IS NULL AS wiped FROM app.outgoing_mail WHERE id = $1',
        [id],
      ),
    );
    return rows[0] as { attempts: number; sent: boolean; failed: boolean; last_error: string | null; wiped: boolean };
  };
  const received = (subject: string): string[] => got.filter((text) => text.includes(`Subject: ${subject}`));

  it('is sent after the commit, once by however many servers, from whom and to whom it says, and its text is wiped', async () => {
    const replicas = [mails(), mails(), mails()];
    const id = await want(replicas[0] as Mails, 'once', 'A link: https://slipway.example/invite/abc');
    for (const each of replicas) each.nudge();
    await until('the mail is sent', async () => (await row(id)).sent);
    expect(received('once').length).toBe(1);
    expect(received('once')[0]).toMatch(
      /From: Slipway <slipway@mail\.example>[\s\S]*To: ada@guests\.example[\s\S]*https:\/\/slipway\.example\/invite\/abc/,
    );
    expect(received('once')[0]).toContain(`Message-ID: <${id}@mail.example>`);
    expect(await row(id)).toMatchObject({ attempts: 1, wiped: true, last_error: null });
  });

  it('of a transaction that did not commit is never sent', async () => {
    const sender = mails();
    await inOrg(pool, ORG, async (client) => {
      await sender.want(client, ORG, { to: 'ada@guests.example', subject: 'undone', text: 'x' });
      throw new Error('undone');
    }).catch(() => {});
    const id = await want(sender, 'after-undone');
    sender.nudge();
    await until('the later one is sent', async () => (await row(id)).sent);
    expect(received('undone').filter((text) => !text.includes('after-undone'))).toEqual([]);
  });

  it('that the server refuses for now is tried again later, and one that it refuses for good is given up; both say why', async () => {
    const sender = mails();
    refusal = { code: 451, text: 'greylisted' };
    const later = await want(sender, 'later');
    sender.nudge();
    await until('it was tried', async () => (await row(later)).last_error !== null);
    expect(await row(later)).toMatchObject({
      sent: false,
      failed: false,
      wiped: false,
      last_error: expect.stringContaining('greylisted'),
    });
    refusal = { code: 550, text: 'no such mailbox' };
    const never = await want(sender, 'never');
    sender.nudge();
    await until('it is given up', async () => (await row(never)).failed);
    expect(await row(never)).toMatchObject({ wiped: true, last_error: expect.stringContaining('no such mailbox') });
    refusal = null;
    await inOrg(pool, ORG, (client) =>
      client.query('UPDATE app.outgoing_mail SET next_try_at = now() WHERE id = $1', [later]),
    );
    sender.nudge();
    await until('it is sent after all', async () => (await row(later)).sent);
    expect([received('later').length, received('never').length]).toEqual([1, 0]);
  });

  it('waits while no mail server listens, and one that a dead process had taken is sent by another', async () => {
    const id = await want(mails(), 'taken-over');
    const unreachable = mails({ SMTP_URL: `smtp://127.0.0.1:${await freePort()}` });
    unreachable.nudge();
    await until('it was tried', async () => (await row(id)).last_error !== null);
    expect((await row(id)).failed).toBe(false);
    await inOrg(pool, ORG, (client) =>
      client.query('UPDATE app.outgoing_mail SET next_try_at = now() WHERE id = $1', [id]),
    );
    const successor = mails();
    successor.nudge();
    await until('it is sent', async () => (await row(id)).sent);
  });

  it('is not even written where no mail server is set, and its text is sealed where one is', async () => {
    const { SMTP_URL: _, ...without } = config;
    const silent = new Mails(
      pool,
      createIds(systemClock),
      createLogger('test', 'silent'),
      without as Config,
      new SecretBox(config.ENCRYPTION_KEY),
    );
    expect([silent.sends, await want(silent, 'nothing')]).toEqual([false, null]);
    const secret = randomUUID();
    const id = await want(mails(), 'sealed', secret);
    const { rows } = await inOrg(pool, ORG, (client) =>
      client.query<{ body: Buffer }>('SELECT body FROM app.outgoing_mail WHERE id = $1', [id]),
    );
    expect(rows[0]?.body.includes(secret)).toBe(false);
  });
});
