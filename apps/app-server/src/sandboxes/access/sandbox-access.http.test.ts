import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SandboxTokens } from '@slipway/auth/sandbox-access';
import { SandboxAccess, SandboxAccessList } from '@slipway/contracts/sandboxes';
import { until } from '@slipway/testing';
import { ConversationApp, type User } from '../../testing/conversation-app.js';
import { makeKey, withKey } from '../../testing/with-key.js';

const SECRET = 'test-sandbox-access-secret-test-sandbox';

describe('access to sandboxes', () => {
  let app: ConversationApp;
  let user: User;
  let conversation: string;
  const path = (rest = '', of = user, id = conversation): string => app.path(of, id, `/sandbox-access${rest}`);
  const grant = async (port: unknown = 'agent-server', of = user): Promise<SandboxAccess> => {
    const answer = await app.http(of, 'POST', path('', of), { port });
    expect(answer.status).toBe(201);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    return SandboxAccess.parse(answer.body);
  };
  const live = async (id: string): Promise<unknown> =>
    (await app.pool.query('SELECT * FROM app.live_sandbox_grants($1)', [[id]])).rows[0] ?? null;
  const redeem = async (access: SandboxAccess, port = access.port, of = conversation): Promise<number | null> =>
    (
      await app.pool.query('SELECT * FROM app.redeem_sandbox_ticket($1, $2, $3)', [
        createHash('sha256').update(access.ticket.value).digest(),
        of,
        port,
      ])
    ).rowCount;

  beforeAll(async () => {
    app = await ConversationApp.start({
      env: { SANDBOX_ACCESS_SECRET: SECRET, SANDBOX_GATEWAY_URL: 'https://sandboxes.example' },
    });
    user = await app.user();
    conversation = (await app.conversation(user)).id;
  });
  afterAll(() => app?.close());

  it('granted to a program it ends with the key, with the scope of the key, and with the service account', async () => {
    const account = await app.http(user, 'POST', `/api/v1/orgs/${user.orgId}/service-accounts`, {
      name: 'robot',
      role: 'member',
    });
    const key = await makeKey(app, user, ['sandbox:access'], { serviceAccountId: String(account.body['id']) });
    const asked = await withKey(app.url, key.token, 'POST', path(), { port: 8000 });
    const id = String(asked.body['id']);
    expect([asked.status, await live(id)]).toMatchObject([201, { user_id: account.body['id'], role: 'member' }]);
    const listed = SandboxAccessList.parse((await app.http(user, 'GET', path())).body).data.find(
      (each) => each.id === id,
    );
    expect(listed?.person).toEqual({ id: account.body['id'], label: 'robot' });
    for (const [ends, undo] of [
      [
        'UPDATE app.api_key SET revoked_at = now() WHERE id = $1',
        'UPDATE app.api_key SET revoked_at = NULL WHERE id = $1',
      ],
      [
        "UPDATE app.api_key SET scopes = '{org:read}' WHERE id = $1",
        "UPDATE app.api_key SET scopes = '{sandbox:access}' WHERE id = $1",
      ],
      [
        'UPDATE app.service_account SET deleted_at = now() WHERE id = (SELECT owner_id FROM app.api_key WHERE id = $1)',
        null,
      ],
    ] as const) {
      await app.owner.query(ends, [key.id]);
      expect([ends, await live(id)]).toEqual([ends, null]);
      if (undo === null) continue;
      await app.owner.query(undo, [key.id]);
      expect(await live(id)).not.toBeNull();
    }
  });

  it('is bound to organization, user, conversation and port, and is over in minutes', async () => {
    const access = await grant('vscode');
    expect((await new SandboxTokens(SECRET).verify(access.token)).claims).toEqual({
      jti: access.id,
      org: user.orgId,
      sub: user.userId,
      conversation,
      port: 60001,
    });
    expect(access).toMatchObject({
      port: 60001,
      url: `https://60001-${conversation}.sandboxes.example/`,
      pathUrl: `https://sandboxes.example/${conversation}/60001/`,
      ticket: { url: `https://60001-${conversation}.sandboxes.example/.slipway/enter` },
    });
    expect(new Date(access.expiresAt).getTime() - Date.now()).toBeLessThan(11 * 60_000);
    expect(new Date(access.ticket.expiresAt).getTime() - Date.now()).toBeLessThanOrEqual(30_000);
    expect(await live(access.id)).toMatchObject({
      org_id: user.orgId,
      user_id: user.userId,
      conversation_id: conversation,
      port: 60001,
      role: 'owner',
    });
  });

  it('keeps no ticket and no token readable', async () => {
    const access = await grant();
    const { rows } = await app.owner.query(
      'SELECT g.*, (SELECT json_agg(a) FROM app.audit_entry a) AS audit FROM app.sandbox_grant g WHERE id = $1',
      [access.id],
    );
    expect(rows[0].ticket_hash).toEqual(createHash('sha256').update(access.ticket.value).digest());
    for (const secret of [access.token, access.ticket.value]) expect(JSON.stringify(rows)).not.toContain(secret);
    for (const url of [access.url, access.pathUrl, access.ticket.url])
      for (const secret of [access.token, access.ticket.value]) expect(url).not.toContain(secret);
  });

  it('lets a page hand a ticket in at the origins of sandboxes and open sockets at the gateway, and nothing else, as a page of its own origin', async () => {
    const { headers } = await app.http(user, 'GET', path());
    expect(headers.get('content-security-policy')).toContain("form-action 'self' https://*.sandboxes.example;");
    // Live channels come by path: no name of a sandbox need be resolved for them.
    expect(
      /connect-src ([^;]+);/
        .exec(headers.get('content-security-policy') ?? '')?.[1]
        ?.split(' ')
        .slice(2),
    ).toEqual(['wss://sandboxes.example']);
    // What it sends must bear an `Origin`, which stricter policies make `null`.
    expect(headers.get('referrer-policy')).toBe('strict-origin-when-cross-origin');
  });

  it('is refused for ports that belong to the sandbox or the machine, for viewers, strangers and those who are not signed in', async () => {
    for (const port of [8001, 22, 1023])
      expect(await app.http(user, 'POST', path(), { port })).toMatchObject({
        status: 403,
        body: { code: 'sandbox.port-closed' },
      });
    for (const port of [0, 65_536, 8000.5, '8000', 'action-server', null])
      expect(await app.http(user, 'POST', path(), { port })).toMatchObject({
        status: 400,
        body: { code: 'request.invalid' },
      });
    const other = await app.user();
    expect(await app.http(other, 'POST', path('', user), { port: 8000 })).toMatchObject({ status: 404 });
    expect(await app.http(other, 'POST', path('', other), { port: 8000 })).toMatchObject({ status: 404 });
    expect(await app.http(null, 'POST', path(), { port: 8000 })).toMatchObject({ status: 401 });
    const viewer = await app.user();
    await app.owner.query("INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'viewer')", [
      user.orgId,
      viewer.userId,
    ]);
    for (const [method, body] of [
      ['POST', { port: 8000 }],
      ['DELETE', undefined],
    ] as const)
      expect(await app.http(viewer, method, path(), body)).toMatchObject({
        status: 403,
        body: { code: 'permission.denied' },
      });
    expect(await app.http(user, 'POST', path(), { port: 8000 }, { origin: 'https://evil.example' })).toMatchObject({
      status: 403,
      body: { code: 'request.cross-site' },
    });
  });

  it('has a ticket that is good once, at its own address, until the access is ended', async () => {
    const access = await grant('agent-server');
    expect(await redeem(access, 60001)).toBe(0);
    expect(await redeem(access, 8000, '0198c0de-0000-7000-8000-000000000001')).toBe(0);
    expect(await Promise.all(Array.from({ length: 5 }, () => redeem(access)))).toEqual(
      expect.arrayContaining([1, 0, 0, 0, 0]),
    );
    expect(await redeem(access)).toBe(0);
    const late = await grant();
    await app.owner.query("UPDATE app.sandbox_grant SET ticket_expires_at = now() - interval '1 ms' WHERE id = $1", [
      late.id,
    ]);
    expect(await redeem(late)).toBe(0);
    const ended = await grant();
    expect((await app.http(user, 'DELETE', path(`/${ended.id}`))).status).toBe(204);
    expect(await redeem(ended)).toBe(0);
  });

  describe('asked for again with `reuse`', () => {
    const reuse = async (of = user, id = conversation, port: number | string = 8000): Promise<SandboxAccess> => {
      const answer = await app.http(of, 'POST', path('', { ...of, orgId: user.orgId }, id), { port, reuse: true });
      expect(answer.status).toBe(201);
      return SandboxAccess.parse(answer.body);
    };
    const audited = async (id: string): Promise<number> =>
      (
        await app.owner.query(
          "SELECT count(*)::int AS n FROM app.audit_entry WHERE action = 'sandbox.access' AND target LIKE $1",
          [`${id}:%`],
        )
      ).rows[0].n;

    it('is the same access with another token and ticket, once in the audit, also for many who ask at once', async () => {
      const { id } = await app.conversation(user);
      const all = await Promise.all(Array.from({ length: 6 }, () => reuse(user, id)));
      const again = await reuse(user, id);
      expect(new Set([...all, again].map((each) => each.id)).size).toBe(1);
      expect(again.endsAt).toBe(all[0]?.endsAt);
      expect(await audited(id)).toBe(1);
      expect((await new SandboxTokens(SECRET).verify(again.token)).claims.jti).toBe(again.id);
      const spent = await Promise.all([...all, again].map((each) => redeem(each, 8000, id)));
      expect([spent.filter((count) => count === 1).length, spent.at(-1)]).toEqual([1, 1]);
    });

    it('is another one for another port, conversation, user or sign-in, and without `reuse`', async () => {
      const { id } = await app.conversation(user);
      const mine = await reuse(user, id);
      const member = await app.user();
      await app.owner.query("INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'member')", [
        user.orgId,
        member.userId,
      ]);
      const key = await makeKey(app, user, ['sandbox:access']);
      const byKey = String(
        (await withKey(app.url, key.token, 'POST', path('', user, id), { port: 8000, reuse: true })).body['id'],
      );
      const others = [
        await reuse(user, id, 3000),
        await reuse(user, (await app.conversation(user)).id),
        await reuse(member, id),
        { id: byKey },
        SandboxAccess.parse((await app.http(user, 'POST', path('', user, id), { port: 8000 })).body),
      ];
      expect(new Set([mine, ...others].map((each) => each.id)).size).toBe(6);
    });

    it('is a new one when that was ended or has less than an hour left', async () => {
      const { id } = await app.conversation(user);
      const first = await reuse(user, id);
      expect((await app.http(user, 'DELETE', path(`/${first.id}`, user, id))).status).toBe(204);
      const second = await reuse(user, id);
      await app.owner.query("UPDATE app.sandbox_grant SET expires_at = now() + interval '59 minutes' WHERE id = $1", [
        second.id,
      ]);
      const third = await reuse(user, id);
      expect(new Set([first, second, third].map((each) => each.id)).size).toBe(3);
      expect((await reuse(user, id)).id).toBe(third.id);
      expect(await audited(id)).toBe(3);
      expect([await live(first.id), (await live(third.id)) !== null]).toEqual([null, true]);
    });

    it('is refused as any is: to viewers and strangers, and for closed ports', async () => {
      expect(await app.http(user, 'POST', path(), { port: 8001, reuse: true })).toMatchObject({
        status: 403,
        body: { code: 'sandbox.port-closed' },
      });
      expect(await app.http(user, 'POST', path(), { port: 8000, reuse: 'yes' })).toMatchObject({ status: 400 });
      const member = await app.user();
      await app.owner.query("INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'member')", [
        user.orgId,
        member.userId,
      ]);
      await reuse(member);
      await app.owner.query("UPDATE app.membership SET role = 'viewer' WHERE org_id = $1 AND user_id = $2", [
        user.orgId,
        member.userId,
      ]);
      // Permissions are checked every second.
      await until(
        'a viewer is refused',
        async () =>
          (await app.http(member, 'POST', path(), { port: 8000, reuse: true })).body['code'] === 'permission.denied',
      );
      expect((await app.http(await app.user(), 'POST', path(), { port: 8000, reuse: true })).status).toBe(404);
    });
  });

  it('ends by itself or with all others of the conversation, and one of another conversation is not found', async () => {
    const [first, second] = [await grant(), await grant()];
    const elsewhere = (await app.conversation(user)).id;
    expect((await app.http(user, 'DELETE', path(`/${first.id}`, user, elsewhere))).status).toBe(404);
    expect((await app.http(await app.user(), 'DELETE', path(`/${first.id}`))).status).toBe(404);
    expect(await live(first.id)).not.toBeNull();
    for (let time = 0; time < 2; time += 1)
      expect((await app.http(user, 'DELETE', path(`/${first.id}`))).status).toBe(204);
    expect([await live(first.id), await live(second.id)]).toEqual([null, expect.anything()]);
    expect((await app.http(user, 'DELETE', path())).status).toBe(204);
    expect(await live(second.id)).toBeNull();
  });

  it('is listed for whoever may use it while it holds, with its user and without its token', async () => {
    const other = (await app.conversation(user)).id;
    const list = async (of = user): Promise<SandboxAccessList['data']> => {
      const answer = await app.http(of, 'GET', path('', { ...of, orgId: user.orgId }, other));
      expect(answer.status).toBe(200);
      return SandboxAccessList.parse(answer.body).data;
    };
    const grantHere = async (port: number, of = user): Promise<SandboxAccess> =>
      SandboxAccess.parse((await app.http(of, 'POST', path('', { ...of, orgId: user.orgId }, other), { port })).body);
    expect(await list()).toEqual([]);
    const mine = await grantHere(3000);
    const member = await app.user();
    await app.owner.query("INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'member')", [
      user.orgId,
      member.userId,
    ]);
    const theirs = await grantHere(5173, member);
    const expected = [
      {
        id: theirs.id,
        port: 5173,
        url: theirs.url,
        endsAt: theirs.endsAt,
        person: { id: member.userId, label: expect.stringMatching(/^Person \d+$/) },
        createdAt: expect.any(String),
      },
      {
        id: mine.id,
        port: 3000,
        url: mine.url,
        endsAt: mine.endsAt,
        person: { id: user.userId, label: expect.stringMatching(/^Person \d+$/) },
        createdAt: expect.any(String),
      },
    ];
    expect([await list(), await list(member)]).toEqual([expected, expected]);
    await app.owner.query("UPDATE app.membership SET role = 'viewer' WHERE org_id = $1 AND user_id = $2", [
      user.orgId,
      member.userId,
    ]);
    expect((await list()).map(({ id }) => id)).toEqual([mine.id]);
    const viewer = await app.user();
    await app.owner.query("INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'viewer')", [
      user.orgId,
      viewer.userId,
    ]);
    expect(await app.http(viewer, 'GET', path('', user, other))).toMatchObject({
      status: 403,
      body: { code: 'permission.denied' },
    });
    expect((await app.http(await app.user(), 'GET', path('', user, other))).status).toBe(404);
    expect((await app.http(user, 'GET', path('', user, '0198c0de-0000-7000-8000-000000000001'))).status).toBe(404);
    expect((await app.http(user, 'DELETE', path(`/${mine.id}`, user, other))).status).toBe(204);
    expect(await list()).toEqual([]);
  });

  it('ends with the sign-in, with the membership and with the role of its user', async () => {
    const member = await app.user();
    const join = () =>
      app.owner.query("INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'member')", [
        user.orgId,
        member.userId,
      ]);
    await join();
    const access = SandboxAccess.parse(
      (await app.http({ ...member, orgId: user.orgId }, 'POST', path(), { port: 3000 })).body,
    );
    expect(await live(access.id)).toMatchObject({ role: 'member' });
    await app.owner.query("UPDATE app.membership SET role = 'viewer' WHERE org_id = $1 AND user_id = $2", [
      user.orgId,
      member.userId,
    ]);
    expect(await live(access.id)).toMatchObject({ role: 'viewer' });
    await app.owner.query('DELETE FROM app.membership WHERE org_id = $1 AND user_id = $2', [user.orgId, member.userId]);
    expect(await live(access.id)).toBeNull();
    await join();
    expect(await live(access.id)).not.toBeNull();
    expect((await app.http(member, 'POST', '/api/logout')).status).toBe(200);
    expect(await live(access.id)).toBeNull();
  });
});

describe('access to sandboxes without a gateway', () => {
  it('says that there is none', async () => {
    const app = await ConversationApp.start();
    try {
      const user = await app.user();
      const { id } = await app.conversation(user);
      const answer = await app.http(user, 'POST', app.path(user, id, '/sandbox-access'), { port: 'vscode' });
      expect(answer).toMatchObject({ status: 501, body: { code: 'sandbox.no-gateway' } });
      expect(await app.http(user, 'GET', app.path(user, id, '/sandbox-access'))).toMatchObject({
        status: 501,
        body: { code: 'sandbox.no-gateway' },
      });
    } finally {
      await app.close();
    }
  });
});
