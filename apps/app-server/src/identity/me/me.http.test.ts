import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  createTestDatabase,
  freePort,
  type IdentityServer,
  type SignedInClient,
  signIn,
  startIdentityServer,
  type TestDatabase,
} from '@slipway/testing';
import { DomainsModule } from '../../organizations/domains/domains.module.js';
import { MovableClock, startTestApp, type TestApp, testConfig } from '../../testing/test-app.js';
import { SignInModule } from '../sign-in/sign-in.module.js';
import { MeModule } from './me.module.js';

describe('GET /api/v1/orgs/{org}/models', () => {
  let database: TestDatabase;
  let identity: IdentityServer;
  let server: TestApp;
  let gateway: Server;
  let user: SignedInClient;
  const clock = new MovableClock();
  const requests: Array<string | undefined> = [];
  let answer: { status: number; body: string };

  beforeAll(async () => {
    database = await createTestDatabase();
    const [port, gatewayPort] = [await freePort(), await freePort()];
    gateway = createServer((request, response) => {
      requests.push(`${request.url} ${request.headers.authorization}`);
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
    });
    await new Promise<void>((resolve) => gateway.listen(gatewayPort, '127.0.0.1', resolve));
    identity = await startIdentityServer(`http://127.0.0.1:${port}`);
    server = await startTestApp(
      testConfig(port, database, identity, { LLM_GATEWAY_URL: `http://127.0.0.1:${gatewayPort}` }),
      {
        clock,
        features: [SignInModule, DomainsModule.register(), MeModule],
      },
    );
    user = await signIn(server.url);
  });
  afterAll(async () => {
    await server?.close();
    gateway?.close();
    await identity?.close();
    await database?.close();
  });

  const list = (): Promise<Response> => user.fetch(`/api/v1/orgs/${user.me.orgs[0]?.id}/models`);

  it('a gateway that fails or answers nonsense is a 503 with a sentence, and is asked again by the next request', async () => {
    for (const broken of [
      { status: 500, body: '{}' },
      { status: 200, body: 'nonsense' },
      { status: 200, body: '{"data":1}' },
    ]) {
      answer = broken;
      const response = await list();
      expect([response.status, await response.json()]).toMatchObject([
        503,
        { code: 'service.unavailable', detail: 'The model gateway does not answer.' },
      ]);
    }
    expect(requests.length).toBe(3);
  });

  it('asks the gateway with the master key, once in ten seconds for all, and says which model is the demo', async () => {
    const model = { object: 'model', created: 0, owned_by: 'slipway' };
    answer = {
      status: 200,
      body: JSON.stringify({
        object: 'list',
        data: [
          { ...model, id: 'slipway-demo', demo: true, default: true },
          { ...model, id: 'gpt' },
        ],
      }),
    };
    requests.length = 0;
    const answers = await Promise.all(Array.from({ length: 10 }, list));
    expect(requests).toEqual(['/v1/models Bearer test-master-key-test-master-key-test']);
    expect(await answers[0]?.json()).toEqual({
      data: [
        { id: 'slipway-demo', label: 'Demo model (scripted, no key needed)', demo: true, default: true },
        { id: 'gpt', label: 'gpt', demo: false, default: false },
      ],
    });
    clock.advance(10_001);
    await list();
    expect(requests.length).toBe(2);
  });

  it('a gateway that stops answering does not take the list away', async () => {
    answer = { status: 500, body: '{}' };
    clock.advance(10_001);
    expect(await (await list()).json()).toMatchObject({ data: [{ id: 'slipway-demo' }, { id: 'gpt' }] });
  });
});
