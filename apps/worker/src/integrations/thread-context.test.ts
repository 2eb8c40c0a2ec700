import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Envelope, integrationSecretContext } from '@slipway/auth/envelope';
import { SecretBox } from '@slipway/auth/secret-box';
import { insertConversation } from '@slipway/db/conversations';
import { createPool, inOrg, type SqlPool } from '@slipway/db/sql';
import { systemClock } from '@slipway/domain';
import { type Intent, PROVIDERS } from '@slipway/integrations';
import { ConnectionCredentials } from '@slipway/integrations/credentials';
import type { StoredConnection } from '@slipway/integrations/deliveries';
import { ProviderDispatch } from '@slipway/integrations/dispatch';
import { createLogger, currentTraceparent } from '@slipway/telemetry';
import type { TestDatabase } from '@slipway/testing';
import pg from 'pg';
import { queueDatabase, SECRET } from '../testing/harness.js';
import { addMessage, claimThread } from './acts.queries.js';
import { ConnectionCalls } from './connection-calls.js';
import { type ThreadContext, ThreadReader } from './thread-context.js';

const ORG = 'org_context';
const CONNECTION = '0c8f6f0a-64a8-4a0e-9d0f-5b1f8f2b7a12';
const PROVIDER_CASES = ['gitea', 'github', 'gitlab'] as const;
type Case = (typeof PROVIDER_CASES)[number];

/** A host that says what it is made to say, by the path of the request. */
describe('earlier messages of a thread', () => {
  let database: TestDatabase;
  let pool: SqlPool;
  let owner: pg.Client;
  let server: Server;
  let host: string;
  let dispatch: ProviderDispatch;
  let answers: Record<string, readonly [number, unknown]> = {};
  let asked: string[] = [];

  beforeAll(async () => {
    database = await queueDatabase();
    pool = createPool({ url: database.urls.app, max: 3, applicationName: 'test', onError: () => {} });
    owner = new pg.Client({ connectionString: database.ownerUrl });
    await owner.connect();
    server = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? '/', 'http://host');
      const found = Object.entries(answers).find(([end]) => pathname.endsWith(end));
      const [status, body] = found?.[1] ?? [404, {}];
      response
        .writeHead(status, { 'content-type': 'application/json' })
        .end(typeof body === 'string' ? body : JSON.stringify(body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    dispatch = new ProviderDispatch([host]);
    await owner.query(`INSERT INTO app.org (id, slug, name, kind) VALUES ($1, 'context', 'Context', 'personal')`, [
      ORG,
    ]);
    await owner.query(
      `INSERT INTO app.integration_connection (id, org_id, provider, kind, name, host, signature, own, settings, created_by, created_by_label)
       VALUES ($1, $2, 'gitea', 'token', 'n', $3, 'sha256', '{}', '{}', 'u', 'u')`,
      [CONNECTION, ORG, host],
    );
    const place = { id: 'secret-2', connectionId: CONNECTION, kind: 'token' };
    const { bytes, keyVersion } = await new Envelope(pool, new SecretBox(SECRET), systemClock).seal(
      ORG,
      'tok-2',
      integrationSecretContext(place),
    );
    await owner.query(
      'INSERT INTO app.integration_secret (id, org_id, connection_id, kind, sealed, key_version) VALUES ($1, $2, $3, $4, $5, $6)',
      [...[place.id, ORG, CONNECTION, place.kind], bytes, keyVersion],
    );
  });
  afterAll(async () => {
    await dispatch?.close();
    server?.closeAllConnections();
    server?.close();
    await pool?.end();
    await owner?.end();
    await database?.close();
  });
  beforeEach(() => {
    [answers, asked] = [{}, []];
  });

  const read = (provider: Case, more: Partial<Intent> = {}, fresh = true): Promise<ThreadContext> => {
    const calls = new ConnectionCalls(
      new ConnectionCredentials(pool, new Envelope(pool, new SecretBox(SECRET), systemClock)),
      dispatch,
      systemClock,
    );
    const ask = (_org: string, _connection: StoredConnection, { actor }: { actor: { login: string } }) => {
      asked.push(actor.login);
      return Promise.resolve({
        access: actor.login.startsWith('writer') ? ('write' as const) : ('none' as const),
        why: null,
      });
    };
    const reader = new ThreadReader(
      pool,
      new Map(Object.entries(PROVIDERS)),
      calls,
      ask,
      createLogger('test', 'silent'),
    );
    const connection = {
      id: CONNECTION,
      provider,
      host,
      own: { ids: ['99'] },
      settings: { baseUrl: `http://${host}` },
    } as unknown as StoredConnection;
    const place =
      provider === 'gitlab' ? { project: '7', iid: 3, on: 'merge_requests' } : { repository: 'acme/shop', number: 3 };
    const actor = { id: '1', login: 'mia', kind: 'user' };
    const intent = {
      ...{ actor, repository: { fullName: 'acme/shop' }, subject: null },
      thread: { kind: 'pull-request', key: 't', place },
      instruction: { id: '10', text: '@slipway go', author: actor },
      ...more,
    } as unknown as Intent;
    return reader.read(ORG, connection, { intent, fresh }, new AbortController().signal);
  };
  const user = (id: number, login: string): object => ({ id, login });
  const comment = (id: number, login: string, body: string, from = id): object => ({
    id,
    body,
    user: user(from, login),
    created_at: `2026-11-24T03:00:${id}Z`,
  });

  it('is read at each git host: comments, reviews and lines by time, without the request itself and our own reports', async () => {
    const all = [
      comment(10, 'mia', '@slipway go', 1),
      comment(11, 'writer', 'Only on Firefox.'),
      comment(12, 'slipway', 'Working', 99),
    ];
    const review = { ...comment(14, 'eve', 'Not yet.'), submitted_at: '2026-11-24T03:00:14Z', comments_count: 1 };
    const line = { ...comment(13, 'writer-two', 'Why two?'), path: 'total.js', position: 4, diff_hunk: '@@' };
    const expected = [
      ['writer', 'Only on Firefox.', null],
      ['writer-two', 'Why two?', 4],
      ['eve', 'Not yet.', null],
    ];
    const seen = ({ said }: ThreadContext): unknown[] =>
      said.map(({ passage, lines }) => [passage.author.login, passage.text, lines?.line ?? null]);
    answers = {
      '/issues/3/comments': [200, all],
      '/reviews/14/comments': [200, [line, { ...line, id: 15, resolver: user(5, 'x') }]],
      '/reviews': [200, [review]],
    };
    const gitea = await read('gitea');
    expect([seen(gitea), gitea.incomplete]).toEqual([expected, null]);
    expect(asked.sort()).toEqual(['eve', 'writer', 'writer-two']);
    expect([...gitea.authorities].sort()).toEqual([
      ['1', 'write'],
      ['11', 'write'],
      ['13', 'write'],
      ['99', 'ours'],
    ]);
    answers = {
      '/issues/3/comments': [200, all],
      '/pulls/3/comments': [200, [{ ...line, position: null, line: 4 }]],
      '/reviews': [200, [review]],
    };
    expect(seen(await read('github'))).toEqual(expected);
    const note = (id: number, username: string, body: string, more: object = {}): object => ({
      ...{ id, body, created_at: `2026-11-24T03:00:${id}Z`, author: { id, username } },
      ...more,
    });
    answers = {
      '/merge_requests/3/notes': [
        200,
        [
          note(17, 'x', 'only for us', { internal: true }),
          note(16, 'x', 'changed the title', { system: true }),
          note(15, 'x', 'done', { resolved: true }),
          note(13, 'writer-two', 'Why two?', { position: { new_path: 'total.js', new_line: 4 } }),
          note(11, 'writer', 'Only on Firefox.'),
        ],
      ],
    };
    expect(seen(await read('gitlab'))).toEqual(expected.slice(0, 2));
  });

  it('is what was said since the conversation was last asked there', async () => {
    const id = '01a20c0c-9503-7e4e-a28e-84df1a702fa7';
    const thread = {
      kind: 'issue',
      key: 'old',
      place: { repository: 'acme/shop', number: 3 },
      url: null,
      title: 't',
      confidential: false,
      state: 'open',
    } as const;
    await inOrg(pool, ORG, async (client) => {
      await claimThread(client, ORG, { connectionId: CONNECTION, thread, conversationId: id });
      await insertConversation(client, ORG, {
        ...{
          id,
          message: { id: randomUUID(), text: 'x' },
          by: { id: 'u', label: 'u' },
          title: 't',
          repository: null,
          branch: null,
          environment: null,
        },
        ...{
          confirmation: 'never',
          agentType: 'default',
          maxIterations: null,
          maxBudgetUsd: null,
          model: 'm',
          traceparent: currentTraceparent(),
          outboxId: randomUUID(),
        },
      });
    });
    const since = { ...comment(12, 'writer', 'Since then.'), created_at: '2999-01-01T00:00:00Z' };
    answers = { '/issues/3/comments': [200, [comment(11, 'writer', 'Long ago.'), since]] };
    const texts = async (fresh: boolean): Promise<string[]> =>
      (await read('gitea', { thread }, fresh)).said.map(({ passage }) => passage.text);
    // What was asked on our own page was not asked in the thread.
    expect(await texts(false)).toEqual(['Long ago.', 'Since then.']);
    const ask = (key: string): Promise<void> =>
      inOrg(pool, ORG, (client) =>
        addMessage(client, ORG, id, {
          id: randomUUID(),
          text: 'asked there',
          by: { id: 'u', label: 'u' },
          thread: { connectionId: CONNECTION, key },
        }),
      );
    await ask('another');
    expect(await texts(false)).toHaveLength(2);
    await ask('old');
    expect([await texts(false), await texts(true)]).toEqual([['Since then.'], ['Long ago.', 'Since then.']]);
  });

  it('does not block when the host is away, limits calls, lies or says far too much, and says that there is more', async () => {
    for (const [status, body, incomplete] of [
      [500, {}, 'the provider did not answer as it should'],
      [429, {}, 'the provider limits our calls'],
      [200, { not: 'a list' }, 'the provider did not answer as it should'],
      [200, '[', 'the provider did not answer as it should'],
      [200, [comment(11, 'x'.repeat(2_000), 'x')], 'the provider did not answer as it should'],
    ] as const) {
      answers = { '/issues/3/comments': [status, body], '/reviews': [200, []] };
      expect(await read('gitea')).toMatchObject({ said: [], incomplete });
    }
  });

  it('adversary: many strangers in a thread cost ten questions about rights, and are outsiders', async () => {
    answers = {
      '/issues/3/comments': [200, Array.from({ length: 40 }, (_, at) => comment(at + 10, `writer-${at}`, 'me too'))],
      '/reviews': [200, []],
    };
    const { said, authorities } = await read('gitea');
    expect([said.length, asked.length, authorities.has('10'), authorities.get('49')]).toEqual([39, 10, false, 'write']);
  });
});
