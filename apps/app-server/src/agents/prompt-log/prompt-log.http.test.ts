import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { LoggedPrompt, PromptPage } from '@slipway/contracts/models';
import { ConversationApp, type User } from '../../testing/conversation-app.js';

const entry = (asked: string): LoggedPrompt => ({
  id: randomUUID(),
  at: '2026-11-22T10:00:00.000Z',
  conversationId: randomUUID(),
  userId: null,
  requestId: 'req_1',
  model: 'm',
  outcome: 'ok',
  asked,
  answered: 'an answer',
});

describe('the log of prompts', () => {
  let gateway: Server;
  let mode: string;
  let pages: Record<string, PromptPage>;
  let app: ConversationApp;
  let [owner, admin, member]: User[] = [];
  beforeAll(async () => {
    gateway = createServer((request, response) => {
      const url = new URL(request.url ?? '', 'http://gateway');
      const found = url.pathname === '/internal/prompt-log' ? { mode } : pages[url.searchParams.get('after') ?? ''];
      response
        .writeHead(found === undefined ? 503 : 200, { 'content-type': 'application/json' })
        .end(JSON.stringify(found ?? {}));
    });
    await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
    app = await ConversationApp.start({
      env: { LLM_GATEWAY_URL: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}` },
    });
    [owner, admin, member] = [await app.user(), await app.user(), await app.user()];
    await app.owner.query(
      "INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'admin'), ($1, $3, 'member')",
      [owner.orgId, admin.userId, member.userId],
    );
  });
  afterAll(async () => {
    await app?.close();
    gateway?.closeAllConnections();
    gateway?.close();
  });

  const at = (rest: string): string => `/api/v1/orgs/${owner?.orgId}/${rest}`;
  const set = (user: User | undefined, promptLogDays: number | null) =>
    app.http<{ code?: string; promptLogDays?: number | null }>(user ?? null, 'PATCH', at('settings'), {
      promptLogDays,
    });

  it('is off until an owner says for how many days, which every member can read and the audit has', async () => {
    mode = 'by-policy';
    expect((await set(admin, 7)).body).toMatchObject({ code: 'permission.denied' });
    expect([(await set(member, 7)).status, (await set(owner, 0)).status, (await set(owner, 366)).status]).toEqual([
      403, 400, 400,
    ]);
    expect((await app.http(member ?? null, 'GET', at('settings'))).body).toMatchObject({ promptLogDays: null });
    expect((await set(owner, 7)).body).toMatchObject({ promptLogDays: 7 });
    expect((await app.http(member ?? null, 'GET', at('settings'))).body).toMatchObject({ promptLogDays: 7 });
    expect((await set(admin, null)).status).toBe(403);
    const { rows } = await app.owner.query("SELECT before, after FROM app.audit_entry WHERE action = 'setting.update'");
    expect(rows).toEqual([{ before: { promptLogDays: null }, after: { promptLogDays: 7 } }]);
  });

  it('cannot be turned on where the installation keeps none, and can always be turned off', async () => {
    mode = 'never';
    expect(await set(owner, 8)).toMatchObject({ status: 409, body: { code: 'settings.not-here' } });
    mode = 'nonsense';
    expect((await set(owner, 8)).status).toBe(503);
    expect((await set(owner, null)).body).toMatchObject({ promptLogDays: null });
  });

  it('is exported by admins as lines, page after page, with an entry in the audit, and not by members', async () => {
    pages = { '': { data: [entry('one'), entry('two')], next: 'next' }, next: { data: [entry('three')], next: null } };
    const exported = (user: User | undefined) =>
      fetch(`${app.url}${at('prompt-log/export?from=2026-11-01T00:00:00.000Z')}`, {
        headers: { cookie: user?.cookie ?? '' },
      });
    expect((await exported(member)).status).toBe(403);
    const answer = await exported(admin);
    expect([answer.status, answer.headers.get('content-type'), answer.headers.get('cache-control')]).toEqual([
      200,
      'application/x-ndjson',
      'no-store',
    ]);
    const lines = (await answer.text()).trim().split('\n');
    expect(
      lines
        .map((line) => JSON.parse(line) as { asked?: string; count?: number })
        .map(({ asked, count }) => asked ?? count),
    ).toEqual(['one', 'two', 'three', 3]);
    const { rows } = await app.owner.query(
      "SELECT actor_id, detail FROM app.audit_entry WHERE action = 'prompt-log.export'",
    );
    expect(rows).toEqual([{ actor_id: admin?.userId, detail: { from: '2026-11-01T00:00:00.000Z' } }]);
  });

  it('says so when the gateway does not answer, and breaks off without the last line when it fails on the way', async () => {
    pages = {};
    const answer = await fetch(`${app.url}${at('prompt-log/export')}`, { headers: { cookie: owner?.cookie ?? '' } });
    expect(answer.status).toBe(503);
    pages = { '': { data: [entry('one')], next: 'gone' } };
    const cut = await fetch(`${app.url}${at('prompt-log/export')}`, { headers: { cookie: owner?.cookie ?? '' } });
    const text = await cut.text().catch(() => '');
    expect(text).not.toContain('"kind":"end"');
  });
});
