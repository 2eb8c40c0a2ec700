import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { IngestTokens } from '@slipway/auth/ingest-token';
import { type Conversation } from '@slipway/contracts/conversations';
import { type SubscribeAnswer } from '@slipway/contracts/events';
import { type Operation, operations } from '@slipway/contracts/operations';
import { ORG_HEADER, type Runtime } from '@slipway/contracts/sandboxes';
import { type SignedInClient, stopwatch, until } from '@slipway/testing';
import { afterTest } from '@slipway/testing/jest';
import { io, type Socket } from 'socket.io-client';
import { OpenStack } from './open-stack.ts';
import { BODIES, NAMES, nothing, type Owned, QUERIES } from './owned.ts';
import { register } from './register.ts';
import { finish, terminal } from './script-book.ts';
import { Talk } from './talk.ts';

jest.setTimeout(180_000);

describe('two users', () => {
  let open: OpenStack;
  let other: SignedInClient;
  /** Of the demo user: one that has finished, and one that works as long as the tests take. */
  let theirs: Talk;
  let busy: Talk;
  let mine: Talk;
  let foreign: Owned;
  let own: Owned;

  beforeAll(async () => {
    open = await OpenStack.open();
    other = await register(open.url, 'Other Person', 'other');
    const large = terminal('for n in $(seq 30); do head -c 900 /dev/zero | tr "\\0" "é"; echo; done');
    theirs = await open.talk('theirs', [large, finish()]);
    busy = await open.talk('busy', [terminal('sleep 86451', { timeout: 3600 })]);
    mine = await open.talk('mine', [finish()], {}, other);
    await Promise.all([
      theirs.ended('finished'),
      mine.ended('finished'),
      busy.watcher.waitFor('its command', ({ event }) => event.kind === 'ActionEvent'),
    ]);
    const [blob] = await open.query<{ sha256: string }>(
      'SELECT sha256 FROM app.conversation_blob WHERE conversation_id = $1',
      [theirs.id],
    );
    const [message] = theirs.of('MessageEvent');
    const access = async (user: SignedInClient, { path }: Talk): Promise<string> => {
      const answer = await user.fetch(`${path}/sandbox-access`, { method: 'POST', json: { port: 'agent-server' } });
      return ((await answer.json()) as { id?: string }).id ?? '';
    };
    foreign = {
      org: theirs.orgId,
      conversation: theirs.id,
      message: message?.id ?? '',
      sha256: blob?.sha256 ?? '',
      access: await access(open.user, theirs),
    };
    own = {
      org: mine.orgId,
      conversation: mine.id,
      message: mine.of('MessageEvent')[0]?.id ?? '',
      sha256: 'f'.repeat(64),
      access: await access(other, mine),
    };
    expect(Object.values(foreign).filter((id) => id === '')).toEqual([]);
  });
  afterAll(() => open.close());
  /** All of an answer but what differs from request to request. */
  async function answerOf(response: Response): Promise<unknown> {
    const text = (await response.text()).replaceAll(response.headers.get('x-request-id') ?? '-', 'REQUEST');
    const headers = Object.fromEntries(response.headers);
    for (const name of ['date', 'x-request-id', 'ratelimit', 'keep-alive']) delete headers[name];
    return { status: response.status, headers, text };
  }
  function call(operation: Operation, ids: Owned, headers: Record<string, string> = {}): Promise<Response> {
    const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name as keyof Owned]);
    const json = BODIES[operation.id];
    return other.fetch(`${path}${QUERIES[operation.id] ?? ''}`, {
      method: operation.method,
      headers,
      ...(json === undefined ? {} : { json }),
    });
  }

  // Those that reach sandboxes; app-server's own are a matrix of their own (apps/app-server/src/testing/tenancy).
  const withIds = Object.values(operations as Record<string, Operation>).filter(
    ({ path }) =>
      path.includes('/conversations') &&
      !path.endsWith('/secrets') &&
      [...path.matchAll(/\{(\w+)\}/g)].every(([, name = '']) => Object.hasOwn(NAMES, name)),
  );
  it('have operations to keep apart', () => {
    expect(withIds.length).toBeGreaterThanOrEqual(15);
    expect(withIds.flatMap(({ id, body }) => (body === undefined ? [] : [id])).sort()).toEqual(
      Object.keys(BODIES).sort(),
    );
  });
  for (const operation of withIds) {
    const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as keyof Owned);
    it(`${operation.id} answers each foreign id as it answers one that there is not: 404, byte for byte`, async () => {
      const headers: Record<string, string>[] =
        operation.id === 'conversations.events.list' ? [{}, { accept: 'text/event-stream' }] : [{}];
      for (const more of headers) {
        for (const [position, name] of names.entries()) {
          // Own ones before it, so that this one alone is foreign; then foreign ones all the way.
          for (const rest of [own, foreign]) {
            const path = (id: Owned): Owned => ({
              ...rest,
              ...Object.fromEntries(names.slice(0, position).map((before) => [before, own[before]])),
              [name]: id[name],
            });
            const [asked, missing] = [
              await answerOf(await call(operation, path(foreign), more)),
              await answerOf(await call(operation, path(nothing(foreign)), more)),
            ];
            expect(asked).toEqual(missing);
            expect(asked).toMatchObject({ status: 404 });
          }
        }
      }
    });
  }

  it('see nothing of each other in lists, with the cursor of the other neither', async () => {
    const list = (user: SignedInClient, org: string, query = ''): Promise<Response> =>
      user.fetch(`/api/v1/orgs/${org}/conversations?limit=1${query}`);
    const first = (await (await list(open.user, foreign.org)).json()) as {
      data: unknown[];
      page: { nextCursor: string };
    };
    const page = (await (
      await list(other, own.org, `&cursor=${encodeURIComponent(first.page.nextCursor)}`)
    ).json()) as { data: Conversation[] };
    const all = (await (await list(other, own.org)).json()) as { data: Conversation[] };
    for (const { data } of [page, all]) expect(data.filter(({ id }) => id !== mine.id)).toEqual([]);
    expect(JSON.stringify(other.me.orgs)).not.toContain(foreign.org);
  });

  it('may use the same idempotency key for the same body, and each gets an own conversation', async () => {
    const body = { prompt: open.book.write('same key', [finish()]) };
    const key = { 'idempotency-key': 'the-same-key' };
    const [one, two] = await Promise.all([open.create(body, open.user, key), open.create(body, other, key)]);
    const made = [(await one.json()) as Conversation, (await two.json()) as Conversation];
    expect(made.map(({ orgId }) => orgId)).toEqual([foreign.org, own.org]);
    expect(new Set(made.map(({ id }) => id)).size).toBe(2);
  });

  describe('on a socket', () => {
    let socket: Socket;
    const heard: string[] = [];
    beforeAll(async () => {
      socket = io(open.url, {
        path: '/socket.io',
        transports: ['websocket'],
        extraHeaders: { cookie: other.cookie, origin: open.url },
        forceNew: true,
      });
      socket.onAny(
        (name: string, frame: { conversationId?: string }) => void heard.push(`${name} ${frame.conversationId ?? ''}`),
      );
      await until('the socket is open', () => socket.connected);
    });
    afterAll(() => void socket.disconnect());
    const subscribe = (orgId: string, conversationId: string): Promise<SubscribeAnswer> =>
      socket
        .timeout(20_000)
        .emitWithAck('subscribe', { orgId, conversationId, afterSeq: 0 }) as Promise<SubscribeAnswer>;

    it('a foreign conversation is refused like one that there is not, and nothing of it is heard', async () => {
      const missing = await subscribe(own.org, randomUUID());
      expect(missing).toMatchObject({ ok: false, code: 'resource.not-found' });
      for (const [org, conversation] of [
        [foreign.org, foreign.conversation],
        [own.org, foreign.conversation],
        [nothing(foreign).org, foreign.conversation],
        [foreign.org, own.conversation],
      ] as const)
        expect(await subscribe(org, conversation)).toEqual(missing);
      await theirs.ended(
        'finished',
        await theirs.send(open.book.write('more of theirs', [terminal('echo more'), finish()])),
      );
      // What is heard of an own one comes after all that a leak would have sent.
      expect(await subscribe(own.org, own.conversation)).toMatchObject({ ok: true });
      await mine.ended('finished', await mine.send(open.book.write('more of mine', [finish()])));
      await until('the own one is heard', () => heard.some((line) => line === `events ${mine.id}`));
      expect(heard.filter((line) => !line.endsWith(mine.id))).toEqual([]);
    });
  });

  describe('at sandbox-gateway', () => {
    const events = [
      {
        producerSeq: 1,
        event: { id: randomUUID(), timestamp: new Date().toISOString(), source: 'agent', kind: 'PauseEvent' },
      },
    ];
    const ingest = (token: string, conversation: string, epoch: number): Promise<Response> =>
      fetch(`${open.addressOf('app-server')}/ingest/v1/conversations/${conversation}/events`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ epoch, events }),
      });
    const read = (token: string, conversation: string): Promise<Response> =>
      fetch(`${open.addressOf('app-server')}/ingest/v1/conversations/${conversation}/events?after=0`, {
        headers: { authorization: `Bearer ${token}` },
      });
    const codeOf = async (response: Response): Promise<unknown> => [
      response.status,
      ((await response.json()) as { code: string }).code,
    ];

    it('a token of another conversation, of an older sandbox, of another installation or without an owner writes and reads nothing', async () => {
      const tokens = new IngestTokens(open.secrets.ingest);
      const [row] = await open.query<{ epoch: number; head: string }>(
        'SELECT epoch, head FROM app.conversation WHERE id = $1',
        [busy.id],
      );
      const epoch = row?.epoch ?? 0;
      const sign = (claims: { org?: string; conversation?: string; epoch?: number }, by = tokens): Promise<string> =>
        by.sign({ org: busy.orgId, conversation: busy.id, epoch, ...claims }, 600);
      const current = await sign({});
      const ofMine = await sign({ org: mine.orgId, conversation: mine.id, epoch: 1 });
      const missing = await answerOf(await ingest(ofMine, randomUUID(), epoch));
      expect(missing).toMatchObject({ status: 404 });
      expect(await answerOf(await ingest(ofMine, busy.id, epoch))).toEqual(missing);
      expect(await answerOf(await read(ofMine, busy.id))).toEqual(await answerOf(await read(ofMine, randomUUID())));
      // Signed by us, and still under the organization that it names.
      expect((await ingest(await sign({ org: mine.orgId }), busy.id, epoch)).status).toBe(404);
      expect(await codeOf(await ingest(await sign({ epoch: epoch - 1 || 99 }), busy.id, epoch - 1 || 99))).toEqual([
        409,
        'ingest.stale-epoch',
      ]);
      expect((await ingest(current, busy.id, epoch + 1)).status).toBeGreaterThanOrEqual(400);
      const forged = new IngestTokens('a-secret-that-somebody-has-made-up-for-this');
      for (const token of [await sign({}, forged), '', 'nonsense', `${current}x`, current.replace(/\.[^.]+$/, '.')])
        expect(await codeOf(await ingest(token, busy.id, epoch))).toEqual([401, 'auth.missing']);
      const after = await open.query<{ head: string }>('SELECT head FROM app.conversation WHERE id = $1', [busy.id]);
      expect(after[0]?.head).toBe(row?.head);
      await Promise.all([busy, theirs, mine].map((talk) => talk.expectWholeLog()));
    });
  });

  describe('in their sandboxes', () => {
    let victim: Runtime;
    let attacker: Runtime;
    beforeAll(async () => {
      [victim, attacker] = await Promise.all([open.sandboxOf(busy), open.sandboxOf(mine)]);
      expect([victim.status, attacker.status]).toEqual(['running', 'running']);
      expect(victim.session_api_key).not.toBe(attacker.session_api_key);
    });

    it('the key of one opens nothing of another', async () => {
      const base = `${victim.url}/api`;
      const routes: ReadonlyArray<readonly [string, string, unknown?]> = [
        ['GET', `${base}/conversations`],
        ['POST', `${base}/conversations`, {}],
        ['GET', `${base}/conversations/search`],
        ['GET', `${base}/conversations/count`],
        ['GET', `${base}/conversations/${busy.id}`],
        ['DELETE', `${base}/conversations/${busy.id}`],
        ['POST', `${base}/conversations/${busy.id}/run`],
        ['POST', `${base}/conversations/${busy.id}/pause`],
        ['POST', `${base}/conversations/${busy.id}/interrupt`],
        ['POST', `${base}/conversations/${busy.id}/secrets`, { secrets: {} }],
        ['GET', `${base}/conversations/${busy.id}/events/search`],
        ['GET', `${base}/conversations/${busy.id}/events/count`],
        ['POST', `${base}/conversations/${busy.id}/events`, { role: 'user', content: [{ type: 'text', text: 'x' }] }],
        ['POST', `${base}/bash/execute_bash_command`, { command: 'id' }],
        ['POST', `${base}/bash/start_bash_command`, { command: 'id' }],
        ['GET', `${base}/file/download?path=/etc/passwd`],
        ['GET', `${base}/file/home`],
        ['GET', `${base}/git/changes?path=.`],
        ['GET', `${base}/git/patch?path=.`],
        ['POST', `${base}/init`, { session_api_keys: [attacker.session_api_key] }],
      ];
      for (const [method, url, json] of routes) {
        const body = json === undefined ? {} : { body: JSON.stringify(json) };
        const headers = {
          'content-type': 'application/json',
          'x-session-api-key': attacker.session_api_key,
          authorization: `Bearer ${attacker.session_api_key}`,
        };
        const { status } = await fetch(url, { method, headers, ...body });
        expect({ method, url, status }).toEqual({ method, url, status: 401 });
      }
      // Accepted, so that the client gets the reason of the close, as OpenHands' clients expect it; the same for a
      // conversation that there is not.
      for (const id of [busy.id, randomUUID()]) {
        const frames: unknown[] = [];
        const closed = await new Promise<number>((resolve) => {
          const websocket = new WebSocket(
            `${victim.url.replace('http', 'ws')}/sockets/events/${id}?session_api_key=${attacker.session_api_key}`,
          );
          websocket.onmessage = ({ data }) => void frames.push(data);
          websocket.onclose = ({ code }) => resolve(code);
        });
        expect([closed, frames]).toEqual([4001, []]);
      }
      expect((await busy.get()).status).toBe('working');
    });

    it("runtime-api shows and ends no sandbox of another organization, even to the platform's own key", async () => {
      const base = open.addressOf('runtime-api');
      const ask = (path: string, body?: unknown): Promise<Response> =>
        fetch(base + path, {
          method: body === undefined ? 'GET' : 'POST',
          headers: {
            'x-api-key': open.secrets.runtimeApiKey,
            [ORG_HEADER]: mine.orgId,
            'content-type': 'application/json',
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
      const pairs: ReadonlyArray<readonly [Promise<Response>, Promise<Response>]> = [
        [ask(`/sessions/${busy.id}`), ask(`/sessions/${randomUUID()}`)],
        [ask(`/runtime/${victim.runtime_id}`), ask('/runtime/run_00000000000000000000000000')],
        ...['stop', 'pause', 'resume'].map(
          (verb) =>
            [
              ask(`/${verb}`, { runtime_id: victim.runtime_id }),
              ask(`/${verb}`, { runtime_id: 'run_00000000000000000000000000' }),
            ] as const,
        ),
      ];
      for (const [asked, missing] of pairs) {
        const answer = await answerOf(await asked);
        expect(answer).toEqual(await answerOf(await missing));
        expect(answer).toMatchObject({ status: 404 });
      }
      expect(await (await ask(`/sessions/batch?ids=${busy.id}`)).json()).toEqual([]);
      const listed = (await (await ask('/list')).json()) as { runtimes: Runtime[] };
      expect(listed.runtimes.map(({ session_id: id }) => id)).not.toContain(busy.id);
      expect((await busy.get()).status).toBe('working');
    });
  });

  it('a member who is removed while an agent works for them has nothing left of the organization within ten seconds: requests, sockets, keys, the way into the sandbox, the sandbox', async () => {
    const made = await open.user.fetch('/api/v1/orgs', { method: 'POST', json: { name: 'Left behind' } });
    const org = ((await made.json()) as { id: string }).id;
    const root = `/api/v1/orgs/${org}`;
    await open.query("INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'member')", [
      org,
      other.me.id,
    ]);
    const post = async <T>(path: string, json: object): Promise<T> => {
      const answer = await other.fetch(`${root}${path}`, { method: 'POST', json });
      expect([path, answer.status]).toEqual([path, 201]);
      return answer.json() as Promise<T>;
    };
    const { id } = await post<Conversation>('/conversations', {
      prompt: open.book.write('left behind', [terminal('sleep 86452', { timeout: 3600 })]),
    });
    const { token } = await post<{ token: string }>('/api-keys', { name: 'ci', scopes: ['conversation:read'] });
    const talk = new Talk(open.url, other, org, id);
    const socket = io(open.url, {
      path: '/socket.io',
      transports: ['websocket'],
      auth: { token },
      reconnection: false,
      forceNew: true,
    });
    afterTest(() => {
      talk.close();
      socket.disconnect();
    });
    await talk.watcher.waitFor('its command', ({ event }) => event.kind === 'ActionEvent');
    await until('the key has its socket', () => socket.connected);
    const { id: access } = await post<{ id: string }>(`/conversations/${id}/sandbox-access`, { port: 'agent-server' });
    const sandbox = await open.sandboxOf(talk);
    const alive = (): Promise<boolean> =>
      fetch(`${sandbox.url}/alive`, { signal: AbortSignal.timeout(5_000) }).then(
        ({ ok }) => ok,
        () => false,
      );
    const byKey = (): Promise<Response> =>
      fetch(`${open.url}${root}/conversations`, { headers: { authorization: `Bearer ${token}` } });
    const entered = async (): Promise<boolean> =>
      (await open.query('SELECT 1 FROM app.live_sandbox_grants($1)', [[access]])).length === 1;
    expect([await alive(), (await byKey()).status, await entered(), (await other.fetch(root)).status]).toEqual([
      true,
      200,
      true,
      200,
    ]);

    const passed = stopwatch();
    const removed = await open.user.fetch(`${root}/members/${other.me.id}`, { method: 'DELETE' });
    expect(removed.status).toBe(200);
    expect(await removed.json()).toMatchObject({
      keysRevoked: 1,
      sandboxesStopping: 1,
      conversationsKept: 1,
      knownCredentials: [],
    });
    await Promise.all([
      until('requests are refused', async () => (await other.fetch(root)).status === 404, 4_000),
      until('the key is refused', async () => (await byKey()).status === 401, 4_000),
      until('the socket of the key is cut', () => !socket.connected, 5_000),
      until('the way into the sandbox is shut', async () => !(await entered()), 4_000),
      until('the sandbox is gone', async () => !(await alive()), 10_000),
    ]);
    expect(passed()).toBeLessThan(10_000);
    // Theirs elsewhere, and the organization's conversation, are as before.
    expect((await other.fetch(`/api/v1/orgs/${own.org}`)).status).toBe(200);
    const kept = await open.user.fetch(`${root}/conversations/${id}`);
    expect([kept.status, ((await kept.json()) as Conversation).createdBy.id]).toEqual([200, other.me.id]);
  });
});
