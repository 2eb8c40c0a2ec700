import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { SessionCookie } from '@slipway/auth';
import { type SubscribeAnswer } from '@slipway/contracts/events';
import { proofOf } from '@slipway/contracts/operations';
import { exampleProvider } from '@slipway/integrations/testing';
import { type SeededOrg, seedTwoOrgs } from '@slipway/testing';
import { io, type Socket } from 'socket.io-client';
import { featuresWith } from '../../app.module.js';
import { ConversationApp } from '../conversation-app.js';
import { Caller, keysOfEachScope, type Reply, user } from './callers.js';
import { bodyOf, ORG_REQUESTS, OTHER_REQUESTS, pathOf, type Request } from './requests.js';
import { canaryOf, makeThings, missingThings, type Things } from './things.js';
import { forgetFilters } from './unfiltered-sql.js';

const MISSING_ORG = 'org_00000000000000000000000000';
const ENV = {
  SANDBOX_GATEWAY_URL: 'http://sandboxes.localhost:9',
  SANDBOX_ACCESS_SECRET: 'test-sandbox-access-test-sandbox-access',
  EGRESS_CONTROL_SECRET: 'test-egress-control-test-egress-control',
  CREDENTIAL_CONTROL_SECRET: 'test-credential-control-test-credential',
  INTERNAL_PORT: '0',
  LOG_LEVEL: process.env['LOG_LEVEL'] ?? 'silent',
  RATE_READS_PER_MINUTE: '1000000',
  RATE_WRITES_PER_MINUTE: '1000000',
  RATE_STARTS_PER_MINUTE: '1000000',
  RATE_ANONYMOUS_PER_MINUTE: '1000000',
};
/** What is there for one key or session alone, which is none of the askers'. */
const OF_ANOTHER_PROOF: ReadonlySet<string> = new Set(['getApiKey', 'getConnectionAuthorization']);
/**
 * What an answer with the right ids may be when what stands behind it (a sandbox, runtime-api) is not there in this
 * test.
 */
const BEHIND = new Set([409, 503]);

jest.setTimeout(300_000);

describe('no tenant sees another', () => {
  let app: ConversationApp;
  let mine: SeededOrg;
  let theirs: SeededOrg;
  let own: Things;
  let foreign: Things;
  let missing: Things;
  let anonymous: Caller;
  let members: Caller[];
  let keys: Caller[];
  let strangers: Caller[];

  beforeAll(async () => {
    app = await ConversationApp.start({ env: ENV, features: featuresWith([exampleProvider]) });
    const seeded = await seedTwoOrgs(app.owner, { conversations: 20 });
    [mine, theirs] = seeded.orgs;
    const cookies = new SessionCookie('test-session-secret-test-session-secret');
    const callersOf = async (org: SeededOrg, member: boolean): Promise<Caller[]> =>
      Promise.all(
        org.members.map(async (each) =>
          user(app.url, `keycloak_auth=${await cookies.sign(each.sessionId, seeded.sessionExpiresAt)}`, each, member),
        ),
      );
    anonymous = new Caller('anonymous', app.url, {}, null, 'anonymous');
    members = await callersOf(mine, true);
    const [owner, , member] = members as [Caller, Caller, Caller];
    const others = await callersOf(theirs, true);
    own = await makeThings(app, mine, owner, member);
    foreign = await makeThings(app, theirs, others[0] as Caller, others[2] as Caller);
    missing = missingThings(foreign);
    strangers = [(await callersOf(theirs, false))[0] as Caller];
    keys = await keysOfEachScope(app.url, mine.id, owner);
  });
  afterAll(() => app?.close());

  const answer = (caller: Caller, request: Request, org: string, things: Things): Promise<Reply> =>
    caller.ask(request.operation.method, pathOf(request, org, things), bodyOf(request, own));
  /** A reply without the ids that were asked for, which some answers repeat. */
  const plain = ({ status, text }: Reply, things: Things): { status: number; text: string } => ({
    status,
    text: Object.values(things).reduce((words, id) => words.replaceAll(id, '<id>'), text),
  });
  const silent = (reply: Reply, what: string): void => {
    expect([
      what,
      reply.text.includes(canaryOf(theirs)) ||
        theirs.members.some(({ email, userId }) => reply.text.includes(email) || reply.text.includes(userId)),
    ]).toEqual([what, false]);
  };

  /** The heart of it, run twice: with the application's filters, and without them. */
  const proof = async (): Promise<number> => {
    let asked = 0;
    const wrong: string[] = [];
    for (const request of ORG_REQUESTS) {
      const { permission } = request.operation;
      const sessionsAlone = proofOf(request.operation) === 'session';
      for (const caller of [anonymous, ...strangers, ...members, ...keys]) {
        const what = `${request.name} by ${caller.name}`;
        const denied = (permission !== null && !caller.may(permission)) || (caller.kind === 'api-key' && sessionsAlone);
        // A stranger here is at home there. Of the keys that may not, one is enough to know how all are answered
        // elsewhere.
        if (!strangers.includes(caller) && !(caller.kind === 'api-key' && denied && caller !== keys[0])) {
          const elsewhere = await answer(caller, request, theirs.id, foreign);
          const nowhere = await answer(caller, request, MISSING_ORG, foreign);
          asked += 2;
          const expected = caller.kind === 'anonymous' ? 401 : caller.kind === 'api-key' && sessionsAlone ? 403 : 404;
          if (elsewhere.status !== expected)
            wrong.push(`${what}: another organization is answered ${elsewhere.status}`);
          if (JSON.stringify(plain(elsewhere, foreign)) !== JSON.stringify(plain(nowhere, foreign)))
            wrong.push(`${what}: another organization differs from a missing one`);
          silent(elsewhere, what);
        }
        if (caller.permissions === null) {
          const inside = await answer(caller, request, mine.id, own);
          asked += 1;
          if (inside.status !== (caller.kind === 'anonymous' ? 401 : 404))
            wrong.push(`${what}: an organization that is not theirs is answered ${inside.status}`);
          if (inside.text.includes(canaryOf(mine))) wrong.push(`${what}: it leaks`);
          continue;
        }
        if (denied) {
          const refused = await answer(caller, request, mine.id, own);
          asked += 1;
          if (refused.status !== 403) wrong.push(`${what}: without ${permission} it is answered ${refused.status}`);
          continue;
        }
        if (request.nouns.length > 0) {
          const [theirId, noId] = [
            await answer(caller, request, mine.id, foreign),
            await answer(caller, request, mine.id, missing),
          ];
          asked += 2;
          // Ending what is not there is done already, whoever it would have belonged to.
          if (theirId.status < 300 && theirId.text !== '' && !theirId.text.includes('"data":[]'))
            wrong.push(`${what}: a foreign id is answered ${theirId.status} ${theirId.text.slice(0, 200)}`);
          if (JSON.stringify(plain(theirId, foreign)) !== JSON.stringify(plain(noId, missing)))
            wrong.push(
              `${what}: a foreign id differs from a missing one: ${theirId.status} ${theirId.text.slice(0, 200)} / ${noId.status} ${noId.text.slice(0, 200)}`,
            );
          silent(theirId, what);
        }
        if (request.operation.method === 'GET') {
          const there = await answer(caller, request, mine.id, own);
          asked += 1;
          const right =
            there.status < 300 ||
            BEHIND.has(there.status) ||
            (there.status === 404 && OF_ANOTHER_PROOF.has(request.name));
          if (!right) wrong.push(`${what}: their own is answered ${there.status} ${there.text.slice(0, 200)}`);
          silent(there, what);
        }
      }
    }
    expect(wrong).toEqual([]);
    return asked;
  };

  it('answers every foreign resource as not found, to every caller, and reveals nothing of it', async () => {
    expect(await proof()).toBeGreaterThan(3_000);
  });

  it('the other organization has lost nothing by all that was asked of it', async () => {
    const { rows } = await app.owner.query<Record<string, number>>(
      `SELECT (SELECT count(*)::int FROM app.api_key WHERE org_id = $1 AND revoked_at IS NULL) AS keys, (SELECT count(*)::int FROM app.secret WHERE org_id = $1) AS secrets,
              (SELECT count(*)::int FROM app.membership WHERE org_id = $1) AS members, (SELECT count(*)::int FROM app.invitation WHERE org_id = $1) AS invitations,
              (SELECT deletes_at IS NULL FROM app.org WHERE id = $1)::int AS alive, (SELECT count(*)::int FROM app.audit_entry WHERE org_id = $1 AND actor_id <> $2 AND actor_id <> $3) AS strangers`,
      [theirs.id, theirs.members[0]?.userId, theirs.members[2]?.userId],
    );
    expect(rows[0]).toEqual({ keys: 1, secrets: 3, members: 5, invitations: 1, alive: 1, strangers: 0 });
  });

  it('what an id in a body or a query names is searched in the own organization only', async () => {
    const owner = members[0] as Caller;
    const root = `/api/v1/orgs/${mine.id}`;
    const theirUser = theirs.members[2]?.userId ?? '';
    const cases: ReadonlyArray<readonly [string, string, (id: string) => unknown, string, string]> = [
      ['POST', '/transfer', (userId) => ({ userId }), theirUser, missing['user'] ?? ''],
      [
        'POST',
        '/secrets',
        (scopeValue) => ({ name: 'CROSS', value: 'xxxxxx', scope: 'conversation', scopeValue }),
        foreign['conversation'] ?? '',
        missing['conversation'] ?? '',
      ],
      [
        'POST',
        '/api-keys',
        (serviceAccountId) => ({ name: 'x', scopes: ['org:read'], serviceAccountId }),
        foreign['account'] ?? '',
        missing['account'] ?? '',
      ],
      ['GET', '/api-keys?serviceAccountId=ID', () => undefined, foreign['account'] ?? '', missing['account'] ?? ''],
      ['GET', '/conversations?owner=ID', () => undefined, theirUser, missing['user'] ?? ''],
      ['GET', '/sandboxes?owner=ID', () => undefined, theirUser, missing['user'] ?? ''],
      ['GET', '/usage?user=ID', () => undefined, theirUser, missing['user'] ?? ''],
      ['GET', '/outcomes?user=ID', () => undefined, theirUser, missing['user'] ?? ''],
      ['GET', '/budgets/preview?user=ID&userLimitUsd=5', () => undefined, theirUser, missing['user'] ?? ''],
      ['GET', '/audit?actor=ID', () => undefined, theirUser, missing['user'] ?? ''],
      [
        'GET',
        '/integrations/repositories?connection=ID',
        () => undefined,
        foreign['connection'] ?? '',
        missing['connection'] ?? '',
      ],
      [
        'GET',
        '/integrations/repositories/branches?repository=a/b&connection=ID',
        () => undefined,
        foreign['connection'] ?? '',
        missing['connection'] ?? '',
      ],
    ];
    for (const [method, path, body, theirId, noId] of cases) {
      expect([path, theirId === '' || noId === '' || theirId === noId]).toEqual([path, false]);
      const [a, b] = await Promise.all(
        [theirId, noId].map((id) =>
          owner.ask(method, `${root}${path.replace('ID', encodeURIComponent(id))}`, body(id)),
        ),
      );
      const same = (reply: Reply | undefined, id: string) => ({
        status: reply?.status,
        text: reply?.text.replaceAll(id, '<id>').replaceAll(/"(asOf|createdAt|updatedAt)":"[^"]*"/g, ''),
      });
      expect([path, same(a, theirId)]).toEqual([path, same(b, noId)]);
    }
  });

  it("operations on one's own account refuse unauthenticated callers, and reach no other session or token", async () => {
    const owner = members[0] as Caller;
    const [stranger] = strangers as [Caller];
    const { json } = await stranger.ask('GET', '/api/v1/me/sessions');
    const session = (json as { data: Array<{ id: string }> }).data[0]?.id ?? '';
    const things = {
      session,
      provider: 'github',
      userCode: 'BCDF-GHJK',
      token: 'x'.repeat(43),
      key: `key_${'0'.repeat(26)}`,
      sandbox: randomUUID(),
      link: randomUUID(),
    };
    for (const request of OTHER_REQUESTS) {
      const path = pathOf(request, '', things);
      const nobody = await anonymous.ask(
        request.operation.method,
        path,
        request.operation.body === undefined ? undefined : {},
      );
      // An invitation's token is in its address; whoever asks for the names of secrets brings the key of a sandbox.
      const expected = request.operation.anonymous === true && request.name !== 'listSandboxSecrets' ? 404 : 401;
      expect([request.name, nobody.status]).toEqual([request.name, expected]);
    }
    expect(session).toMatch(/^ses_/);
    expect((await owner.ask('DELETE', `/api/v1/me/sessions/${session}`)).status).toBe(404);
    expect((await stranger.ask('GET', '/api/v1/me')).status).toBe(200);
  });

  it('over a socket a foreign conversation is as one that does not exist, and its events reach no one', async () => {
    const frames: string[] = [];
    const sockets: Socket[] = [];
    const connect = async (caller: Caller): Promise<Socket> => {
      const { authorization, ...headers } = caller.headers;
      const socket = io(app.url, {
        transports: ['websocket'],
        reconnection: false,
        forceNew: true,
        extraHeaders: { ...headers, origin: app.url },
        ...(authorization === undefined ? {} : { auth: { token: authorization.replace('Bearer ', '') } }),
      });
      sockets.push(socket);
      socket.onAny((_event, frame: unknown) => frames.push(JSON.stringify(frame)));
      await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('connect_error', reject));
      return socket;
    };
    try {
      await expect(connect(anonymous)).rejects.toThrow();
      for (const caller of [...members, ...keys.filter((key) => key.may('conversation:read') || key.may('org:read'))]) {
        const socket = await connect(caller);
        const ask = (orgId: string, conversationId: string): Promise<SubscribeAnswer> =>
          socket
            .timeout(20_000)
            .emitWithAck('subscribe', { orgId, conversationId, afterSeq: 0 }) as Promise<SubscribeAnswer>;
        const answers = [
          await ask(theirs.id, foreign['conversation'] ?? ''),
          await ask(mine.id, foreign['conversation'] ?? ''),
          await ask(mine.id, missing['conversation'] ?? ''),
          await ask(MISSING_ORG, own['conversation'] ?? ''),
        ];
        // A caller without read access learns nothing of what there is to read either.
        expect([caller.name, answers.map((each) => (each.ok ? 'ok' : each.code))]).toEqual([
          caller.name,
          Array(4).fill('resource.not-found'),
        ]);
        expect([caller.name, (await ask(mine.id, own['conversation'] ?? '')).ok]).toEqual([
          caller.name,
          caller.may('conversation:read'),
        ]);
      }
      expect(frames.filter((frame) => frame.includes(canaryOf(theirs)))).toEqual([]);
      expect(frames.some((frame) => frame.includes(canaryOf(mine)))).toBe(true);
    } finally {
      for (const socket of sockets) socket.close();
    }
  });

  it('X11: the same with every filter of the application taken out: row-level security alone holds', async () => {
    const filters = forgetFilters();
    try {
      expect(await proof()).toBeGreaterThan(3_000);
      expect(filters.taken()).toBeGreaterThan(300);
    } finally {
      filters.restore();
    }
  });

  /** Else all of this could pass because nothing was searched for. */
  it('where neither holds, the other organization is seen: what keeps it away are those two, not this test', async () => {
    const unguarded = await ConversationApp.start({ env: ENV, through: async (url) => asOwner(url) });
    const filters = forgetFilters();
    try {
      const seeded = await seedTwoOrgs(unguarded.owner, { conversations: 2 });
      const [here, there] = seeded.orgs;
      const cookie = `keycloak_auth=${await new SessionCookie('test-session-secret-test-session-secret').sign(here.members[0]?.sessionId ?? '', seeded.sessionExpiresAt)}`;
      const owner = new Caller('owner', unguarded.url, { cookie }, null, 'session');
      const { status } = await owner.ask('GET', `/api/v1/orgs/${here.id}/conversations/${there.conversationIds[0]}`);
      expect(status).toBe(200);
    } finally {
      filters.restore();
      await unguarded.close();
    }
  });
});

/** The same database, past row-level security. */
function asOwner(url: string): string {
  const { username, password } = new URL(process.env['TEST_POSTGRES_URL'] ?? 'postgresql://slipway:slipway@127.0.0.1');
  return Object.assign(new URL(url), { username, password }).href;
}
