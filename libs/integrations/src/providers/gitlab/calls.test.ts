import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ProviderClient } from '../../calls/provider-client.js';
import { gitlabPermission } from './calls.js';
import { gitlab } from './index.js';

const NOW = new Date('2026-11-24T03:00:00Z');
const ANSWER = { state: 'done' as const, headline: 'Done.', said: '@root /close', links: [], marker: 'm1' };
const ISSUE = { project: '7', iid: 12, on: 'issues' };
const actor = { id: '41', login: 'mia', kind: 'user' as const };

/** GitLab's answers as its documentation has them; no real one can be had here. */
describe('calls of GitLab', () => {
  let server: Server;
  let base = '';
  let calls: string[] = [];
  let answers: Array<readonly [number, unknown]> = [];

  beforeAll(async () => {
    server = createServer(async (request: IncomingMessage, response) => {
      let body = '';
      for await (const part of request) body += String(part);
      calls.push([request.method, request.url, request.headers.authorization, body].filter(Boolean).join(' '));
      const [status, answer] = answers.shift() ?? [500, {}];
      response.writeHead(status).end(JSON.stringify(answer));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    base = gitlab.answers?.apiUrl(`http://127.0.0.1:${(server.address() as AddressInfo).port}`) ?? '';
  });
  afterAll(() => {
    server?.closeAllConnections();
    server?.close();
  });
  beforeEach(() => {
    [calls, answers] = [[], []];
  });

  const client = (): ProviderClient =>
    new ProviderClient({
      baseUrl: base,
      authorization: gitlab.answers?.authorization('glpat-1') ?? '',
      dispatch: fetch,
      now: () => NOW,
    });
  const threads = () => (gitlab.answers as NonNullable<typeof gitlab.answers>).calls(client(), 'https://gitlab.test');

  it('give eyes to the issue or to the note that asked, once', async () => {
    answers = [
      [201, { id: 1 }],
      [404, { message: '404 Award Emoji Name has already been taken Not Found' }],
      [404, { message: '404 Not found' }],
    ];
    await threads().acknowledge(ISSUE, { kind: 'subject' }, 'deed');
    await threads().acknowledge({ ...ISSUE, on: 'merge_requests' }, { kind: 'review-comment', id: '302' }, 'deed');
    await expect(threads().acknowledge(ISSUE, { kind: 'comment', id: '303' }, 'deed')).rejects.toMatchObject({
      kind: 'missing',
    });
    expect(calls).toEqual([
      'POST /api/v4/projects/7/issues/12/award_emoji Bearer glpat-1 {"name":"eyes"}',
      'POST /api/v4/projects/7/merge_requests/12/notes/302/award_emoji Bearer glpat-1 {"name":"eyes"}',
      'POST /api/v4/projects/7/issues/12/notes/303/award_emoji Bearer glpat-1 {"name":"eyes"}',
    ]);
  });

  it('write one note and edit it, without a command or a mention of the agent, and to those alone who may read what is confidential', async () => {
    answers = [
      [201, { id: 900 }],
      [200, { id: 900 }],
      [201, { id: 901 }],
    ];
    expect(await threads().post(ISSUE, ANSWER)).toEqual({ id: '900', url: null });
    await threads().update(ISSUE, '900', { ...ANSWER, headline: 'Done now.' });
    await threads().post({ ...ISSUE, internal: 1 }, ANSWER);
    expect(calls.map((call) => call.split(' Bearer glpat-1 ')[0])).toEqual([
      'POST /api/v4/projects/7/issues/12/notes',
      'PUT /api/v4/projects/7/issues/12/notes/900',
      'POST /api/v4/projects/7/issues/12/notes',
    ]);
    const bodies = calls.map(
      (call) => JSON.parse(call.slice(call.indexOf('{'))) as { body: string; internal?: boolean },
    );
    expect(bodies.map(({ internal }) => internal)).toEqual([undefined, undefined, true]);
    for (const { body } of bodies) expect(body).toMatch(/^<!-- slipway:m1 -->\nDone[^\n]*\n\n> @\u2060root \/close$/);
  });

  it('find our note again, before any copy of its marker, and none of before', async () => {
    const note = (id: number, body: string, minutes: number): object => ({
      id,
      body,
      created_at: new Date(NOW.getTime() - minutes * 60_000).toISOString(),
    });
    const page = Array.from({ length: 100 }, (_, index) =>
      note(2_000 - index, index === 0 ? 'copy slipway:m1' : 'x', 1),
    );
    answers = [
      [200, page],
      [200, [note(900, '<!-- slipway:m1 -->', 2), note(899, 'slipway:m1', 30)]],
      [200, []],
    ];
    const since = new Date(NOW.getTime() - 10 * 60_000);
    expect(await threads().find(ISSUE, 'm1', since)).toEqual({ id: '900', url: null });
    expect(await threads().find(ISSUE, 'm1', since)).toBe(null);
    expect(calls[0]).toContain('/notes?order_by=created_at&sort=desc&per_page=100&page=1 ');
  });

  it('ask who may write by the id of the actor, and treat non-members as without rights', async () => {
    const rows: readonly [number, unknown, string][] = [
      [200, { id: 41, access_level: 40, state: 'active' }, 'admin'],
      [200, { id: 41, access_level: 30, state: 'active' }, 'write'],
      [200, { id: 41, access_level: 20, state: 'active' }, 'read'],
      [200, { id: 41, access_level: 50, state: 'awaiting' }, 'none'],
      [404, { message: '404 Not found' }, 'none'],
    ];
    for (const [status, body, access] of rows) {
      answers = [[status, body]];
      expect(await gitlabPermission(client(), 'acme/sub/shop', actor)).toEqual({ userId: '41', access });
    }
    expect(calls[0]).toBe('GET /api/v4/projects/acme%2Fsub%2Fshop/members/all/41 Bearer glpat-1');
    answers = [[403, {}]];
    await expect(gitlabPermission(client(), 'acme/shop', actor)).rejects.toMatchObject({ kind: 'forbidden' });
  });

  it('refuse a place that is none of theirs', async () => {
    for (const place of [
      { repository: 'acme/shop', number: 1 },
      { ...ISSUE, on: '../../users' },
    ])
      await expect(threads().post(place as unknown as typeof ISSUE, ANSWER)).rejects.toThrow();
    expect(calls).toEqual([]);
  });
});
