import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { OutgoingWebhookWithSecret } from '@slipway/contracts/integrations';
import { freePort } from '@slipway/testing';
import { ConversationApp } from '../../testing/conversation-app.js';
import { WebhookMails } from './webhook-mails.js';

describe('the mail about a webhook that is called no more', () => {
  let app: ConversationApp;
  beforeAll(async () => {
    // No process takes them: they stay where the test reads them.
    app = await ConversationApp.start({ replicas: 2, env: { SMTP_URL: `smtp://127.0.0.1:${await freePort()}` } });
  });
  afterAll(() => app?.close());

  it('goes out once to owners and admins, whichever process polls, and again the next time', async () => {
    const ada = await app.user('Ada');
    await app.owner.query(
      `UPDATE app.user_account SET email = 'ada@example.test', email_verified = true WHERE id = $1`,
      [ada.userId],
    );
    const path = `/api/v1/orgs/${ada.orgId}/webhooks`;
    const { body } = await app.http<OutgoingWebhookWithSecret>(ada, 'POST', path, {
      name: 'Status',
      url: 'https://example.com/hook?key=secret',
      events: ['conversation.failed'],
    });
    const look = async (): Promise<number> => {
      await Promise.all(app.replicas.map((replica) => replica.app.get(WebhookMails, { strict: false }).look()));
      const { rowCount } = await app.owner.query(
        `SELECT 1 FROM app.outgoing_mail WHERE org_id = $1 AND recipient = 'ada@example.test' AND subject LIKE 'A webhook of %'`,
        [ada.orgId],
      );
      return rowCount ?? 0;
    };
    const fails = (): Promise<unknown> =>
      app.owner.query(
        `UPDATE app.outgoing_webhook SET state = 'failing', state_reason = 'Nothing was taken for five days.' WHERE id = $1`,
        [body.webhook.id],
      );
    expect(await look()).toBe(0);
    await fails();
    expect([await look(), await look()]).toEqual([1, 1]);
    await app.http(ada, 'PATCH', `${path}/${body.webhook.id}`, { disabled: false });
    expect(await look()).toBe(1);
    await fails();
    expect(await look()).toBe(2);
  });
});
