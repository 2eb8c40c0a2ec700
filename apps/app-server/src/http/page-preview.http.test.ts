import { randomBytes } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ConversationEvent } from '@slipway/contracts/events';
import { MAX_PREVIEW_LENGTH, PagePreview, PREVIEW_HEADER } from '@slipway/contracts/operate';
import { ConversationApp, thought, type User } from '../testing/conversation-app.js';

const asked = (text: string): ConversationEvent => {
  const event = thought(text);
  return {
    ...event,
    source: 'user',
    llm_message: { role: 'user', content: [{ type: 'text', text }] },
  } as ConversationEvent;
};

describe('what a page begins with', () => {
  let app: ConversationApp;
  let web: Server;
  let seen: IncomingHttpHeaders = {};
  let reader: User;
  let id: string;

  beforeAll(async () => {
    web = createServer((request, response) => {
      seen = request.headers;
      response
        .writeHead(200, { 'content-type': 'text/html', 'cache-control': 'public, max-age=60' })
        .end('<h1>a page</h1>');
    });
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
    app = await ConversationApp.start({ env: { WEB_URL: `http://127.0.0.1:${(web.address() as AddressInfo).port}` } });
    reader = await app.user('Reader');
    ({ id } = await app.conversation(reader, 'Mend the importer'));
    await app.started(id);
    await app.ingest(reader, id, [
      { producerSeq: 1, event: asked('Mend the importer') },
      { producerSeq: 2, event: thought('It keeps the last row now.') },
    ]);
  });
  afterAll(async () => {
    await app?.close();
    web?.closeAllConnections();
    web?.close();
  });

  /** Opens a page, and returns the headers that the pages' server got. */
  const open = async (path: string, headers: Record<string, string>) => {
    const response = await fetch(`${app.url}${path}`, { headers: { accept: 'text/html', ...headers } });
    expect(response.status).toBe(200);
    const value = seen[PREVIEW_HEADER];
    const preview =
      value === undefined
        ? null
        : PagePreview.parse(JSON.parse(inflateRawSync(Buffer.from(String(value), 'base64url')).toString()));
    return {
      preview,
      length: String(value ?? '').length,
      cacheControl: response.headers.get('cache-control'),
      cookie: seen.cookie,
    };
  };

  it('is its reader and the conversation, kept by no cache; the pages still see no session', async () => {
    const { preview, cacheControl, cookie } = await open(`/${reader.orgId}/conversations/${id}?tab=files`, {
      cookie: `${reader.cookie}; theme=dark`,
    });
    expect(preview).toMatchObject({
      me: { id: reader.userId, orgs: [{ id: reader.orgId }] },
      conversation: {
        snapshot: { id, title: 'Mend the importer', head: 2 },
        rows: [
          { kind: 'message', author: 'user', text: 'Mend the importer', cut: false },
          { kind: 'message', author: 'agent', text: 'It keeps the last row now.', cut: false },
        ],
      },
    });
    expect(cacheControl).toBe('private, no-store');
    expect(cookie?.trim()).toBe('theme=dark');
  });

  it('is its reader alone where there is no conversation, or one that they may not see', async () => {
    const stranger = await app.user('Stranger');
    const visits: ReadonlyArray<readonly [string, User]> = [
      [`/${reader.orgId}`, stranger],
      [`/${reader.orgId}/conversations`, reader],
      ['/settings/profile', reader],
      [`/${reader.orgId}/conversations/${id}`, stranger],
      [`/${reader.orgId}/conversations/${id}/review`, stranger],
      [`/${stranger.orgId}/conversations/${id}`, stranger],
    ];
    for (const [path, user] of visits) {
      const { preview, cacheControl } = await open(path, { cookie: user.cookie, [PREVIEW_HEADER]: 'AAAA' });
      expect({ path, preview }).toMatchObject({
        path,
        preview: { me: { id: user.userId }, desk: null, conversation: null },
      });
      expect(cacheControl).toBe('private, no-store');
    }
  });

  it('is nothing for a forged or ended session, a page of nobody, a script, or who sends one of their own', async () => {
    const page = `/${reader.orgId}/conversations/${id}`;
    const gone = await app.user();
    await app.owner.query('DELETE FROM app.session WHERE id = $1', [gone.sessionId]);
    const own = { [PREVIEW_HEADER]: 'AAAA' };
    const visits: ReadonlyArray<readonly [string, Record<string, string>]> = [
      [page, own],
      [page, { ...own, cookie: gone.cookie }],
      [page, { ...own, cookie: 'keycloak_auth=forged' }],
      ['/login', { ...own, cookie: reader.cookie }],
      ['/device?user_code=A', { ...own, cookie: reader.cookie }],
      [page, { ...own, cookie: reader.cookie, rsc: '1' }],
      [page, { ...own, cookie: reader.cookie, accept: '*/*' }],
      [page, { cookie: `${reader.cookie}; long=${'x'.repeat(7_000)}` }],
    ];
    for (const [path, headers] of visits)
      expect({ path, headers, preview: (await open(path, headers)).preview }).toEqual({ path, headers, preview: null });
  });

  it('is the Desk of the organization on its own page', async () => {
    const { preview } = await open(`/${reader.orgId}?a=b`, { cookie: reader.cookie });
    expect(preview).toMatchObject({
      me: { id: reader.userId },
      desk: { rows: [{ conversation: { id, title: 'Mend the importer' } }] },
      conversation: null,
    });
  });

  it('is the reader alone when the Desk is longer than a header', async () => {
    const busy = await app.user('Busy');
    await app.owner.query(
      `INSERT INTO app.conversation
         (id, org_id, created_by, created_by_label, title, model, epoch, attempt, status, start_status, sandbox_status,
          status_state)
       SELECT gen_random_uuid(), $1, $2, 'Busy', md5(n::text) || md5((-n)::text), 'none', 1, 1, 'working', 'READY',
              'RUNNING', '{"execution":"running","start":"ready","halt":"none"}' FROM generate_series(1, 150) n`,
      [busy.orgId, busy.userId],
    );
    const { preview } = await open(`/${busy.orgId}`, { cookie: busy.cookie });
    expect(preview).toMatchObject({ me: { id: busy.userId }, desk: null });
  });

  it('is the conversation without its text for its review', async () => {
    const { preview } = await open(`/${reader.orgId}/conversations/${id}/review?file=a`, { cookie: reader.cookie });
    expect(preview).toMatchObject({ me: { id: reader.userId }, conversation: { snapshot: { id }, rows: [] } });
  });

  it('is the newest text when not all of it fits', async () => {
    const { id: long } = await app.conversation(reader, 'Long');
    await app.started(long);
    const texts = Array.from({ length: 40 }, (_, index) => `${index} ${randomBytes(3_000).toString('base64')}`);
    await app.ingest(
      reader,
      long,
      texts.map((text, index) => ({ producerSeq: index + 1, event: thought(text) })),
    );
    const { preview, length } = await open(`/${reader.orgId}/conversations/${long}`, { cookie: reader.cookie });
    expect(length).toBeLessThanOrEqual(MAX_PREVIEW_LENGTH);
    expect(preview?.conversation?.rows.length).toBeGreaterThan(1);
    expect(preview?.conversation?.rows.at(-1)).toMatchObject({ text: texts.at(-1)?.slice(0, 1_500), cut: true });
    expect(preview?.me).toMatchObject({ id: reader.userId });
  });

  it('is nothing of a reader of more organizations than a header holds', async () => {
    const many = await app.user('Many');
    await app.owner.query(
      `WITH org AS (
         INSERT INTO app.org (id, slug, name, kind)
         SELECT 'org_' || n, 'many-' || n, md5(n::text) || md5((n + 1000)::text), 'team' FROM generate_series(1, 200) n
         RETURNING id
       ) INSERT INTO app.membership (org_id, user_id, role) SELECT id, $1, 'member' FROM org`,
      [many.userId],
    );
    expect((await open(`/${many.orgId}`, { cookie: many.cookie })).preview).toBeNull();
  });
});
