import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { AppHookState } from '../../app-hooks/app-hooks.js';
import { ProviderClient } from '../../calls/provider-client.js';
import { keepJiraHooks } from './hooks.js';

const DAY_MS = 86_400_000;
const LIFE_DAYS = 30;
const URL_OF_OURS = 'https://slipway.test/api/integration/jira/events/c1';

interface Hook {
  readonly id: number;
  readonly jqlFilter: string;
  readonly url: string;
  expirationDate: number;
}

/** Dynamic webhooks of Jira Cloud: five at most, each of thirty days. */
describe('webhooks of a Jira app', () => {
  let server: Server;
  let base = '';
  let now = Date.parse('2026-11-25T10:00:00Z');
  let hooks: Hook[] = [];
  let keys: string[] = [];
  let asked: string[] = [];
  let next = 1_000;
  beforeAll(async () => {
    server = createServer(async (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://jira');
      const body = JSON.parse((await text(request)) || '{}') as {
        url: string;
        webhookIds: number[];
        webhooks: Array<{ jqlFilter: string }>;
      };
      asked.push(`${request.method} ${pathname}`);
      const json = (status: number, value: unknown): void =>
        void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
      if (pathname === '/project/search') {
        const start = Number(searchParams.get('startAt'));
        return json(200, {
          values: keys.slice(start, start + 50).map((key) => ({ key })),
          isLast: start + 50 >= keys.length,
        });
      }
      hooks = hooks.filter(({ expirationDate }) => expirationDate > now);
      if (request.method === 'GET') return json(200, { values: hooks });
      if (request.method === 'PUT') {
        const expirationDate = now + LIFE_DAYS * DAY_MS;
        for (const hook of hooks) if (body.webhookIds.includes(hook.id)) hook.expirationDate = expirationDate;
        return json(200, { expirationDate: new Date(expirationDate).toISOString().replace('Z', '+0000') });
      }
      if (request.method === 'DELETE') {
        hooks = hooks.filter(({ id }) => !body.webhookIds.includes(id));
        return void response.writeHead(202).end('{}');
      }
      if (hooks.length >= 5) return json(200, { webhookRegistrationResult: [{ errors: ['There are five already.'] }] });
      next += 1;
      hooks.push({
        id: next,
        jqlFilter: body.webhooks[0]?.jqlFilter ?? '',
        url: body.url,
        expirationDate: now + LIFE_DAYS * DAY_MS,
      });
      return json(200, { webhookRegistrationResult: [{ createdWebhookId: next }] });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server?.closeAllConnections();
    server?.close();
  });
  beforeEach(() => {
    [hooks, keys, asked] = [[], ['SHOP', 'OPS'], []];
  });

  const keep = (known: AppHookState | null): Promise<AppHookState> => {
    const api = new ProviderClient({
      baseUrl: base,
      authorization: 'Bearer t',
      dispatch: fetch,
      now: () => new Date(now),
    });
    return keepJiraHooks(api, { url: URL_OF_OURS, known, now: new Date(now) });
  };
  const daysLeft = ({ expiresAt }: AppHookState): number => Math.round((Date.parse(expiresAt ?? '') - now) / DAY_MS);

  it('are made once for all projects, and left alone while they are good', async () => {
    const state = await keep(null);
    expect([state.filter, daysLeft(state), state.problem, hooks.length]).toEqual([
      'project in ("SHOP", "OPS")',
      30,
      null,
      1,
    ]);
    expect(await keep(state)).toEqual(state);
    // Its id was not stored: it is found by its address.
    expect((await keep(null)).ids).toEqual(state.ids);
    expect(asked.filter((each) => each === 'POST /webhook')).toHaveLength(1);
  });

  it('are renewed long before they end, and made again when they are gone', async () => {
    let state = await keep(null);
    for (let day = 0; day < 90; day += 5) {
      now += 5 * DAY_MS;
      state = await keep(state);
      expect(daysLeft(state)).toBeGreaterThanOrEqual(20);
    }
    expect(asked.filter((each) => each === 'POST /webhook')).toHaveLength(1);
    hooks = [];
    const again = await keep(state);
    expect([again.ids[0] !== state.ids[0], hooks.length]).toEqual([true, 1]);
  });

  it('are replaced when there are other projects, the new one before the old one goes', async () => {
    const foreign = {
      id: 1,
      jqlFilter: 'project in ("X")',
      url: 'https://other.test/hook',
      expirationDate: now + DAY_MS,
    };
    hooks = [foreign];
    const state = await keep(null);
    keys = ['SHOP', 'OPS', 'NEW'];
    asked = [];
    const next = await keep(state);
    expect([next.filter, hooks.map(({ id }) => id)]).toEqual([
      'project in ("SHOP", "OPS", "NEW")',
      [1, Number(next.ids[0])],
    ]);
    expect(asked.filter((each) => each.endsWith('/webhook'))).toEqual([
      'GET /webhook',
      'POST /webhook',
      'DELETE /webhook',
    ]);
  });

  it('are missing with a reason where Jira makes none or shows no project, and what is there stays', async () => {
    hooks = Array.from({ length: 5 }, (_, index) => ({
      id: index,
      jqlFilter: 'x',
      url: 'https://other.test/hook',
      expirationDate: now + DAY_MS,
    }));
    expect(await keep(null)).toMatchObject({
      ids: [],
      expiresAt: null,
      problem: 'Jira makes no webhook: There are five already.',
    });
    expect(hooks).toHaveLength(5);
    keys = [];
    expect(await keep(null)).toMatchObject({ ids: [], problem: 'The account sees no project.' });
  });
});
