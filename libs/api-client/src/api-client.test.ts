import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Me } from '@slipway/contracts/organizations';
import { ApiError, createApiClient, downloadUrls } from './index.js';

describe('the API client', () => {
  let answer: (request: IncomingMessage, response: ServerResponse) => void;
  const server = createServer((request, response) => answer(request, response));
  let baseUrl: string;
  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const keys = ['first', 'second', 'third'];
  const client = (more: { timeoutMs?: number; apiKey?: string } = {}) =>
    createApiClient({
      baseUrl,
      newKey: () => keys.shift() ?? 'none left',
      headers: () => ({ traceparent: 'trace' }),
      ...more,
    });
  const json = (response: ServerResponse, status: number, body: unknown): void =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  const failure = async (call: Promise<unknown>): Promise<ApiError> => {
    const error = await call.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(ApiError);
    return error as ApiError;
  };

  it('sends parameters encoded, the body as JSON, and a new key with each keyed request unless one is given', async () => {
    const seen: unknown[] = [];
    answer = async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      seen.push([
        request.method,
        request.url,
        request.headers['idempotency-key'],
        request.headers['traceparent'],
        body,
      ]);
      json(response, 202, { id: 'x' });
    };
    const message = { org: 'a/b', conversation: 'c d', body: { text: 'hello' } };
    await client().sendMessage(message);
    await client().sendMessage({ ...message, idempotencyKey: 'mine' });
    await client().listConversations({ org: 'o', query: { limit: 5 } });
    await client()
      .withdrawMessage({ org: 'o', conversation: 'c', message: 'm' })
      .catch(() => undefined);
    const path = '/api/v1/orgs/a%2Fb/conversations/c%20d/messages';
    expect(seen).toEqual([
      ['POST', path, 'first', 'trace', '{"text":"hello"}'],
      ['POST', path, 'mine', 'trace', '{"text":"hello"}'],
      ['GET', '/api/v1/orgs/o/conversations?limit=5', undefined, 'trace', ''],
      ['DELETE', '/api/v1/orgs/o/conversations/c/messages/m', undefined, 'trace', ''],
    ]);
    expect(downloadUrls.downloadDiff({ org: 'o', conversation: 'c', query: { path: 'a b&c' } })).toBe(
      '/api/v1/orgs/o/conversations/c/diff?path=a+b%26c',
    );
  });

  it('authenticates by an API key when it has one', async () => {
    const seen: unknown[] = [];
    answer = (request, response) => {
      seen.push(request.headers.authorization);
      json(response, 200, {});
    };
    await client().me();
    await client({ apiKey: 'slp_key' }).me();
    expect(seen).toEqual([undefined, 'Bearer slp_key']);
  });

  it('fills what an app-server of an earlier version does not say, as the page would have it, and leaves what is said', async () => {
    // `/me` of commit 738cda721038, the version before this one in tests/rolling/previous.test.ts.
    const org = {
      id: 'org_1',
      slug: 'demo',
      name: 'Demo',
      kind: 'personal',
      role: 'owner',
      permissions: ['conversation:create'],
    };
    const earlier = {
      id: 'user_1',
      name: 'Demo',
      email: 'demo@example.com',
      orgs: [org, { ...org, id: 'org_2', deletesAt: '2026-11-24T10:00:00.000Z' }],
    };
    answer = (_, response) => json(response, 200, earlier);
    const me = await client().me();
    expect(me).toEqual({
      ...earlier,
      analytics: { host: null },
      auth: { kind: 'session' },
      emailVerified: true,
      flags: {},
      gates: [],
      terms: null,
      orgs: [
        { ...earlier.orgs[0], deletesAt: null, needs: null },
        { ...earlier.orgs[1], needs: null },
      ],
    });
    expect(Me.parse(earlier)).toEqual(me);
    answer = (_, response) =>
      json(response, 200, { ...earlier, gates: ['email-unverified'], emailVerified: false, terms: null });
    expect(await client().me()).toMatchObject({ gates: ['email-unverified'], emailVerified: false, terms: null });
  });

  it('rejects with the problem that the server described', async () => {
    answer = (_, response) =>
      json(response, 409, {
        type: '/errors/conversation.busy',
        title: 't',
        status: 409,
        detail: 'It runs.',
        code: 'conversation.busy',
        retry: 'later',
      });
    const error = await failure(client().me());
    expect([error.code, error.status, error.message]).toEqual(['conversation.busy', 409, 'It runs.']);
  });

  it('makes a problem of a proxy’s own page, of no answer, and of a cut one', async () => {
    answer = (_, response) => void response.writeHead(502).end('<html>bad gateway');
    expect((await failure(client().me())).code).toBe('service.unavailable');
    answer = (request) => void request.socket.destroy();
    expect((await failure(client().me())).code).toBe('service.unavailable');
    answer = (_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{"half');
    expect((await failure(client().me())).code).toBe('service.unavailable');
    answer = () => {};
    expect((await failure(client({ timeoutMs: 50 }).me())).message).toContain('0.05 s');
  });

  it('ends with the signal’s own reason when the caller gives up', async () => {
    answer = () => {};
    const abort = new AbortController();
    const call = client().me({ signal: abort.signal });
    abort.abort(new Error('left the page'));
    await expect(call).rejects.toThrow('left the page');
  });

  it('gives a download as a stream that may take longer than the answer’s beginning', async () => {
    answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/x-diff' }).write('first ');
      setTimeout(() => response.end('second'), 1_500);
    };
    const response = await client({ timeoutMs: 1_000 }).downloadDiff({ org: 'o', conversation: 'c' });
    expect(await response.text()).toBe('first second');
  });
});
