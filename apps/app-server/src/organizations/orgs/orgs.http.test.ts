import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Problem } from '@slipway/contracts/errors';
import type { MemberRemoval, Org } from '@slipway/contracts/organizations';
import { until } from '@slipway/testing';
import { Company } from '../../testing/company.js';
import { ConversationApp } from '../../testing/conversation-app.js';

type Answer = Org & Problem & { suggestion?: string };

let app: ConversationApp;
beforeAll(async () => {
  app = await ConversationApp.start();
});
afterAll(() => app?.close());

const withoutId = ({ requestId: _, ...body }: Record<string, unknown>): Record<string, unknown> => body;

describe('making an organization', () => {
  it('answers 201 with the caller as its owner, who gets into it with the next request', async () => {
    const user = await app.user();
    const made = await app.http<Answer>(user, 'POST', '/api/v1/orgs', { name: 'Ærø & Søns ApS' });
    expect([made.status, made.body]).toMatchObject([
      201,
      {
        name: 'Ærø & Søns ApS',
        slug: expect.stringMatching(/^[a-z0-9-]+$/),
        kind: 'company',
        role: 'owner',
        deletesAt: null,
      },
    ]);
    expect((await app.http<Answer>(user, 'GET', `/api/v1/orgs/${made.body.slug}`)).body.id).toBe(made.body.id);
    const list = await app.http<{ data: Org[] }>(user, 'GET', '/api/v1/orgs');
    expect(list.body.data.map(({ id }) => id)).toEqual([user.orgId, made.body.id]);
  });

  it('refuses an address that is taken and suggests one that is free; without a wanted one it takes the next free', async () => {
    const user = await app.user();
    const first = await app.http<Answer>(user, 'POST', '/api/v1/orgs', { name: 'Taken', slug: 'taken' });
    const second = await app.http<Answer>(user, 'POST', '/api/v1/orgs', { name: 'Taken', slug: 'taken' });
    const third = await app.http<Answer>(user, 'POST', '/api/v1/orgs', { name: 'Taken' });
    expect([
      first.status,
      second.status,
      second.body.code,
      second.body.suggestion,
      third.status,
      third.body.slug,
    ]).toEqual([201, 409, 'org.slug-taken', 'taken-2', 201, 'taken-2']);
  });

  it('gives one address once, however many ask for it at the same moment', async () => {
    const people = await Promise.all(Array.from({ length: 5 }, () => app.user()));
    const answers = await Promise.all(
      people.map((user) => app.http(user, 'POST', '/api/v1/orgs', { name: 'Race', slug: 'race' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
  });

  it('refuses with 400 what is no name or no address, the product’s own addresses among them', async () => {
    const user = await app.user();
    for (const body of [
      { name: ' ' },
      { name: 'A\u0000' },
      { name: 'A', slug: 'api' },
      { name: 'A', slug: 'A' },
      { name: 'A', slug: '-a-' },
      { name: 'A', slug: `org_${'a'}` },
      { name: 'A', kind: 'personal' },
    ])
      expect([body, (await app.http(user, 'POST', '/api/v1/orgs', body)).status]).toEqual([body, 400]);
    expect((await app.http<Answer>(user, 'POST', '/api/v1/orgs', { name: 'Api' })).body.slug).toBe('api-2');
    expect((await app.http<Answer>(user, 'POST', '/api/v1/orgs', { name: '日本' })).body.slug).toMatch(/^org/);
  });

  it('makes one organization for a request that is repeated with its Idempotency-Key', async () => {
    const user = await app.user();
    const make = (): Promise<{ status: number; body: Answer }> =>
      app.http<Answer>(user, 'POST', '/api/v1/orgs', { name: 'Repeated' }, { 'idempotency-key': 'once' });
    const [first, second] = [await make(), await make()];
    expect([first.status, second.status, second.body.id]).toEqual([201, 201, first.body.id]);
  });

  it('answers 401 without a session', async () => {
    expect((await app.http(null, 'POST', '/api/v1/orgs', { name: 'A' })).status).toBe(401);
  });
});

describe('an organization', () => {
  let company: Company;
  beforeAll(async () => {
    company = await Company.open(app);
  });

  it('is there for its members, and for others answers every request as one that does not exist', async () => {
    const outsider = await app.user();
    const requests = [
      ['GET', '', undefined],
      ['PATCH', '', { name: 'Mine' }],
      ['DELETE', '', { confirm: 'Analytical Engines' }],
      ['POST', '/leave', undefined],
      ['POST', '/transfer', { userId: outsider.userId }],
      ['POST', '/restore', undefined],
      ['GET', '/members', undefined],
      ['GET', `/members/${company.owner.userId}`, undefined],
      ['PATCH', `/members/${company.owner.userId}`, { role: 'viewer' }],
      ['GET', `/members/${company.owner.userId}/removal-preview`, undefined],
      ['DELETE', `/members/${company.owner.userId}`, undefined],
    ] as const;
    for (const [method, rest, body] of requests) {
      const foreign = await app.http(outsider, method, company.path(rest), body);
      const missing = await app.http(outsider, method, `/api/v1/orgs/org_missing${rest}`, body);
      expect([method, rest, foreign.status, withoutId(foreign.body)]).toEqual([
        method,
        rest,
        404,
        withoutId(missing.body),
      ]);
    }
  });

  it('is renamed by who may, with a record of before and after; the old address leads nowhere', async () => {
    const [admin, member] = [await company.member('admin'), await company.member('member')];
    const renamed = await app.http<Answer>(admin, 'PATCH', company.path(), {
      name: 'Difference Engines',
      slug: 'difference',
    });
    expect([renamed.status, renamed.body.name, renamed.body.slug]).toEqual([200, 'Difference Engines', 'difference']);
    expect((await app.http<Answer>(member, 'PATCH', company.path(), { name: 'X' })).status).toBe(403);
    await until(
      'the old address is gone',
      async () => (await app.http(admin, 'GET', `/api/v1/orgs/${company.org.slug}`)).status === 404,
    );
    expect((await company.audit()).at(-1)).toMatchObject({
      action: 'org.update',
      actor_id: admin.userId,
      before: { name: 'Analytical Engines', slug: 'analytical-engines' },
      after: { name: 'Difference Engines', slug: 'difference' },
    });
    expect((await app.http<Answer>(admin, 'PATCH', company.path(), { slug: 'taken' })).body.code).toBe(
      'org.slug-taken',
    );
  });

  it('is handed to a member by an owner, who is an admin then; not to an outsider, and not by an admin', async () => {
    const [admin, outsider] = [await company.member('admin'), await app.user()];
    expect((await app.http(company.owner, 'POST', company.path('/transfer'), { userId: outsider.userId })).status).toBe(
      404,
    );
    expect((await app.http(admin, 'POST', company.path('/transfer'), { userId: admin.userId })).status).toBe(403);
    const handed = await app.http<Answer>(company.owner, 'POST', company.path('/transfer'), { userId: admin.userId });
    expect([handed.status, handed.body.role]).toEqual([200, 'admin']);
    expect(await company.roles()).toMatchObject({ [admin.userId]: 'owner', [company.owner.userId]: 'admin' });
  });

  it('is left by a member, but not by its last owner', async () => {
    const own = await Company.open(app, 'To leave');
    const viewer = await own.member('viewer');
    const left = await app.http<MemberRemoval>(viewer, 'POST', own.path('/leave'));
    expect([left.status, left.body]).toEqual([
      200,
      {
        keysRevoked: 0,
        sandboxesStopping: 0,
        conversationsKept: 0,
        invitationsRevoked: 0,
        knownCredentials: [],
        knownCredentialsTotal: 0,
      },
    ]);
    const stays = await app.http<Answer>(own.owner, 'POST', own.path('/leave'));
    expect([stays.status, stays.body.code]).toEqual([409, 'org.last-owner']);
    expect(await own.roles()).toEqual({ [own.owner.userId]: 'owner' });
  });

  it('that is personal can be neither left, transferred nor deleted', async () => {
    const user = await app.user('Solo');
    const path = `/api/v1/orgs/${user.orgId}`;
    for (const [method, rest, body] of [
      ['POST', '/leave', undefined],
      ['POST', '/transfer', { userId: user.userId }],
      ['DELETE', '', { confirm: 'Solo' }],
      ['DELETE', `/members/${user.userId}`, undefined],
    ] as const) {
      const answer = await app.http<Answer>(user, method, `${path}${rest}`, body);
      expect([method, rest, answer.status, answer.body.code]).toEqual([method, rest, 409, 'org.personal']);
    }
  });
});

describe('deleting an organization', () => {
  it('asks for its name, removes the access of all but its owners within two seconds, lets nothing new begin, and can be taken back', async () => {
    const company = await Company.open(app, 'Doomed');
    const [admin, coOwner] = [await company.member('admin'), await company.member('owner')];
    const conversation = randomUUID();
    await app.owner.query(
      `INSERT INTO app.conversation (id, org_id, created_by, created_by_label, title, model) VALUES ($1, $2, $3, 'a', 't', 'm')`,
      [conversation, company.org.id, admin.userId],
    );
    await app.owner.query(
      `INSERT INTO app.sandbox_grant (id, org_id, user_id, conversation_id, port, ticket_expires_at, expires_at) VALUES ('grant_1', $1, $2, $3, 8000, now(), now() + interval '1 hour')`,
      [company.org.id, company.owner.userId, conversation],
    );
    expect((await app.http<Answer>(company.owner, 'DELETE', company.path(), { confirm: 'doomed' })).status).toBe(400);
    expect((await app.http(admin, 'DELETE', company.path(), { confirm: 'Doomed' })).status).toBe(403);
    const began = Date.now();
    const deleted = await app.http<Answer>(company.owner, 'DELETE', company.path(), { confirm: 'Doomed' });
    expect(deleted.status).toBe(202);
    expect(Math.abs(new Date(deleted.body.deletesAt ?? 0).getTime() - began - 48 * 3_600_000)).toBeLessThan(60_000);
    const again = await app.http<Answer>(coOwner, 'DELETE', company.path(), { confirm: 'Doomed' });
    expect([again.status, again.body.deletesAt]).toEqual([202, deleted.body.deletesAt]);

    await until('the admin is out', async () => (await app.http(admin, 'GET', company.path())).status === 404);
    await until(
      'the owner sees the deletion',
      async () => (await app.http<Answer>(coOwner, 'GET', company.path())).body.deletesAt !== null,
    );
    for (const [method, rest, body] of [
      ['POST', '/conversations', { prompt: 'Go' }],
      ['POST', `/conversations/${conversation}/messages`, { text: 'Go' }],
      ['POST', `/conversations/${conversation}/resume`, undefined],
      ['PATCH', '', { name: 'Saved' }],
      ['DELETE', `/members/${admin.userId}`, undefined],
    ] as const) {
      const answer = await app.http<Answer>(coOwner, method, company.path(rest), body);
      expect([method, rest, answer.status, answer.body.code]).toEqual([method, rest, 409, 'org.being-deleted']);
    }
    const jobs = await app.owner.query(`SELECT queue, payload FROM app.outbox WHERE org_id = $1`, [company.org.id]);
    expect(jobs.rows).toEqual([{ queue: 'org-closing', payload: { orgId: company.org.id } }]);
    expect(
      (
        await app.owner.query(`SELECT 1 FROM app.sandbox_grant WHERE org_id = $1 AND revoked_at IS NULL`, [
          company.org.id,
        ])
      ).rowCount,
    ).toBe(0);

    const restored = await app.http<Answer>(coOwner, 'POST', company.path('/restore'));
    expect([restored.status, restored.body.deletesAt]).toEqual([200, null]);
    await until('the admin is back', async () => (await app.http(admin, 'GET', company.path())).status === 200);
    expect((await company.audit()).map(({ action }) => action)).toEqual(['org.create', 'org.delete', 'org.restore']);
  });

  it('cannot be taken back once its time is over', async () => {
    const company = await Company.open(app, 'Late');
    await app.http(company.owner, 'DELETE', company.path(), { confirm: 'Late' });
    await app.owner.query(`UPDATE app.org SET deletes_at = now() - interval '1 second' WHERE id = $1`, [
      company.org.id,
    ]);
    expect((await app.http(company.owner, 'POST', company.path('/restore'))).status).toBe(404);
  });
});
