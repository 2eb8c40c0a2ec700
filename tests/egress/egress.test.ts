import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { stateValueOf } from '@slipway/contracts/events';
import { MAX_OBSERVED_HOSTS, type ObservedHost, type ObservedHostList } from '@slipway/contracts/sandboxes';
import { until } from '@slipway/testing';
import type { User } from '../../apps/app-server/dist/testing/conversation-app.js';
import { CLAIMS, TestEgress, type Tunnel } from '../../apps/egress-proxy/dist/testing/test-egress.js';
import { EgressWorld } from './world.ts';

jest.setTimeout(60_000);

describe('a sandbox that asks for a host', () => {
  let world: EgressWorld;
  let ada: User;
  beforeAll(async () => {
    world = await EgressWorld.start(20);
    ada = await world.app.user('Ada');
  });
  afterAll(() => world?.close());
  const member = async (role: string): Promise<User> => {
    const user = await world.app.user(role);
    await world.app.owner.query('INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, $3)', [
      ada.orgId,
      user.userId,
      role,
    ]);
    return user;
  };

  it('waits while a user is asked, resolves no name before the yes, and goes on with it', async () => {
    const sandbox = await world.sandbox(ada);
    const target = world.name('new.example');
    const connecting = world.connect(sandbox, target);
    const request = await world.waiting(ada, sandbox, 'new.example');
    expect(request).toMatchObject({ port: world.origin.port, state: 'waiting', firstTime: true, tries: 1 });
    expect(world.proxy.asked).not.toContain('new.example');
    expect((await world.answer(ada, sandbox, request)).status).toBe(200);
    const tunnel = await connecting;
    expect([tunnel.status, await world.ask(tunnel)]).toEqual([200, 'HTTP/1.1 200 OK']);
    tunnel.socket.destroy();
    // The yes has a user, a scope and an entry in the chain.
    expect(await world.audit('egress-request.allow')).toEqual([
      {
        target: `${sandbox.conversation}:${request.id}`,
        actor_id: ada.userId,
        detail: { host: 'new.example', port: world.origin.port, scope: 'once', rule: expect.stringMatching(/^egr_/) },
      },
    ]);
    // Both are in the conversation's log.
    const said = (await world.app.log(sandbox.conversation)).flatMap(
      ({ event }) => stateValueOf(event, 'egress_request')?.state ?? [],
    );
    expect(said).toEqual(['waiting', 'allowed']);
  });

  it('is allowed no methods and paths where no broker could see them: neither by a rule nor by an answer', async () => {
    const sandbox = await world.sandbox(ada);
    const methods = ['GET'];
    for (const more of [{ methods }, { paths: ['/v1/**'] }, { foreign: 'refuse' }, { websocket: true }]) {
      const { status, body } = await world.rule(ada, { host: 'api.example.com', action: 'allow', ...more });
      expect([status, body.code]).toEqual([422, 'egress.no-broker']);
    }
    const connecting = world.connect(sandbox, world.name('methods.example'));
    const request = await world.waiting(ada, sandbox, 'methods.example');
    const answer = await world.answer(ada, sandbox, request, { scope: 'conversation', methods });
    expect([answer.status, answer.body.code]).toEqual([422, 'egress.no-broker']);
    await world.answer(ada, sandbox, request, { decision: 'deny' });
    expect((await connecting).status).toBe(403);
  });

  it('of one conversation reaches what was allowed for it; another, and another organization, do not', async () => {
    const [one, other] = [await world.sandbox(ada), await world.sandbox(ada)];
    const target = world.name('scoped.example');
    const connecting = world.connect(one, target);
    const request = await world.waiting(ada, one, 'scoped.example');
    await world.answer(ada, one, request, { scope: 'conversation' });
    (await connecting).socket.destroy();
    expect(await world.status(one, target)).toBe(200);
    const asking = world.connect(other, target);
    const second = await world.waiting(ada, other, 'scoped.example');
    expect(second.firstTime).toBe(false);
    await world.answer(ada, other, second, { scope: 'organization' });
    (await asking).socket.destroy();
    expect(await world.status(await world.sandbox(ada), target)).toBe(200);
    const eve = await world.app.user('Eve');
    await world.app.owner.query(`UPDATE app.org SET settings = '{"egressUnknown": "refuse"}' WHERE id = $1`, [
      eve.orgId,
    ]);
    expect(await world.status(await world.sandbox(eve), target)).toBe(403);
    // Claims that name a conversation of somebody else gain nothing by it.
    expect(await world.status({ ...one, org: eve.orgId }, target)).toBe(403);
    // What was allowed for a conversation goes with it, and what it had open for the organization too.
    const open = await world.connect(one, target);
    const ended = once(open.socket, 'close');
    open.socket.on('error', () => {}).resume();
    const rules = (): Promise<{ rowCount: number | null }> =>
      world.app.owner.query('SELECT 1 FROM app.egress_rule WHERE scope_value = $1', [one.conversation]);
    expect((await rules()).rowCount).toBe(1);
    await world.app.owner.query('UPDATE app.conversation SET deleted_at = now() WHERE id = $1', [one.conversation]);
    await ended;
    expect(await world.status(one, target)).toBe(403);
    await world.app.owner.query('SELECT app.delete_conversation($1, $2)', [one.org, one.conversation]);
    expect((await rules()).rowCount).toBe(0);
    expect(await world.status(one, target)).toBe(403);
  });

  it('was given a yes for once: new connections for a minute, and what is open goes on after it', async () => {
    const sandbox = await world.sandbox(ada);
    const target = world.name('once.example');
    const connecting = world.connect(sandbox, target);
    await world.answer(ada, sandbox, await world.waiting(ada, sandbox, 'once.example'));
    const tunnel = await connecting;
    expect(await world.status(sandbox, target)).toBe(200);
    await world.app.owner.query(
      "UPDATE app.egress_rule SET expires_at = now() - interval '1 second' WHERE scope_value = $1",
      [sandbox.conversation],
    );
    // It passes by what the proxy remembers until that has heard of the change.
    await until('it is asked for anew', async () => {
      void world.status(sandbox, target);
      return (await world.requests(ada, sandbox)).some(({ state }) => state === 'waiting');
    });
    const again = world.connect(sandbox, target);
    const request = await world.waiting(ada, sandbox, 'once.example');
    expect(await world.ask(tunnel)).toBe('HTTP/1.1 200 OK');
    await world.answer(ada, sandbox, request, { decision: 'deny' });
    expect((await again).status).toBe(403);
    expect(await world.ask(tunnel)).toBe('HTTP/1.1 200 OK');
    tunnel.socket.destroy();
  });

  it('was given a no: it is refused, and nobody is asked again within the hour', async () => {
    const sandbox = await world.sandbox(ada);
    const target = world.name('no.example');
    const connecting = world.connect(sandbox, target);
    const request = await world.waiting(ada, sandbox, 'no.example');
    await world.answer(ada, sandbox, request, { decision: 'deny', reason: 'not ours' });
    expect((await connecting).problem).toMatchObject({ code: 'egress.refused', reason: 'rule' });
    expect(await world.status(sandbox, target)).toBe(403);
    expect(await world.requests(ada, sandbox)).toMatchObject([{ state: 'denied', reason: 'not ours' }]);
    expect(world.proxy.asked).not.toContain('no.example');
  });

  it('is asked about anew once nobody has answered for a day, and the old request takes no answer', async () => {
    const sandbox = await world.sandbox(ada);
    const target = world.name('late.example');
    const connecting = world.connect(sandbox, target);
    const request = await world.waiting(ada, sandbox, 'late.example');
    await world.app.owner.query(
      "UPDATE app.egress_request SET created_at = now() - interval '24 hours 1 second' WHERE id = $1",
      [request.id],
    );
    expect((await world.requests(ada, sandbox))[0]?.state).toBe('expired');
    expect((await world.answer(ada, sandbox, request)).body.code).toBe('egress.already-answered');
    const anew = await world.waiting(ada, sandbox, 'late.example');
    expect(anew.id).not.toBe(request.id);
    await world.answer(ada, sandbox, anew);
    const tunnel = await connecting;
    tunnel.socket.destroy();
    expect(tunnel.status).toBe(200);
  });

  it('is cut off within a second of the removal of its rule, on all its connections, and gets none new', async () => {
    const sandbox = await world.sandbox(ada);
    const target = world.name('revoked.example');
    const { body: rule } = await world.rule(ada, { host: target, action: 'allow' });
    const tunnels = await Promise.all(Array.from({ length: 100 }, () => world.connect(sandbox, target)));
    expect(tunnels.map(({ status }) => status)).toEqual(tunnels.map(() => 200));
    const closed = tunnels.map(async ({ socket }) => {
      socket.resume();
      await once(socket, 'close');
      return performance.now();
    });
    const since = performance.now();
    expect((await world.app.http(ada, 'DELETE', `/api/v1/orgs/${ada.orgId}/egress-rules/${rule.id}`)).status).toBe(204);
    const lasted = Math.max(...(await Promise.all(closed))) - since;
    expect(lasted).toBeLessThan(10_000);
    console.log(`100 tunnels were cut ${Math.round(lasted)} ms after the removal was requested`);
    expect((await world.rule(ada, { host: 'revoked.example', action: 'deny' })).status).toBe(201);
    expect(await world.status(sandbox, target)).toBe(403);
  });

  it('of an organization that observes reaches what a rule might allow, and its admin reads which hosts these are', async () => {
    const owner = await world.app.user('Olga');
    const set = (body: object) => world.app.http(owner, 'PATCH', `/api/v1/orgs/${owner.orgId}/settings`, body);
    expect((await set({ egressUnknown: 'observe' })).status).toBe(200);
    const [one, other] = [await world.sandbox(owner), await world.sandbox(owner)];
    const target = world.name('seen.example');
    const open = await world.connect(one, target);
    expect([open.status, await world.ask(open)]).toEqual([200, 'HTTP/1.1 200 OK']);
    expect(await world.status(other, target)).toBe(200);
    const seen = async (): Promise<ObservedHost[]> =>
      (await world.app.http<ObservedHostList>(owner, 'GET', `/api/v1/orgs/${owner.orgId}/egress-observed-hosts`)).body
        .data;
    expect(await seen()).toEqual([
      expect.objectContaining({ host: 'seen.example', port: world.origin.port, conversations: 2 }),
    ]);
    expect(await world.requests(owner, one)).toEqual([]);
    // Adversary: the cluster, metadata services and what the organization denied stay out of reach, and unlisted.
    expect((await world.rule(owner, { host: 'denied.example', action: 'deny' })).status).toBe(201);
    for (const host of ['postgres.default.svc.cluster.local', 'metadata.google.internal', 'denied.example'])
      expect(await world.status(one, `${host}:${world.origin.port}`)).toBe(403);
    expect((await seen()).map(({ host }) => host)).toEqual(['seen.example']);
    // With a rule it is no news any more.
    expect((await world.rule(owner, { host: `seen.example:${world.origin.port}`, action: 'allow' })).status).toBe(201);
    expect(await seen()).toEqual([]);
    expect(await world.status(one, world.name('later.example'))).toBe(200);
    const later = await world.connect(one, world.name('later.example'));
    // No more hosts than are recorded: of the next one a user is asked.
    await world.app.owner.query(
      `INSERT INTO app.egress_observed (org_id, conversation_id, host, port) SELECT $1, $2, 'h' || n, 1 FROM generate_series(1, $3) n`,
      [owner.orgId, one.conversation, MAX_OBSERVED_HOSTS],
    );
    void world.status(one, world.name('too-many.example'));
    await world.waiting(owner, one, 'too-many.example');
    // It ends with the setting: what was only observed is cut.
    const ended = once(later.socket, 'close');
    later.socket.on('error', () => {}).resume();
    expect((await set({ egressUnknown: 'refuse' })).status).toBe(200);
    await ended;
    expect(await world.status(one, world.name('later.example'))).toBe(403);
    open.socket.destroy();
  });

  it('adversary: an admin who observes hosts to send what brokered-only keeps in is refused, in either order', async () => {
    const owner = await world.app.user('Oscar');
    const set = (body: object) =>
      world.app.http<{ code: string }>(owner, 'PATCH', `/api/v1/orgs/${owner.orgId}/settings`, body);
    expect((await set({ egressUnknown: 'observe' })).status).toBe(200);
    expect((await set({ secretsInSandbox: 'brokered-only' })).body.code).toBe('request.invalid');
    expect((await set({ egressUnknown: 'ask', secretsInSandbox: 'brokered-only' })).status).toBe(200);
    expect((await set({ egressUnknown: 'observe' })).body.code).toBe('request.invalid');
    // An older replica that knew nothing of it changes nothing where the connection is decided.
    await world.app.owner.query(
      `UPDATE app.org SET settings = settings || '{"egressUnknown": "observe"}' WHERE id = $1`,
      [owner.orgId],
    );
    const sandbox = await world.sandbox(owner);
    void world.status(sandbox, world.name('leak.example'));
    await world.waiting(owner, sandbox, 'leak.example');
  });

  it('adversary: asks for hundreds of hosts at once to bury the user: four wait, and the rest are refused', async () => {
    const sandbox = await world.sandbox(ada);
    const tunnels = Array.from({ length: 100 }, (_, index) =>
      world.connect(sandbox, world.name(`flood-${index}.example`)),
    );
    const settled: Tunnel[] = [];
    for (const each of tunnels) void each.then((tunnel) => settled.push(tunnel));
    await until('all but four are answered', () => settled.length === tunnels.length - 4, 15_000);
    const refused = settled.flatMap((tunnel) => tunnel.problem.code ?? []);
    expect(new Set(refused)).toEqual(new Set(['egress.asked-too-often']));
    expect(refused).toHaveLength(tunnels.length - 4);
    const waiting = await world.requests(ada, sandbox);
    expect(waiting.map(({ state }) => state)).toEqual(['waiting', 'waiting', 'waiting', 'waiting']);
    for (const request of waiting) await world.answer(ada, sandbox, request, { decision: 'deny' });
    await Promise.all(tunnels);
  });

  it('adversary: never gets a user asked for what no organization may allow, and no such name is resolved', async () => {
    const sandbox = await world.sandbox(ada);
    for (const host of [
      '169.254.169.254',
      'metadata.google.internal',
      '127.0.0.2',
      '10.0.0.1',
      '[::1]',
      '[::ffff:10.0.0.1]',
      'localhost',
      'kubernetes.default.svc',
      'db.internal',
      'intranet',
      'never.example',
    ])
      expect([host, await world.status(sandbox, `${host}:${world.origin.port}`)]).toEqual([host, 403]);
    expect(await world.requests(ada, sandbox)).toEqual([]);
    // Nor is a rule saved that would let nothing through; one that refuses is.
    const rule = async (action: string) => {
      const { status, body } = await world.rule(ada, { host: 'never.example', action });
      return [status, body.code];
    };
    expect([await rule('allow'), await rule('deny')]).toEqual([
      [422, 'egress.not-offered'],
      [201, undefined],
    ]);
  });

  it('adversary: an answer for another host than was shown, by a viewer, a stranger or too wide, counts for nothing', async () => {
    const sandbox = await world.sandbox(ada);
    const target = world.name('api.bank.example');
    const connecting = world.connect(sandbox, target);
    const request = await world.waiting(ada, sandbox, 'api.bank.example');
    const code = async (user: User, more: object): Promise<string> => {
      const { status, body } = await world.answer(user, sandbox, request, { ...more });
      return `${status} ${body.code ?? ''}`;
    };
    expect(await code(ada, { host: 'api.bank.example.evil.example' })).toBe('409 egress.already-answered');
    expect(await code(ada, { port: 1 })).toBe('409 egress.already-answered');
    expect(await code(await member('viewer'), {})).toBe('403 permission.denied');
    expect(await code(await member('member'), { scope: 'organization' })).toBe('403 permission.denied');
    expect(await code(await world.app.user('Stranger'), {})).toBe('404 resource.not-found');
    for (const host of ['*.com', '*.co.uk', '*.github.io', 'com', '*', '10.0.0.1', 'a.internal'])
      expect([host, (await world.rule(ada, { host, action: 'allow' })).body.code]).toEqual([
        host,
        expect.stringMatching(/^(egress\.too-wide|request\.invalid)$/),
      ]);
    expect((await world.requests(ada, sandbox))[0]?.state).toBe('waiting');
    await world.answer(ada, sandbox, request, { decision: 'deny' });
    expect((await connecting).status).toBe(403);
  });

  it('adversary: under four eyes its owner does not answer, and of two answers at once one counts', async () => {
    const sandbox = await world.sandbox(ada);
    await world.app.owner.query(`UPDATE app.org SET settings = settings || '{"fourEyes": true}' WHERE id = $1`, [
      ada.orgId,
    ]);
    const connecting = world.connect(sandbox, world.name('eyes.example'));
    const request = await world.waiting(ada, sandbox, 'eyes.example');
    expect((await world.answer(ada, sandbox, request)).body.code).toBe('conversation.four-eyes');
    // Nor by a rule that answers it, of whatever scope.
    for (const scope of [{}, { scope: 'conversation', scopeValue: sandbox.conversation }])
      for (const host of [`eyes.example:${world.origin.port}`, '*.eyes.example', 'eyes.example']) {
        const { status, body } = await world.rule(ada, { host, action: 'allow', ...scope });
        const answers = host.startsWith('*') && !('scope' in scope) ? 201 : 403;
        expect([host, status, body.code]).toEqual([
          host,
          answers,
          answers === 403 ? 'conversation.four-eyes' : undefined,
        ]);
      }
    const others = await Promise.all(Array.from({ length: 5 }, () => member('member')));
    const answers = await Promise.all(others.map((user) => world.answer(user, sandbox, request)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409]);
    const tunnel = await connecting;
    tunnel.socket.destroy();
    expect(tunnel.status).toBe(200);
    const entries = (await world.audit('egress-request.allow')).filter(({ target }) => target.includes(request.id));
    expect(entries).toMatchObject([{ detail: { fourEyes: true } }]);
  });
});

describe('without app-server', () => {
  let world: EgressWorld;
  let ada: User;
  beforeAll(async () => {
    world = await EgressWorld.start(1);
    ada = await world.app.user('Ada');
  });
  afterAll(() => world?.close());

  it('nothing new is open but what the installation lists, and all is as before once it is back', async () => {
    const sandbox = await world.sandbox(ada);
    const known = world.name('known.example');
    const listed = world.name('git.example');
    await world.rule(ada, { host: known, action: 'allow' });
    // The second time it is remembered, whenever the proxy has heard of the rule.
    for (const _each of [1, 2]) expect(await world.status(sandbox, known)).toBe(200);
    await world.app.replicas[0]?.close();
    const undecided = await world.connect(sandbox, world.name('other.example'));
    expect(undecided.problem.code).toBe('egress.undecided');
    expect([await world.status(sandbox, listed), world.proxy.asked.includes('other.example')]).toEqual([200, false]);
    // What it allowed in the last minute holds.
    expect(await world.status(sandbox, known)).toBe(200);
    await world.app.restart(0);
    const asked = await world.connect(sandbox, world.name('other.example'));
    expect([asked.status, asked.problem.code]).toEqual([403, 'egress.asked']);
    expect(asked.phrase).toMatch(
      /^Slipway egress: a user was asked whether other\.example:\d+ may be reached \(egq_\w+\)\.$/,
    );
    expect((await world.waiting(ada, sandbox, 'other.example')).state).toBe('waiting');
  });

  it('adversary: an impostor in its place, without the secret, allows nothing', async () => {
    const impostor = createServer((_request, response) =>
      response
        .setHeader('x-slipway-signature', 'A'.repeat(43))
        .end(JSON.stringify({ decision: 'allow', rule: 'egr_forged', ttlMs: 5_000, request: null })),
    );
    await new Promise<void>((resolve) => impostor.listen(0, '127.0.0.1', resolve));
    const proxy = await TestEgress.start({
      EGRESS_PERMITTED_RANGES: '127.0.0.2/32',
      EGRESS_PORTS: String(world.origin.port),
      EGRESS_CONTROL_URL: `http://127.0.0.1:${(impostor.address() as AddressInfo).port}`,
      EGRESS_CONTROL_SECRET: 'another-control-secret-0123456789abcdef',
    });
    try {
      proxy.names.set('forged.example', ['127.0.0.2']);
      const { problem } = await proxy.tunnel(`forged.example:${world.origin.port}`, { ...CLAIMS, conversation: 'any' });
      expect([problem.code, proxy.asked]).toEqual(['egress.undecided', []]);
    } finally {
      await proxy.close();
      impostor.closeAllConnections();
      impostor.close();
    }
  });
});
