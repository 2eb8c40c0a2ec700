import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Problem } from '@slipway/contracts/errors';
import {
  type InvitationOutcomes,
  type InvitationPage,
  type InvitationPreview,
  type Org,
  ROLE_PERMISSIONS,
  type SentInvitation,
} from '@slipway/contracts/organizations';
import { until } from '@slipway/testing';
import { Company } from '../../testing/company.js';
import { type Answer, ConversationApp, type User } from '../../testing/conversation-app.js';

let app: ConversationApp;
beforeAll(async () => {
  app = await ConversationApp.start();
});
afterAll(() => app?.close());

let addresses = 0;
const address = (): string => {
  addresses += 1;
  return `guest${addresses}@guests.example`;
};
const tokenOf = (link: string | null | undefined): string => link?.split('/').at(-1) ?? '';
const withoutId = ({ requestId: _, ...body }: Record<string, unknown>): Record<string, unknown> => body;

/** A user with an address, and an invitation to it. */
async function invited(
  company: Company,
  options: { role?: string; verified?: boolean } = {},
): Promise<{ guest: User; token: string; id: string; email: string }> {
  const [guest, email] = [await app.user('Guest'), address()];
  await company.address(guest, email, options.verified ?? true);
  const { body } = await invite(company, company.owner, [email], options.role);
  return { guest, email, token: tokenOf(body.data[0]?.link), id: body.data[0]?.invitation?.id ?? '' };
}
const invite = (
  company: Company,
  by: User,
  emails: string[],
  role = 'member',
): Promise<Answer<InvitationOutcomes & Problem>> =>
  app.http(by, 'POST', company.path('/invitations'), { emails, role });
const accept = (user: User | null, token: string): Promise<Answer<Org & Problem>> =>
  app.http(user, 'POST', `/api/v1/invitations/${token}/accept`);
const read = (user: User | null, token: string): Promise<Answer<InvitationPreview & Problem>> =>
  app.http(user, 'GET', `/api/v1/invitations/${token}`);

describe('inviting', () => {
  let company: Company;
  beforeAll(async () => {
    company = await Company.open(app, 'Hosts');
  });

  it('gives each of many addresses an outcome of its own, and without a mail server a link each', async () => {
    const member = await company.member('member');
    const before = await invite(company, company.owner, ['already@guests.example']);
    expect(before.body.data[0]).toMatchObject({
      outcome: 'invited',
      sent: false,
      invitation: { state: 'open', mail: { state: 'link' } },
    });
    const { status, body } = await invite(company, company.owner, [
      ' New@Guests.example ',
      'no address',
      `${member.userId}@company.example`,
      'already@guests.example',
      'new@guests.example',
    ]);
    expect([status, body.data.map(({ email, outcome, sent }) => [email, outcome, sent])]).toEqual([
      200,
      [
        ['new@guests.example', 'invited', false],
        ['no address', 'invalid', false],
        [`${member.userId}@company.example`, 'already-member', false],
        ['already@guests.example', 'already-invited', false],
        ['new@guests.example', 'already-invited', false],
      ],
    ]);
    expect(body.data.filter(({ link }) => link !== null).length).toBe(1);
    expect(body.data[0]?.link).toMatch(new RegExp(`^${app.url}/invite/[A-Za-z0-9_-]{43}$`));
  });

  it('keeps nothing that a token could be made from, neither in the tables nor in the audit', async () => {
    const { token } = await invited(company);
    for (const table of ['invitation', 'audit_entry', 'outbox', 'outgoing_mail', 'idempotency_key']) {
      const { rows } = await app.owner.query<{ text: string }>(
        `SELECT string_agg(t::text, '') AS text FROM app.${table} t`,
      );
      expect([table, (rows[0]?.text ?? '').includes(token)]).toEqual([table, false]);
    }
  });

  it('is for admins, up to their own role; 101 addresses are too many, and a personal organization admits no members', async () => {
    const [admin, member] = [await company.member('admin'), await company.member('member')];
    expect((await invite(company, member, [address()])).status).toBe(403);
    expect((await invite(company, admin, [address()], 'owner')).status).toBe(403);
    expect((await invite(company, admin, [address()], 'admin')).status).toBe(200);
    expect((await invite(company, admin, Array.from({ length: 101 }, address))).status).toBe(400);
    expect((await invite(company, admin, [])).status).toBe(400);
    const personal = await app.http<Problem>(admin, 'POST', `/api/v1/orgs/${admin.orgId}/invitations`, {
      emails: [address()],
      role: 'member',
    });
    expect([personal.status, personal.body.code]).toEqual([409, 'org.personal']);
  });

  it('lists them newest first by state, over pages, to who may invite only', async () => {
    const own = await Company.open(app, 'Lists');
    await invite(own, own.owner, Array.from({ length: 5 }, address));
    const first = await app.http<InvitationPage>(own.owner, 'GET', own.path('/invitations?state=open&limit=3'));
    const second = await app.http<InvitationPage>(
      own.owner,
      'GET',
      own.path(`/invitations?state=open&limit=3&cursor=${first.body.page.nextCursor}`),
    );
    const ids = [...first.body.data, ...second.body.data].map(({ id }) => id);
    expect([ids.length, new Set(ids).size, second.body.page.nextCursor]).toEqual([5, 5, null]);
    expect((await app.http(await own.member('member'), 'GET', own.path('/invitations'))).status).toBe(403);
    expect((await app.http(company.owner, 'GET', own.path('/invitations'))).status).toBe(404);
  });

  it('makes a new link with resend, and the one before leads nowhere; one taken back stays so, and one of another organization is not there', async () => {
    const { guest, token, id } = await invited(company);
    const resent = await app.http<SentInvitation>(company.owner, 'POST', company.path(`/invitations/${id}/resend`));
    expect([resent.status, resent.body.sent]).toEqual([200, false]);
    expect((await read(guest, token)).status).toBe(404);
    expect((await read(guest, tokenOf(resent.body.link))).body).toMatchObject({ state: 'open', account: 'matches' });
    const other = await Company.open(app, 'Others');
    expect((await app.http(other.owner, 'DELETE', other.path(`/invitations/${id}`))).status).toBe(404);
    expect((await app.http(company.owner, 'DELETE', company.path(`/invitations/${id}`))).status).toBe(204);
    expect((await app.http(company.owner, 'DELETE', company.path(`/invitations/${id}`))).status).toBe(204);
    const again = await app.http<Problem>(company.owner, 'POST', company.path(`/invitations/${id}/resend`));
    expect([again.status, again.body.code]).toEqual([410, 'invitation.revoked']);
    const revoked = await accept(guest, tokenOf(resent.body.link));
    expect([revoked.status, revoked.body.code]).toEqual([410, 'invitation.revoked']);
  });
});

describe('a link', () => {
  let company: Company;
  beforeAll(async () => {
    company = await Company.open(app, 'Doors');
  });

  it('shows its holder what it invites to, and never the address', async () => {
    const { guest, token, email } = await invited(company);
    const [nobody, other, self] = [
      await read(null, token),
      await read(await app.user(), token),
      await read(guest, token),
    ];
    expect([nobody.body, other.body.account, self.body.account]).toMatchObject([
      {
        orgName: 'Doors',
        invitedBy: 'Owner of Doors',
        role: 'member',
        state: 'open',
        account: 'anonymous',
        maskedEmail: 'g…@guests.example',
      },
      'other',
      'matches',
    ]);
    expect(JSON.stringify([nobody.body, other.body])).not.toContain(email);
  });

  it('that was never given out is answered as what does not exist, whatever its form', async () => {
    const user = await app.user();
    const missing = await app.http(user, 'GET', '/api/v1/orgs/org_missing');
    for (const token of ['A'.repeat(43), 'short', '%00', '%2e%2e']) {
      for (const answer of [await read(user, token), await accept(user, token)])
        expect([token, answer.status, withoutId(answer.body)]).toEqual([token, 404, withoutId(missing.body)]);
    }
  });

  it('lets the invited account join at once, and again is harmless', async () => {
    const { guest, token, id } = await invited(company, { role: 'admin' });
    for (let time = 0; time < 2; time += 1) {
      const joined = await accept(guest, token);
      expect([joined.status, joined.body.id, joined.body.role]).toEqual([200, company.org.id, 'admin']);
    }
    expect((await app.http(guest, 'GET', company.path('/members'))).status).toBe(200);
    const accepted = (await company.audit()).filter(
      ({ action, target }) => action === 'invitation.accept' && target === id,
    );
    expect(accepted.map(({ actor_id, after }) => [actor_id, after])).toEqual([
      [guest.userId, { member: guest.userId, role: 'admin' }],
    ]);
  });

  it('joins once, however often it is used at the same moment', async () => {
    const { guest, token, id } = await invited(company);
    const answers = await Promise.all(Array.from({ length: 6 }, () => accept(guest, token)));
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200));
    expect((await company.audit()).filter(({ target }) => target === id).map(({ action }) => action)).toEqual([
      'invitation.create',
      'invitation.accept',
    ]);
  });

  it('is of no use to another account, also one that says the same address without having confirmed it', async () => {
    const { token, email } = await invited(company);
    const [other, liar] = [await app.user(), await app.user()];
    await company.address(liar, email, false);
    const refused = await accept(other, token);
    expect([refused.status, refused.body.code, refused.body['maskedEmail']]).toEqual([
      409,
      'invitation.other-account',
      'g…@guests.example',
    ]);
    const unverified = await accept(liar, token);
    expect([unverified.status, unverified.body.code]).toEqual([409, 'invitation.unverified']);
    expect((await accept(null, token)).status).toBe(401);
    expect(Object.keys(await company.roles())).not.toContain(other.userId);
    expect(Object.keys(await company.roles())).not.toContain(liar.userId);
  });

  it('that has expired or was used says so to whom it is for; an expired address can be invited again', async () => {
    const { guest, token, id, email } = await invited(company);
    await app.owner.query(`UPDATE app.invitation SET expires_at = now() WHERE id = $1`, [id]);
    const expired = await accept(guest, token);
    expect([expired.status, expired.body.code]).toEqual([410, 'invitation.expired']);
    const anew = await invite(company, company.owner, [email]);
    expect([anew.body.data[0]?.outcome, anew.body.data[0]?.invitation?.id]).toEqual(['invited', id]);
    expect((await accept(guest, token)).status).toBe(404);
    const fresh = tokenOf(anew.body.data[0]?.link);
    expect((await accept(guest, fresh)).status).toBe(200);
    const twin = await app.user();
    await company.address(twin, email);
    const used = await accept(twin, fresh);
    expect([used.status, used.body.code]).toEqual([410, 'invitation.used']);
  });

  it('changes no role of an existing member', async () => {
    const { guest, token } = await invited(company, { role: 'viewer' });
    await app.owner.query(`INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'admin')`, [
      company.org.id,
      guest.userId,
    ]);
    expect([(await accept(guest, token)).body.role, (await company.roles())[guest.userId]]).toEqual(['admin', 'admin']);
  });

  it('used by who was removed since is used up; a new one brings them back', async () => {
    const { guest, token, email } = await invited(company);
    await accept(guest, token);
    await app.http(company.owner, 'DELETE', company.path(`/members/${guest.userId}`));
    const again = await accept(guest, token);
    expect([again.status, again.body.code]).toEqual([410, 'invitation.used']);
    const { body } = await invite(company, company.owner, [email]);
    expect((await accept(guest, tokenOf(body.data[0]?.link))).status).toBe(200);
  });

  it('of an admin who was removed, demoted or deactivated is refused to every holder of the link', async () => {
    const own = await Company.open(app, 'Leavers');
    const end: Record<string, (admin: User) => Promise<unknown>> = {
      removed: (admin) => app.http(own.owner, 'DELETE', own.path(`/members/${admin.userId}`)),
      demoted: (admin) => app.http(own.owner, 'PATCH', own.path(`/members/${admin.userId}`), { role: 'member' }),
      // By an older replica, which revokes nothing.
      'removed behind our back': (admin) =>
        app.owner.query('DELETE FROM app.membership WHERE user_id = $1 AND org_id = $2', [admin.userId, own.org.id]),
      deactivated: (admin) =>
        app.owner.query('UPDATE app.user_account SET deactivated_at = now() WHERE id = $1', [admin.userId]),
    };
    for (const [how, ending] of Object.entries(end)) {
      const admin = await own.member('admin');
      const [guest, email] = [await app.user('Accomplice'), address()];
      await own.address(guest, email);
      const { body } = await invite(own, admin, [email], 'admin');
      await ending(admin);
      const joined = await accept(guest, tokenOf(body.data[0]?.link));
      expect([how, joined.status, joined.body.code]).toEqual([how, 410, 'invitation.revoked']);
      expect([how, (await own.roles())[guest.userId]]).toEqual([how, undefined]);
    }
  });

  it('that a thief made, or had handed out again, with an API key ends with the key and with the key that made that one; a rotation ends none', async () => {
    const own = await Company.open(app, 'Keys');
    const scopes = ROLE_PERMISSIONS.admin;
    type Made = { id: string; token: string };
    const make = async (with_?: Made): Promise<Made> =>
      with_ === undefined
        ? (await app.http<Made>(own.owner, 'POST', own.path('/api-keys'), { name: 'k', scopes })).body
        : (
            await app.http<Made>(
              null,
              'POST',
              own.path('/api-keys'),
              { name: 'k', scopes },
              { authorization: `Bearer ${with_.token}` },
            )
          ).body;
    const inviteWith = async (key: Made): Promise<{ guest: User; token: string }> => {
      const [guest, email] = [await app.user('Guest'), address()];
      await own.address(guest, email, true);
      const asKey = { authorization: `Bearer ${key.token}` };
      const { body } = await app.http<InvitationOutcomes>(
        null,
        'POST',
        own.path('/invitations'),
        { emails: [email], role: 'member' },
        asKey,
      );
      return { guest, token: tokenOf(body.data[0]?.link) };
    };
    const [stolen, rotated] = [await make(), await make()];
    const child = await make(stolen);
    const [first, second, third, kept] = [
      await inviteWith(stolen),
      await inviteWith(child),
      await invited(own),
      await inviteWith(rotated),
    ];
    const resent = await app.http<SentInvitation>(
      null,
      'POST',
      own.path(`/invitations/${third.id}/resend`),
      undefined,
      {
        authorization: `Bearer ${child.token}`,
      },
    );
    expect((await app.http(own.owner, 'DELETE', own.path(`/api-keys/${stolen.id}`))).status).toBe(204);
    for (const [guest, token] of [
      [first.guest, first.token],
      [second.guest, second.token],
      [third.guest, tokenOf(resent.body.link)],
    ] as const)
      expect((await accept(guest, token)).body.code).toBe('invitation.revoked');
    expect(
      (await app.http<InvitationPage>(own.owner, 'GET', own.path('/invitations?state=open'))).body.data,
    ).toHaveLength(1);
    expect(
      (await app.http(own.owner, 'POST', own.path(`/api-keys/${rotated.id}/rotate`), { overlapSeconds: 0 })).status,
    ).toBeLessThan(300);
    expect((await accept(kept.guest, kept.token)).status).toBe(200);
    const behind = await make();
    const late = await inviteWith(behind);
    await app.owner.query('UPDATE app.api_key SET revoked_at = now() WHERE id = $1', [behind.id]);
    expect((await accept(late.guest, late.token)).body.code).toBe('invitation.revoked');
  });

  it('to a role that its maker still covers outlives a demotion, and the audit names those that do not', async () => {
    const own = await Company.open(app, 'Demotions');
    const admin = await own.member('admin');
    const [guest, email] = [await app.user('Guest'), address()];
    await own.address(guest, email);
    const kept = (await invite(own, admin, [email], 'member')).body.data[0];
    const ended = (await invite(own, admin, [address()], 'admin')).body.data[0];
    await app.http(own.owner, 'PATCH', own.path(`/members/${admin.userId}`), { role: 'member' });
    const { rows } = await app.owner.query(
      "SELECT detail FROM app.audit_entry WHERE org_id = $1 AND action = 'member.set-role'",
      [own.org.id],
    );
    expect(rows).toEqual([{ detail: { invitationsRevoked: [ended?.invitation?.id] } }]);
    expect((await accept(guest, tokenOf(kept?.link))).status).toBe(200);
  });

  it('is refused for an organization that waits for its deletion', async () => {
    const doomed = await Company.open(app, 'Doomed');
    const { guest, token } = await invited(doomed);
    await app.http(doomed.owner, 'DELETE', doomed.path(), { confirm: 'Doomed' });
    const answer = await accept(guest, token);
    expect([answer.status, answer.body.code]).toEqual([409, 'org.being-deleted']);
    await until(
      'the owner is refused too',
      async () => (await invite(doomed, doomed.owner, [address()])).body.code === 'org.being-deleted',
    );
  });
});
