import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type GatewayDeployment, ModelDeploymentList } from '@slipway/contracts/models';
import { ConversationApp, type User } from '../../testing/conversation-app.js';

const PLACE: GatewayDeployment = {
  id: 'sonnet/1',
  model: 'sonnet',
  provider: 'anthropic',
  provider_model: 'claude-sonnet-4-5',
  region: null,
  weight: 1,
  state: 'open',
  open_for: 30,
  cools_down: true,
  in_flight: 2,
  calls: 9,
  failures: 3,
  first_byte_ms: 400,
  first_byte_p50_ms: 350,
  last_failure: { code: 'model.rate-limited', detail: 'what was said to another organization', seconds_ago: 60 },
};

describe('the places that answer to models', () => {
  let gateway: Server;
  let answer: { status: number; body: unknown; retryAfter?: string };
  let asked: string[];
  let app: ConversationApp;
  let owner: User;
  let member: User;
  let stranger: User;
  beforeAll(async () => {
    asked = [];
    gateway = createServer((request, response) => {
      asked.push(`${request.method} ${request.url} ${request.headers.authorization}`);
      if (answer.retryAfter !== undefined) response.setHeader('retry-after', answer.retryAfter);
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body));
    });
    await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
    app = await ConversationApp.start({
      env: { LLM_GATEWAY_URL: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}` },
    });
    [owner, member, stranger] = [await app.user(), await app.user(), await app.user()];
    await app.owner.query("INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'member')", [
      owner.orgId,
      member.userId,
    ]);
  });
  afterAll(async () => {
    await app?.close();
    gateway?.closeAllConnections();
    gateway?.close();
  });

  const at = (rest = ''): string => `/api/v1/orgs/${owner.orgId}/model-deployments${rest}`;
  const test = (user: User) =>
    app.http<{ code?: string }>(user, 'POST', at('/sonnet%2F1/test'), undefined, {
      'content-type': 'application/json',
    });

  it('are shown to who sees the models, with their state in times, and without what a provider said to another user', async () => {
    answer = { status: 200, body: { data: [PLACE] } };
    const { status, body } = await app.http(member, 'GET', at());
    expect(status).toBe(200);
    const { data, asOf } = ModelDeploymentList.parse(body);
    expect(data).toMatchObject([
      {
        id: 'sonnet/1',
        provider: 'anthropic',
        state: 'open',
        coolsDown: true,
        inFlight: 2,
        firstTokenMs: 350,
        lastFailure: { code: 'model.rate-limited' },
      },
    ]);
    expect(Date.parse(data[0]?.openUntil ?? '') - Date.parse(asOf)).toBe(30_000);
    expect(Date.parse(asOf) - Date.parse(data[0]?.lastFailure?.at ?? '')).toBe(60_000);
    expect(JSON.stringify(body)).not.toContain('another organization');
    expect((await app.http(stranger, 'GET', at())).status).toBe(404);
  });

  it('are tested by admins alone, by one call of the gateway, with an entry in the audit', async () => {
    asked = [];
    expect([(await test(member)).status, (await test(stranger)).status, asked]).toEqual([403, 404, []]);
    answer = { status: 200, body: { ok: true, elapsed_ms: 120, prompt_tokens: 9, completion_tokens: 1 } };
    expect((await test(owner)).body).toEqual({
      ok: true,
      elapsedMs: 120,
      promptTokens: 9,
      completionTokens: 1,
      failure: null,
    });
    expect(asked).toEqual([expect.stringMatching(/^POST \/internal\/deployments\/sonnet%2F1\/test Bearer .+/)]);
    answer = {
      status: 200,
      body: { ok: false, elapsed_ms: 12, code: 'model.auth', detail: 'The provider refuses the key.' },
    };
    expect((await test(owner)).body).toMatchObject({ ok: false, failure: { code: 'model.auth' } });
    const { rows } = await app.owner.query(
      "SELECT target, detail FROM app.audit_entry WHERE action = 'model-deployment.test' ORDER BY created_at",
    );
    expect(rows).toEqual([
      { target: 'sonnet/1', detail: { ok: true, elapsedMs: 120 } },
      { target: 'sonnet/1', detail: { ok: false, elapsedMs: 12, code: 'model.auth' } },
    ]);
  });

  it('say by their codes that there is no such place, that it was tested too often, and that the gateway does not answer', async () => {
    answer = { status: 404, body: {} };
    expect((await test(owner)).status).toBe(404);
    answer = { status: 429, body: {}, retryAfter: '7' };
    const often = await test(owner);
    expect([often.status, often.body.code, often.headers.get('retry-after')]).toEqual([429, 'rate.limited', '7']);
    for (const body of [{ data: 'nonsense' }, null]) {
      answer = { status: 200, body };
      expect([(await app.http(owner, 'GET', at())).status, (await test(owner)).status]).toEqual([503, 503]);
    }
  });
});
