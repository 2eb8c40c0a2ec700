import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Problem } from '@slipway/contracts/errors';
import type { InvitationOutcomes, SentInvitation } from '@slipway/contracts/organizations';
import { freePort } from '@slipway/testing';
import { Company } from '../../testing/company.js';
import { type Answer, ConversationApp } from '../../testing/conversation-app.js';

const MAILS_PER_DAY_NEW = 30;
const MAILS_PER_ADDRESS = 3;

jest.setTimeout(120_000);

describe('an organization that invites to flood mailboxes', () => {
  let app: ConversationApp;
  beforeAll(async () => {
    app = await ConversationApp.start({
      replicas: 2,
      env: {
        SMTP_URL: `smtp://127.0.0.1:${await freePort()}`,
        INVITATION_MAILS_PER_DAY_NEW: String(MAILS_PER_DAY_NEW),
        INVITATION_MAILS_PER_DAY: String(MAILS_PER_DAY_NEW + 1),
        INVITATION_MAILS_PER_ADDRESS: String(MAILS_PER_ADDRESS),
        INVITATION_PAUSE_SECONDS: '600',
      },
    });
  });
  afterAll(() => app?.close());

  const invite = (
    company: Company,
    emails: readonly string[],
    url = app.url,
  ): Promise<Answer<InvitationOutcomes & Problem>> =>
    fetch(`${url}${company.path('/invitations')}`, {
      method: 'POST',
      headers: { cookie: company.owner.cookie, origin: new URL(url).origin, 'content-type': 'application/json' },
      body: JSON.stringify({ emails, role: 'member' }),
    }).then(async (answer) => ({ status: answer.status, headers: answer.headers, body: await answer.json() }) as never);
  const names = (count: number, prefix: string): string[] =>
    Array.from({ length: count }, (_, index) => `${prefix}${index}@guests.example`);
  const mailsOf = async (orgId: string): Promise<number> =>
    (
      await app.owner.query<{ count: number }>(
        'SELECT count(*)::int AS count FROM app.outgoing_mail WHERE org_id = $1',
        [orgId],
      )
    ).rows[0]?.count ?? 0;

  it('sends no more a day than a new one may, over all replicas at once, and gets the time of the next', async () => {
    const company = await Company.open(app, 'Flooders');
    const batches = Array.from({ length: 8 }, (_, index) =>
      invite(company, names(10, `flood${index}x`), app.replicas[index % 2]?.url),
    );
    const answers = await Promise.all(batches);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(MAILS_PER_DAY_NEW / 10);
    for (const { status, body, headers } of answers.filter(({ status }) => status !== 200)) {
      expect([status, body.code]).toEqual([429, 'invitation.mail-limit']);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(86_000);
    }
    expect(await mailsOf(company.org.id)).toBe(MAILS_PER_DAY_NEW);
    await app.owner.query(`UPDATE app.org SET created_at = now() - interval '8 days' WHERE id = $1`, [company.org.id]);
    expect((await invite(company, ['later@guests.example'])).status).toBe(200);
    expect((await invite(company, ['too-late@guests.example'])).status).toBe(429);
  });

  it('leaves each refusal in the audit, with who asked for what', async () => {
    const company = await Company.open(app, 'Recorded');
    expect((await invite(company, names(MAILS_PER_DAY_NEW + 1, 'recorded'))).status).toBe(429);
    const { body } = await invite(company, ['once@guests.example']);
    const id = body.data[0]?.invitation?.id ?? '';
    expect((await app.http(company.owner, 'POST', company.path(`/invitations/${id}/resend`))).status).toBe(429);
    const { rows } = await app.owner.query<{
      actor_id: string;
      target: string;
      detail: { code: string; wanted: string[]; count: number };
    }>(
      `SELECT actor_id, target, detail FROM app.audit_entry WHERE org_id = $1 AND action = 'invitation.refuse' ORDER BY created_at`,
      [company.org.id],
    );
    expect(rows.map(({ detail: { code, count } }) => [code, count])).toEqual([
      ['invitation.mail-limit', MAILS_PER_DAY_NEW + 1],
      ['invitation.mail-limit', 1],
    ]);
    expect([rows[0]?.actor_id, rows[0]?.target, rows[0]?.detail.wanted.length, rows[1]?.detail.wanted]).toEqual([
      company.owner.userId,
      company.org.id,
      10,
      [id],
    ]);
  });

  it('writes to one address once in the pause, however it asks: by resend, or by taking back and inviting again', async () => {
    const company = await Company.open(app, 'Pesterers');
    const { body } = await invite(company, ['victim@guests.example']);
    const id = body.data[0]?.invitation?.id ?? '';
    // As if it was sent: what was not is withdrawn by a resend, and never arrives.
    await app.owner.query('UPDATE app.outgoing_mail SET sent_at = now() WHERE org_id = $1', [company.org.id]);
    const resend = (): Promise<Answer<SentInvitation & Problem>> =>
      app.http(company.owner, 'POST', company.path(`/invitations/${id}/resend`));
    expect(await resend()).toMatchObject({ status: 429, body: { code: 'invitation.mail-limit' } });
    expect((await app.http(company.owner, 'DELETE', company.path(`/invitations/${id}`))).status).toBe(204);
    expect(await invite(company, ['victim@guests.example'])).toMatchObject({
      status: 429,
      body: { code: 'invitation.mail-limit' },
    });
    await app.owner.query(`UPDATE app.outgoing_mail SET created_at = now() - interval '11 minutes' WHERE org_id = $1`, [
      company.org.id,
    ]);
    expect((await invite(company, ['victim@guests.example'])).status).toBe(200);
  });

  it('reaches one address no more a day by making many organizations', async () => {
    const companies = await Promise.all(
      Array.from({ length: MAILS_PER_ADDRESS + 2 }, (_, index) => Company.open(app, `Front ${index}`)),
    );
    const answers = await Promise.all(
      companies.map((company, index) => invite(company, ['target@guests.example'], app.replicas[index % 2]?.url)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(MAILS_PER_ADDRESS);
    expect(answers.filter(({ body }) => body.code === 'invitation.mail-limit')).toHaveLength(2);
  });
});
