import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AGENT_ROUTES, type AgentRoute } from '@slipway/contracts/agent';
import { TestSandbox } from '../testing/sandbox.js';

type Served = Record<string, Record<string, { security: readonly unknown[] }>>;

const entries = Object.entries(AGENT_ROUTES) as ReadonlyArray<readonly [string, AgentRoute]>;
const addressOf = ({ path }: AgentRoute): string => path.replaceAll(/:(\w+)/g, '{$1}');

describe('the routes that the platform calls', () => {
  let sandbox: TestSandbox;
  let served: Served;
  beforeAll(async () => {
    sandbox = await TestSandbox.create();
    await sandbox.startAgentServer();
    served = (await sandbox.call<{ paths: Served }>('GET', '/openapi.json')).body.paths;
  }, 60_000);
  afterAll(() => sandbox?.close());

  it('are all served by agent-server, with the access of their entry', () => {
    const found = entries.map(([name, route]) => {
      const operation = served[addressOf(route)]?.[route.method.toLowerCase()];
      return [name, operation === undefined ? 'missing' : operation.security.length === 0 ? 'open' : 'session'];
    });
    expect(found).toEqual(entries.map(([name, { access }]) => [name, access]));
  });

  it('have no second method at their address but those of OpenHands’ clients', () => {
    const called = new Set(entries.map(([, route]) => `${route.method} ${addressOf(route)}`));
    const addresses = new Set(entries.map(([, route]) => addressOf(route)));
    const others = Object.entries(served).flatMap(([address, methods]) =>
      addresses.has(address) ? Object.keys(methods).map((method) => `${method.toUpperCase()} ${address}`) : [],
    );
    expect(others.filter((route) => !called.has(route)).sort()).toEqual([
      'DELETE /api/conversations/{id}',
      'GET /api/conversations',
      'GET /api/conversations/{id}/events',
      'PATCH /api/conversations/{id}',
    ]);
  });

  it('name each address and method once', () => {
    expect(new Set(entries.map(([, { method, path }]) => `${method} ${path}`)).size).toBe(entries.length);
  });
});
