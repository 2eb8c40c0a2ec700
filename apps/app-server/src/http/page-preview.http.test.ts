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

describe('the page of a conversation begins with its text', () => {
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

  it('that its reader may read, kept by no cache; the pages still see no session', async () => {
    const { preview, cacheControl, cookie } = await open(`/${reader.orgId}/conversations/${id}?tab=files`, {
      cookie: `${reader.cookie}; theme=dark`,
    });
    expect(preview).toMatchObject({
      conversation: id,
      rows: [
        { kind: 'message', author: 'user', text: 'Mend the importer', cut: false },
        { kind: 'message', author: 'agent', text: 'It keeps the last row now.', cut: false },
      ],
    });
    expect(cacheControl).toBe('private, no-store');
    expect(cookie?.trim()).toBe('theme=dark');
  });

  it('and with nothing for a stranger, a forged or ended session, another page, a script, or a caller who sends a preview of their own', async () => {
    const page = `/${reader.orgId}/conversations/${id}`;
    const stranger = await app.user();
    const gone = await app.user();
    await app.owner.query('DELETE FROM app.session WHERE id = $1', [gone.sessionId]);
    const own = { [PREVIEW_HEADER]: 'AAAA' };
    const visits: ReadonlyArray<readonly [string, Record<string, string>]> = [
      [page, own],
      [page, { ...own, cookie: stranger.cookie }],
      [page, { ...own, cookie: gone.cookie }],
      [page, { ...own, cookie: 'keycloak_auth=forged' }],
      [`/${stranger.orgId}/conversations/${id}`, { ...own, cookie: stranger.cookie }],
      [`/${reader.orgId}/conversations`, { ...own, cookie: reader.cookie }],
      [page, { ...own, cookie: reader.cookie, rsc: '1' }],
      [page, { ...own, cookie: reader.cookie, accept: '*/*' }],
      [page, { cookie: `${reader.cookie}; long=${'x'.repeat(7_000)}` }],
    ];
    for (const [path, headers] of visits)
      expect({ path, headers, preview: (await open(path, headers)).preview }).toEqual({ path, headers, preview: null });
  });

  it('of which the newest is there when not all of it fits', async () => {
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
    expect(preview?.rows.length).toBeGreaterThan(1);
    expect(preview?.rows.at(-1)).toMatchObject({ text: texts.at(-1)?.slice(0, 1_500), cut: true });
  });
});
