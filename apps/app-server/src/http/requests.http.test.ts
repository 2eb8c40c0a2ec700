import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Get, Module, Param } from '@nestjs/common';
import { type CreateConversation } from '@slipway/contracts/conversations';
import { operations } from '@slipway/contracts/operations';
import { type Principal } from '@slipway/contracts/organizations';
import { notFound, SlipwayError } from '@slipway/errors';
import {
  createTestDatabase,
  freePort,
  type IdentityServer,
  type SignedInClient,
  signIn,
  startIdentityServer,
  type TestDatabase,
  until,
} from '@slipway/testing';
import pg from 'pg';
import { MeModule } from '../identity/me/me.module.js';
import { SignInModule } from '../identity/sign-in/sign-in.module.js';
import { DomainsModule } from '../organizations/domains/domains.module.js';
import { startTestApp, type TestApp, testConfig } from '../testing/test-app.js';
import { Body, Caller } from './params.js';
import { Serves } from './serves.js';

const COUNTER = { runs: 0 };
let hold: Promise<void> = Promise.resolve();

/** A feature as small as one can be: what this file says of requests holds for every feature. */
@Controller()
class ProbeController {
  @Serves(operations.createConversation)
  async create(
    @Caller() caller: Principal,
    @Body() body: CreateConversation,
  ): Promise<{ run: number; orgId: string; prompt: string }> {
    COUNTER.runs += 1;
    await hold;
    if (body.prompt === 'fail') throw new SlipwayError('service.unavailable', 'not now');
    return { run: COUNTER.runs, orgId: caller.orgId, prompt: body.prompt };
  }

  @Serves(operations.createConversation, { path: '/api/conversations' })
  alias(@Caller() caller: Principal): { orgId: string } {
    return { orgId: caller.orgId };
  }

  @Serves(operations.getConversation)
  get(@Param('conversation') _id: string): never {
    throw notFound();
  }

  @Get('/api/open-by-omission')
  omitted(): string {
    return 'secret';
  }
}
@Module({ controllers: [ProbeController] })
class ProbeModule {}

const PATH = '/api/v1/orgs/demo-person/conversations';
const withoutRequestId = (body: unknown): unknown => ({ ...(body as object), requestId: null });

describe('every request', () => {
  let database: TestDatabase;
  let identity: IdentityServer;
  let server: TestApp;
  let owner: pg.Client;
  let user: SignedInClient;

  beforeAll(async () => {
    database = await createTestDatabase();
    const port = await freePort();
    identity = await startIdentityServer(`http://127.0.0.1:${port}`);
    server = await startTestApp(testConfig(port, database, identity), {
      features: [SignInModule, DomainsModule.register(), MeModule, ProbeModule],
    });
    owner = new pg.Client({ connectionString: database.ownerUrl });
    await owner.connect();
    await owner.query(
      "INSERT INTO app.org (id, slug, name, kind) VALUES ('org_foreign', 'foreign', 'Foreign', 'personal'), ('org_seen', 'seen', 'Seen', 'company')",
    );
    user = await signIn(server.url);
    await owner.query("INSERT INTO app.membership (org_id, user_id, role) VALUES ('org_seen', $1, 'viewer')", [
      user.me.id,
    ]);
  });
  afterAll(async () => {
    await owner?.end();
    await server?.close();
    await identity?.close();
    await database?.close();
  });

  describe('access', () => {
    it('without a session is answered 401, on every operation, and learns nothing of what exists', async () => {
      for (const path of [
        '/api/v1/me',
        '/api/v1/orgs/demo-person',
        '/api/v1/orgs/none',
        `${PATH}/0198c0de-0000-7000-8000-000000000001`,
      ]) {
        const response = await fetch(`${server.url}${path}`);
        expect([response.status, await response.json()]).toMatchObject([401, { code: 'auth.missing' }]);
      }
    });

    it('to an organization of others is answered exactly as to one that does not exist', async () => {
      for (const [method, path] of [
        ['GET', ''],
        ['GET', '/models'],
        ['GET', '/conversations/0198c0de-0000-7000-8000-000000000001'],
        ['POST', '/conversations'],
      ] as const) {
        const init = { method, ...(method === 'POST' ? { json: { prompt: 'x' } } : {}) };
        const answers = await Promise.all(
          ['org_foreign', 'foreign', 'org_missing', 'missing'].map((org) =>
            user.fetch(`/api/v1/orgs/${org}${path}`, init),
          ),
        );
        const seen = await Promise.all(
          answers.map(async (answer) => ({
            status: answer.status,
            type: answer.headers.get('content-type'),
            body: withoutRequestId(await answer.json()),
          })),
        );
        expect(seen[0]?.status).toBe(404);
        for (const answer of seen) expect(answer).toEqual(seen[0]);
      }
    });

    it('a member without the permission learns which one is missing', async () => {
      await until('the membership is seen', async () => (await user.fetch('/api/v1/orgs/seen')).status === 200);
      const response = await user.fetch('/api/v1/orgs/seen/conversations', { method: 'POST', json: { prompt: 'x' } });
      const problem = (await response.json()) as { code: string; detail: string };
      expect([response.status, problem.code]).toEqual([403, 'permission.denied']);
      expect(problem.detail).toContain('conversation:create');
    });

    it('a change that another site asks for is refused before anything runs', async () => {
      const before = COUNTER.runs;
      const response = await user.fetch(PATH, {
        method: 'POST',
        json: { prompt: 'x' },
        headers: { origin: 'https://evil.example' },
      });
      expect([response.status, await response.json()]).toMatchObject([403, { code: 'request.cross-site' }]);
      expect(COUNTER.runs).toBe(before);
    });

    it('an operation under a path without an organization works in the personal one', async () => {
      const response = await user.fetch('/api/conversations', { method: 'POST', json: { prompt: 'x' } });
      expect([response.status, await response.json()]).toMatchObject([201, { orgId: user.me.orgs[0]?.id }]);
    });

    it('a handler without declared permissions refuses all callers', async () => {
      const response = await user.fetch('/api/open-by-omission');
      expect(response.status).toBe(500);
      expect(await response.text()).not.toContain('secret"');
    });
  });

  describe('bodies', () => {
    it('name every field that is wrong', async () => {
      const response = await user.fetch(PATH, {
        method: 'POST',
        json: { prompt: ' ', repository: 'file:///etc/passwd', more: 1 },
      });
      const problem = (await response.json()) as { code: string; fields: Array<{ path: string }> };
      expect([response.status, problem.code, response.headers.get('content-type')]).toEqual([
        400,
        'request.invalid',
        expect.stringContaining('application/problem+json'),
      ]);
      expect(problem.fields.map(({ path }) => path)).toEqual(expect.arrayContaining(['prompt', 'repository', '']));
    });

    it('that are not JSON, not an object, or of another kind are refused with the reason', async () => {
      for (const [body, type, code] of [
        ['{"prompt": "x"', 'application/json', 'request.not-json'],
        ['prompt=x', 'application/x-www-form-urlencoded', 'request.not-json'],
        ['{"prompt": "x", "__proto__": {}}', 'application/json', 'request.not-json'],
        ['"x"', 'application/json', 'request.invalid'],
        ['[]', 'application/json', 'request.invalid'],
        ['', 'application/json', 'request.invalid'],
      ] as const) {
        const response = await user.fetch(PATH, { method: 'POST', body, headers: { 'content-type': type } });
        expect([body, response.status, ((await response.json()) as { code: string }).code]).toEqual([body, 400, code]);
      }
    });

    it('of a prompt of one megabyte are refused with a sentence, whether they are below the limit of the body or above', async () => {
      const long = await user.fetch(PATH, { method: 'POST', json: { prompt: 'a'.repeat(1_000_000) } });
      expect([long.status, ((await long.json()) as { detail: string }).detail]).toEqual([
        400,
        expect.stringContaining('prompt'),
      ]);
      const longer = await user.fetch(PATH, { method: 'POST', json: { prompt: 'a'.repeat(1_100_000) } });
      expect([longer.status, await longer.json()]).toMatchObject([413, { code: 'request.too-large' }]);
    });

    it('an address that cannot be read and a path that is not there are problems too', async () => {
      const unread = await user.fetch('/api/%ZZ');
      expect([unread.status, await unread.json()]).toMatchObject([400, { code: 'request.invalid' }]);
      const missing = await user.fetch('/api/v1/nothing');
      expect([missing.status, await missing.json()]).toMatchObject([404, { code: 'resource.not-found' }]);
    });
  });

  describe('Idempotency-Key', () => {
    const post = (key: string, prompt: string, path = PATH): Promise<Response> =>
      user.fetch(path, { method: 'POST', json: { prompt }, headers: { 'idempotency-key': key } });

    it('a repetition gets the first answer again and runs nothing', async () => {
      const first = await post('key-1', 'once');
      const before = COUNTER.runs;
      const second = await post('key-1', 'once');
      expect([first.status, second.status]).toEqual([201, 201]);
      expect(await second.json()).toEqual(await first.json());
      expect([first.headers.get('idempotent-replayed'), second.headers.get('idempotent-replayed')]).toEqual([
        null,
        'true',
      ]);
      expect(COUNTER.runs).toBe(before);
    });

    it('with another body is not the same request', async () => {
      const response = await post('key-1', 'twice');
      expect([response.status, await response.json()]).toMatchObject([422, { code: 'idempotency.mismatch' }]);
      expect((await user.fetch(PATH, { method: 'POST', json: { prompt: 'once' } })).status).toBe(201);
    });

    it('of ten requests at the same time one runs, and the others get Retry-After or its answer', async () => {
      const gate = Promise.withResolvers<void>();
      hold = gate.promise;
      const before = COUNTER.runs;
      const all = Array.from({ length: 10 }, () => post('key-2', 'together'));
      await until('nine are answered', async () => {
        const settled = await Promise.all(
          all.map((answer) =>
            Promise.race([answer.then(({ status }) => status), new Promise((resolve) => setImmediate(resolve, 0))]),
          ),
        );
        return settled.filter((status) => status === 409).length === 9;
      });
      gate.resolve();
      hold = Promise.resolve();
      const answers = await Promise.all(all);
      expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 9 }, () => 409)]);
      const waiting = answers.find(({ status }) => status === 409);
      expect([waiting?.headers.get('retry-after'), await waiting?.json()]).toMatchObject([
        '1',
        { code: 'idempotency.in-progress' },
      ]);
      expect(COUNTER.runs).toBe(before + 1);
    });

    it('a handler that fails, and a body that is refused, keep nothing', async () => {
      expect((await post('key-3', 'fail')).status).toBe(503);
      expect((await post('key-3', '')).status).toBe(400);
      expect((await post('key-3', 'works')).status).toBe(201);
    });

    it('one that its process never answered is free again after a minute, and an answer is forgotten after a day', async () => {
      await post('key-4', 'died');
      await owner.query(
        "UPDATE app.idempotency_key SET status = NULL, response = NULL, created_at = now() - interval '59 seconds' WHERE key = 'key-4'",
      );
      expect((await post('key-4', 'died')).status).toBe(409);
      await owner.query(
        "UPDATE app.idempotency_key SET created_at = now() - interval '61 seconds' WHERE key = 'key-4'",
      );
      expect((await post('key-4', 'died')).status).toBe(201);
      await owner.query("UPDATE app.idempotency_key SET created_at = now() - interval '25 hours' WHERE key = 'key-4'");
      expect((await post('key-4', 'another body')).status).toBe(201);
    });

    it('has 1 to 255 characters', async () => {
      expect((await post('k'.repeat(255), 'x')).status).toBe(201);
      expect((await post('k'.repeat(256), 'x')).status).toBe(400);
    });
  });

  it('says how many reads, changes and starts are left to the caller and to the organization, each counted apart, and when there may be more', async () => {
    const shape = (response: Response): unknown => [
      response.headers.get('ratelimit-policy'),
      response.headers.get('ratelimit'),
    ];
    const read = await user.fetch(`${PATH}/x`);
    expect(shape(read)).toEqual([
      '"reads";q=3000;w=60, "org-reads";q=30000;w=60',
      expect.stringMatching(/^"reads";r=\d+;t=\d+, "org-reads";r=\d+;t=\d+$/),
    ]);
    const response = await user.fetch(PATH, { method: 'POST', json: { prompt: 'x' } });
    expect(response.headers.get('ratelimit-policy')).toBe('"starts";q=300;w=60, "org-starts";q=3000;w=60');
    const left = Number(/r=(\d+)/.exec(response.headers.get('ratelimit') ?? '')?.[1]);
    const answers = await Promise.all(
      Array.from({ length: left + 50 }, () => user.fetch('/api/conversations', { method: 'POST', json: {} })),
    );
    const limited = answers.find(({ status }) => status === 429);
    expect(await limited?.json()).toMatchObject({ code: 'rate.limited', retry: 'later' });
    const seconds = Number(limited?.headers.get('retry-after'));
    expect([seconds >= 1, seconds <= 60]).toEqual([true, true]);
    expect(answers.filter(({ status }) => status === 429).length).toBe(50);
    expect((await user.fetch('/api/v1/me')).status).toBe(200);
  });

  it('carries a request id and the headers that keep a browser safe', async () => {
    const response = await fetch(`${server.url}/api/v1/me`, { headers: { 'x-request-id': 'a-request-of-mine' } });
    expect(response.headers.get('x-request-id')).toBe('a-request-of-mine');
    expect(await response.json()).toMatchObject({ requestId: 'a-request-of-mine' });
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  });
});
