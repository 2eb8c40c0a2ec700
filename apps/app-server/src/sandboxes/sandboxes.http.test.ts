import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SandboxFleet, SandboxQueue } from '@slipway/contracts/sandboxes';
import { ConversationApp, type User } from '../testing/conversation-app.js';

const KEY = 'runtime-api-key-of-the-tests-0123456789';

describe('sandboxes of an organization', () => {
  let app: ConversationApp;
  let runtime: Server;
  let answer: (path: string, org: string) => unknown;
  let ada: User;
  beforeAll(async () => {
    runtime = createServer((request, response) => {
      const body =
        request.headers['x-api-key'] === KEY
          ? answer(request.url ?? '', String(request.headers['x-slipway-org']))
          : null;
      if (body === null) return void response.writeHead(503).end();
      response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => runtime.listen(0, '127.0.0.1', resolve));
    app = await ConversationApp.start({
      env: { RUNTIME_API_URL: `http://127.0.0.1:${(runtime.address() as AddressInfo).port}`, RUNTIME_API_KEY: KEY },
    });
    ada = await app.user('Ada');
  });
  afterAll(async () => {
    await app?.close();
    await new Promise((resolve) => runtime.close(resolve));
  });

  const path = (rest = '', user = ada): string => `/api/v1/orgs/${user.orgId}/sandboxes${rest}`;
  const running = async (user = ada): Promise<string> => {
    const { id } = await app.conversation(user);
    await app.owner.query(
      `UPDATE app.conversation SET sandbox_status = 'RUNNING', start_status = 'READY', status = 'waiting' WHERE id = $1`,
      [id],
    );
    return id;
  };
  const sandbox = (session: string): object => ({
    session_id: session,
    status: 'running',
    detail: '',
    node: 'node-1',
    start: 'warm',
    template: 'default',
    size: 2,
    restarts: 1,
    started_at: '2026-11-22T10:00:00.000Z',
  });

  it('200: what runs, joined with the conversations of the organization, and nothing of anybody else', async () => {
    const id = await running();
    const foreign = await running(await app.user());
    const asked: string[] = [];
    answer = (url, org) => {
      asked.push(`${url} ${org}`);
      return { sandboxes: [sandbox(id), sandbox(foreign), sandbox('made-by-another-client')] };
    };
    const fleet = SandboxFleet.parse((await app.http(ada, 'GET', path())).body);
    expect(asked).toEqual([`/fleet ${ada.orgId}`]);
    expect(fleet.data.filter((each) => each.id !== id)).toEqual([]);
    expect(fleet).toMatchObject({
      live: true,
      detail: null,
      data: [
        {
          id,
          owner: { id: ada.userId, label: 'Ada' },
          state: 'running',
          reason: 'Its agent waits for a message.',
          node: 'node-1',
          start: 'warm',
          size: 2,
          restarts: 1,
        },
      ],
    });
    expect(SandboxFleet.parse((await app.http(ada, 'GET', path('?state=starting'))).body).data).toEqual([]);
    expect(SandboxFleet.parse((await app.http(ada, 'GET', path(`?owner=${ada.userId}`))).body).data).toHaveLength(1);
  });

  it('200: what the conversations last knew, and a sentence that says so, when runtime-api does not answer', async () => {
    const id = await running();
    answer = () => null;
    const fleet = SandboxFleet.parse((await app.http(ada, 'GET', path())).body);
    expect(fleet).toMatchObject({ live: false, detail: expect.stringContaining('does not answer') });
    expect(fleet.data.find((each) => each.id === id)).toMatchObject({ node: null, start: null, state: 'running' });
    expect(SandboxQueue.parse((await app.http(ada, 'GET', path('/queue'))).body)).toMatchObject({
      data: [],
      live: false,
      quota: { limit: null },
    });
  });

  it('200: who waits for one, at which place and why, and the quota', async () => {
    const id = await running();
    answer = () => ({
      waiting: [
        {
          session_id: id,
          position: 3,
          estimate_seconds: 12,
          reason: 'No sandbox is ready yet.',
          since: '2026-11-22T10:00:00.000Z',
        },
      ],
      in_use: 4,
      limit: 10,
    });
    expect(SandboxQueue.parse((await app.http(ada, 'GET', path('/queue'))).body)).toMatchObject({
      live: true,
      quota: { inUse: 4, limit: 10 },
      data: [
        {
          conversation: { id },
          owner: { label: 'Ada' },
          position: 3,
          estimateSeconds: 12,
          reason: 'No sandbox is ready yet.',
        },
      ],
    });
  });

  it('200: those whom the quota keeps out wait too, behind who has a place, though runtime-api has none for them', async () => {
    const [placed, kept, foreign] = [
      await app.conversation(ada),
      await app.conversation(ada),
      await app.conversation(await app.user()),
    ];
    const steps = [
      {
        status: 'WAITING_FOR_SANDBOX',
        state: 'running',
        detail: 'The organization runs 2 sandboxes, which is its limit.',
      },
    ];
    await app.owner.query(
      `UPDATE app.conversation SET status = 'starting', sandbox_status = 'STARTING', steps = $2 WHERE id = ANY ($1::uuid[])`,
      [[placed.id, kept.id, foreign.id], JSON.stringify(steps)],
    );
    answer = () => ({
      waiting: [
        {
          session_id: placed.id,
          position: 3,
          estimate_seconds: 12,
          reason: 'No sandbox is ready yet.',
          since: '2026-11-22T10:00:00.000Z',
        },
      ],
      in_use: 2,
      limit: 2,
    });
    const { data } = SandboxQueue.parse((await app.http(ada, 'GET', path('/queue'))).body);
    expect(
      data.map(({ conversation, position, estimateSeconds, reason }) => [
        conversation.id,
        position,
        estimateSeconds,
        reason,
      ]),
    ).toEqual([
      [placed.id, 3, 12, 'No sandbox is ready yet.'],
      [kept.id, 4, null, 'The organization runs 2 sandboxes, which is its limit.'],
    ]);
    await app.owner.query('DELETE FROM app.conversation WHERE id = ANY ($1::uuid[])', [
      [placed.id, kept.id, foreign.id],
    ]);
  });

  it('202: a stop pauses the conversation, whoever owns it, and is in the audit; 409 or 503 when there is none', async () => {
    const admin = await app.user('Admin');
    await app.owner.query(`INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'admin')`, [
      ada.orgId,
      admin.userId,
    ]);
    const id = await running();
    expect((await app.http(admin, 'POST', path(`/${id}/stop`))).status).toBe(202);
    const { rows } = await app.owner.query(
      `SELECT (SELECT desired FROM app.conversation WHERE id = $1) AS desired, (SELECT count(*)::int FROM app.outbox WHERE key = $1::text AND queue = 'conversation-pause') AS queued,
         (SELECT array_agg(action ORDER BY action) FROM app.audit_entry WHERE target = $1::text AND actor_id = $2) AS audit`,
      [id, admin.userId],
    );
    expect(rows[0]).toEqual({ desired: 'rest', queued: 1, audit: ['conversation.pause', 'sandbox.stop'] });
    await app.owner.query(`UPDATE app.conversation SET sandbox_status = 'PAUSED' WHERE id = $1`, [id]);
    expect((await app.http(admin, 'POST', path(`/${id}/stop`))).body).toMatchObject({
      code: 'conversation.not-running',
      status: 409,
    });
  });

  it('403 and 404: who may not, and what is not theirs', async () => {
    const id = await running();
    const [member, stranger] = [await app.user(), await app.user()];
    await app.owner.query(`INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'member')`, [
      ada.orgId,
      member.userId,
    ]);
    for (const [method, rest] of [
      ['GET', ''],
      ['GET', '/queue'],
      ['POST', `/${id}/stop`],
    ] as const)
      expect((await app.http(member, method, path(rest))).status).toBe(403);
    expect((await app.http(stranger, 'POST', path(`/${id}/stop`, stranger))).status).toBe(404);
    for (const bad of [randomUUID(), 'x', '%00'])
      expect((await app.http(ada, 'POST', path(`/${bad}/stop`))).status).toBe(404);
    const { rows } = await app.owner.query('SELECT desired FROM app.conversation WHERE id = $1', [id]);
    expect(rows).toEqual([{ desired: 'run' }]);
  });
});
