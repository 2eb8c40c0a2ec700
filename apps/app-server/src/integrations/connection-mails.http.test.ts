import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ConnectionWithSecret } from '@slipway/contracts/integrations';
import { freePort } from '@slipway/testing';
import { FEATURES } from '../app.module.js';
import { ConversationApp, type User } from '../testing/conversation-app.js';
import { ConnectionMails } from './connection-mails.js';

describe('the mail about a connection', () => {
  let app: ConversationApp;
  let ada: User;
  let id: string;
  beforeAll(async () => {
    // No process takes them: they stay where the test reads them.
    app = await ConversationApp.start({
      features: FEATURES,
      replicas: 2,
      env: { SMTP_URL: `smtp://127.0.0.1:${await freePort()}` },
    });
    ada = await app.user('Ada');
    await app.owner.query(
      `UPDATE app.user_account SET email = 'ada@example.test', email_verified = true WHERE id = $1`,
      [ada.userId],
    );
    const body = { provider: 'gitlab', name: 'Code', host: 'gitlab.com', token: 'glpat-entered-by-hand' };
    const made = await app.http<ConnectionWithSecret>(
      ada,
      'POST',
      `/api/v1/orgs/${ada.orgId}/integrations/connections`,
      body,
    );
    expect(made.status).toBe(201);
    id = made.body.connection.id;
  });
  afterAll(() => app?.close());

  const look = async (subject: string): Promise<number> => {
    await Promise.all(app.replicas.map((replica) => replica.app.get(ConnectionMails, { strict: false }).look()));
    const { rowCount } = await app.owner.query(
      `SELECT 1 FROM app.outgoing_mail WHERE org_id = $1 AND recipient = 'ada@example.test' AND subject LIKE $2`,
      [ada.orgId, subject],
    );
    return rowCount ?? 0;
  };
  const state = (value: string): Promise<unknown> =>
    app.owner.query(
      `UPDATE app.integration_connection SET state = $2, state_reason = 'The provider refuses the access token.' WHERE id = $1`,
      [id, value],
    );
  const ends = (days: number): Promise<unknown> =>
    app.owner.query(
      `UPDATE app.integration_secret SET expires_at = now() + $2 * interval '1 day' WHERE connection_id = $1 AND kind = 'token'`,
      [id, days],
    );

  it('that needs attention goes out once to owners and admins, whichever process polls, and again the next time', async () => {
    const subject = 'A connection of % needs attention';
    expect(await look(subject)).toBe(0);
    await state('needs-attention');
    expect([await look(subject), await look(subject)]).toEqual([1, 1]);
    await state('active');
    expect(await look(subject)).toBe(1);
    await state('needs-attention');
    expect(await look(subject)).toBe(2);
    await state('active');
  });

  it('whose access token ends goes out once within seven days of its end', async () => {
    const subject = 'An access token of % ends on %';
    await ends(8);
    expect(await look(subject)).toBe(0);
    await ends(6);
    expect([await look(subject), await look(subject)]).toEqual([1, 1]);
  });
});
