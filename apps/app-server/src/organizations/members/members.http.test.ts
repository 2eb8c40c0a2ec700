import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Problem } from '@slipway/contracts/errors';
import type { Member, MemberPage, MemberRemoval } from '@slipway/contracts/organizations';
import { until } from '@slipway/testing';
import { Company } from '../../testing/company.js';
import { ConversationApp, type User } from '../../testing/conversation-app.js';

type Answer = Member & Problem;

let app: ConversationApp;
beforeAll(async () => {
  app = await ConversationApp.start({
    env: {
      EGRESS_CONTROL_SECRET: 'test-egress-control-test-egress-control',
      CREDENTIAL_CONTROL_SECRET: 'test-credential-control-test-credential',
      INTERNAL_PORT: '0',
    },
  });
});
afterAll(() => app?.close());

describe('GET /api/v1/orgs/{org}/members', () => {
  let company: Company;
  beforeAll(async () => {
    company = await Company.open(app, 'Listed');
    await app.owner.query(
      `WITH person AS (
         INSERT INTO app.user_account (id, issuer, subject, name, email)
         SELECT 'usr_l' || n, 'test', 'l' || n, CASE WHEN n % 50 = 0 THEN 'Jean-Luc Picard ' || n ELSE 'Person ' || n END, 'p' || n || '@list.example' FROM generate_series(1, 250) n RETURNING id)
       INSERT INTO app.membership (org_id, user_id, role, created_at) SELECT $1, id, CASE WHEN right(id, 1) = '7' THEN 'viewer' ELSE 'member' END, now() FROM person`,
      [company.org.id],
    );
  });

  const pages = async (user: User, query: string): Promise<Member[]> => {
    const all: Member[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: { status: number; body: MemberPage } = await app.http(
        user,
        'GET',
        company.path(`/members?${query}${cursor === '' ? '' : `&cursor=${cursor}`}`),
      );
      expect(page.status).toBe(200);
      all.push(...page.body.data);
      cursor = page.body.page.nextCursor;
    }
    return all;
  };

  it('gives every member once over its pages, also those who joined in the same instant', async () => {
    const all = await pages(company.owner, 'limit=60');
    expect([all.length, new Set(all.map(({ userId }) => userId)).size]).toEqual([251, 251]);
    expect(all.at(-1)).toMatchObject({
      userId: company.owner.userId,
      role: 'owner',
      source: 'founder',
      deactivated: false,
    });
  });

  it('filters by role, and finds by beginnings of words of name and address', async () => {
    expect((await pages(company.owner, 'role=viewer')).every(({ role }) => role === 'viewer')).toBe(true);
    expect((await pages(company.owner, 'role=viewer')).length).toBe(25);
    expect((await pages(company.owner, 'search=luc%20pic')).length).toBe(5);
    expect((await pages(company.owner, 'search=P12%40list')).map(({ email }) => email).sort()).toEqual(
      [12, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129].map((n) => `p${n}@list.example`).sort(),
    );
    expect((await pages(company.owner, `search=${encodeURIComponent("'); DROP TABLE app.org; --")}`)).length).toBe(0);
  });

  it('says to who may read usage what each has spent in this cycle, and of what limit; to others it says nothing of it', async () => {
    const [one, two] = ['usr_l1', 'usr_l2'];
    await app.owner.query(
      `INSERT INTO app.usage_day SELECT $1, day, $2, '', model, '', 1, 0, 0, 0, 0, 1.25, 0
       FROM (VALUES ((now() AT TIME ZONE 'UTC')::date), ((now() AT TIME ZONE 'UTC')::date - 40)) d(day), (VALUES ('a'), ('b')) m(model)`,
      [company.org.id, one],
    );
    expect((await app.http(company.owner, 'PATCH', company.path('/budgets'), { memberLimitUsd: '10' })).status).toBe(
      200,
    );
    expect(
      (await app.http(company.owner, 'PUT', company.path(`/budgets/overrides/${two}`), { limitUsd: null })).status,
    ).toBe(200);
    const spending = async (user: User) => {
      const all = new Map((await pages(user, 'limit=200&search=person')).map((each) => [each.userId, each.spending]));
      return [one, two, 'usr_l3'].map((id) => all.get(id));
    };
    expect(await spending(company.owner)).toEqual([
      { spentUsd: '2.5', limitUsd: '10' },
      { spentUsd: '0', limitUsd: null },
      { spentUsd: '0', limitUsd: '10' },
    ]);
    expect((await app.http<Answer>(company.owner, 'GET', company.path(`/members/${one}`))).body.spending).toEqual({
      spentUsd: '2.5',
      limitUsd: '10',
    });
    expect(await spending(await company.member('member'))).toEqual([null, null, null]);
  });

  it('is for viewers too, and answers 400 to a role, a page or a search that is none', async () => {
    expect((await app.http(await company.member('viewer'), 'GET', company.path('/members'))).status).toBe(200);
    for (const query of ['role=king', 'limit=0', 'limit=201', 'cursor=x', 'search=%00'])
      expect([query, (await app.http(company.owner, 'GET', company.path(`/members?${query}`))).status]).toEqual([
        query,
        400,
      ]);
    for (const id of ['usr_missing', '%00', '..%2f'])
      expect([id, (await app.http(company.owner, 'GET', company.path(`/members/${id}`))).status]).toEqual([id, 404]);
  });
});

describe('PATCH /api/v1/orgs/{org}/members/{user}', () => {
  const setRole = (company: Company, by: User, who: User, role: string, expectedRole?: string) =>
    app.http<Answer>(by, 'PATCH', company.path(`/members/${who.userId}`), {
      role,
      ...(expectedRole === undefined ? {} : { expectedRole }),
    });

  it('changes a role with a record of before and after', async () => {
    const company = await Company.open(app);
    const member = await company.member('member');
    const answer = await setRole(company, company.owner, member, 'admin', 'member');
    expect([answer.status, answer.body.role]).toEqual([200, 'admin']);
    expect((await company.audit()).at(-1)).toMatchObject({
      action: 'member.set-role',
      target: member.userId,
      before: { role: 'member' },
      after: { role: 'admin' },
    });
  });

  it('raises no user above the caller, themself included, and unmakes no owner but by an owner', async () => {
    const company = await Company.open(app);
    const [admin, member, viewer] = [
      await company.member('admin'),
      await company.member('member'),
      await company.member('viewer'),
    ];
    expect((await setRole(company, admin, admin, 'owner')).status).toBe(403);
    expect((await setRole(company, admin, member, 'owner')).status).toBe(403);
    expect((await setRole(company, admin, company.owner, 'viewer')).status).toBe(403);
    expect((await setRole(company, member, member, 'admin')).status).toBe(403);
    expect((await setRole(company, viewer, viewer, 'member')).status).toBe(403);
    expect((await setRole(company, admin, member, 'admin')).status).toBe(200);
    expect((await setRole(company, company.owner, admin, 'owner')).status).toBe(200);
  });

  it('changes nothing when the role is not the one that the caller saw', async () => {
    const company = await Company.open(app);
    const member = await company.member('member');
    const answer = await setRole(company, company.owner, member, 'admin', 'viewer');
    expect([answer.status, answer.body.code, (await company.roles())[member.userId]]).toEqual([
      409,
      'member.changed',
      'member',
    ]);
  });

  it('leaves one owner when two demote each other at the same moment, and never none', async () => {
    for (let round = 0; round < 5; round += 1) {
      const company = await Company.open(app);
      const other = await company.member('owner');
      const answers = await Promise.all([
        setRole(company, company.owner, other, 'member'),
        setRole(company, other, company.owner, 'member'),
      ]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 403]);
      expect(Object.values(await company.roles()).sort()).toEqual(['member', 'owner']);
    }
  });

  it('does not count an owner whose account is shut', async () => {
    const company = await Company.open(app);
    const other = await company.member('owner');
    await app.owner.query('UPDATE app.user_account SET deactivated_at = now() WHERE id = $1', [other.userId]);
    const answer = await setRole(company, company.owner, company.owner, 'admin');
    expect([answer.status, answer.body.code]).toEqual([409, 'org.last-owner']);
  });

  it('answers 400 to what is no role and 404 to who is no member', async () => {
    const company = await Company.open(app);
    expect((await setRole(company, company.owner, company.owner, 'king')).status).toBe(400);
    expect((await setRole(company, company.owner, await app.user(), 'member')).status).toBe(404);
  });
});

describe('DELETE /api/v1/orgs/{org}/members/{user}', () => {
  it('says beforehand and afterwards what goes, ends keys and ways into sandboxes at once, and keeps the conversations', async () => {
    const company = await Company.open(app);
    const member = await company.member('member');
    const [running, resting] = [randomUUID(), randomUUID()];
    for (const [id, desired, sandbox] of [
      [running, 'run', 'RUNNING'],
      [resting, 'rest', 'PAUSED'],
    ])
      await app.owner.query(
        `INSERT INTO app.conversation (id, org_id, created_by, created_by_label, title, model, desired, sandbox_status) VALUES ($1, $2, $3, 'm', 't', 'm', $4, $5)`,
        [id, company.org.id, member.userId, desired, sandbox],
      );
    await app.owner.query(
      `INSERT INTO app.api_key (id, org_id, name, owner_kind, owner_id, scopes, hash, prefix, last4, expires_at, created_by, created_by_label)
       VALUES ('key_gone', $1, 'k', 'user', $2, '{}', '\\x00', 'p', 'l', now() + interval '1 day', $2, 'm'), ('key_over', $1, 'k', 'user', $2, '{}', '\\x00', 'p', 'l', now(), $2, 'm'),
              ('key_other', $1, 'k', 'user', $3, '{}', '\\x00', 'p', 'l', now() + interval '1 day', $3, 'm')`,
      [company.org.id, member.userId, company.owner.userId],
    );
    await app.owner.query(
      `INSERT INTO app.sandbox_grant (id, org_id, user_id, conversation_id, port, ticket_expires_at, expires_at) VALUES ('grant_gone', $1, $2, $3, 8000, now(), now() + interval '1 hour')`,
      [company.org.id, member.userId, running],
    );
    const goes = {
      keysRevoked: 1,
      sandboxesStopping: 1,
      conversationsKept: 2,
      invitationsRevoked: 0,
      knownCredentials: [],
      knownCredentialsTotal: 0,
    };
    const preview = await app.http<MemberRemoval>(
      company.owner,
      'GET',
      company.path(`/members/${member.userId}/removal-preview`),
    );
    expect([preview.status, preview.body]).toEqual([200, goes]);
    const removed = await app.http<MemberRemoval>(company.owner, 'DELETE', company.path(`/members/${member.userId}`));
    expect([removed.status, removed.body]).toEqual([200, goes]);

    await until('the member is out', async () => (await app.http(member, 'GET', company.path())).status === 404);
    const { rows } = await app.owner.query(
      `SELECT id FROM app.api_key WHERE org_id = $1 AND revoked_at IS NULL ORDER BY 1`,
      [company.org.id],
    );
    expect(rows).toEqual([{ id: 'key_other' }]);
    expect(
      (
        await app.owner.query('SELECT 1 FROM app.sandbox_grant WHERE org_id = $1 AND revoked_at IS NULL', [
          company.org.id,
        ])
      ).rowCount,
    ).toBe(0);
    expect(
      (await app.owner.query('SELECT queue, payload FROM app.outbox WHERE org_id = $1', [company.org.id])).rows,
    ).toEqual([{ queue: 'member-removed', payload: { orgId: company.org.id, userId: member.userId } }]);
    const kept = await app.http<{ data: unknown[] }>(company.owner, 'GET', company.path('/conversations'));
    expect(kept.body.data.length).toBe(2);
    expect((await company.audit()).at(-1)).toMatchObject({
      action: 'member.remove',
      target: member.userId,
      before: { role: 'member' },
    });
    expect((await app.http(company.owner, 'DELETE', company.path(`/members/${member.userId}`))).status).toBe(404);
  });

  it('names what a removed admin still knows of service accounts, secrets and model keys, and revokes those keys when asked to', async () => {
    const company = await Company.open(app);
    const admin = await company.member('admin');
    const account = await app.http<{ id: string }>(company.owner, 'POST', company.path('/service-accounts'), {
      name: 'bot',
      role: 'member',
    });
    const key = await app.http<{ id: string; token: string }>(admin, 'POST', company.path('/api-keys'), {
      name: 'nightly',
      scopes: ['org:read'],
      serviceAccountId: account.body.id,
    });
    const secret = await app.http<{ id: string }>(admin, 'POST', company.path('/secrets'), {
      name: 'NPM_TOKEN',
      value: 'a-value-of-some-length',
    });
    expect([key.status, secret.status]).toEqual([201, 201]);
    const received = await app.http<{ id: string }>(company.owner, 'POST', company.path('/secrets'), {
      name: 'DEPLOY',
      value: 'another-value-of-some-length',
    });
    const brokered = await app.http<{ id: string }>(admin, 'POST', company.path('/credentials'), {
      name: 'API_TOKEN',
      value: 'a-third-value-of-some-length',
      use: { form: 'bearer', places: [{ host: 'api.example.com' }] },
    });
    const conversation = randomUUID();
    await app.owner.query(
      "INSERT INTO app.conversation (id, org_id, created_by, created_by_label, title, model, desired, sandbox_status) VALUES ($1, $2, $3, 'm', 't', 'm', 'rest', 'PAUSED')",
      [conversation, company.org.id, admin.userId],
    );
    await app.owner.query(
      "INSERT INTO app.audit_entry (id, org_id, actor_kind, actor_id, actor_label, action, target, detail) VALUES ($1, $2, 'system', 'worker', 'Slipway', 'secret.use', $3, $4)",
      [randomUUID(), company.org.id, conversation, JSON.stringify({ secrets: [received.body.id] })],
    );
    const knows = [
      { kind: 'service-account-key', id: key.body.id, name: 'bot · nightly', how: 'made', lastUsedAt: null },
      { kind: 'secret', id: received.body.id, name: 'DEPLOY', how: 'received', lastUsedAt: null },
      { kind: 'secret', id: secret.body.id, name: 'NPM_TOKEN', how: 'set', lastUsedAt: null },
      { kind: 'credential', id: brokered.body.id, name: 'API_TOKEN', how: 'set', lastUsedAt: null },
    ];
    const preview = await app.http<MemberRemoval>(
      company.owner,
      'GET',
      company.path(`/members/${admin.userId}/removal-preview`),
    );
    expect(preview.body).toMatchObject({ knownCredentials: knows, knownCredentialsTotal: 4 });
    await app.http(company.owner, 'DELETE', company.path(`/members/${admin.userId}?revokeKnownKeys=true`));
    const after = await app.http<{ state: string; createdBy: unknown }>(
      company.owner,
      'GET',
      company.path(`/api-keys/${key.body.id}`),
    );
    expect(after.body).toMatchObject({ state: 'revoked', createdBy: { id: admin.userId, active: false } });
    const { rows } = await app.owner.query<{ detail: unknown }>(
      "SELECT detail FROM app.audit_entry WHERE org_id = $1 AND action = 'member.remove'",
      [company.org.id],
    );
    expect(rows[0]?.detail).toMatchObject({
      revokedKeys: [key.body.id],
      knownCredentials: knows.map(({ kind, id }) => ({ kind, id })),
    });
  });

  it('is refused for the last owner, for an owner by an admin, and to members', async () => {
    const company = await Company.open(app);
    const [admin, member] = [await company.member('admin'), await company.member('member')];
    const remove = (by: User, who: User) => app.http<Answer>(by, 'DELETE', company.path(`/members/${who.userId}`));
    expect((await remove(company.owner, company.owner)).body.code).toBe('org.last-owner');
    expect((await remove(admin, company.owner)).status).toBe(403);
    expect((await remove(member, admin)).status).toBe(403);
    expect((await remove(admin, member)).status).toBe(200);
  });
});
