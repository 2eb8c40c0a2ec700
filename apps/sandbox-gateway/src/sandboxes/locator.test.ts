import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Runtime } from '@slipway/contracts/sandboxes';
import { urlOf } from '../testing/test-gateway.js';
import { Locator } from './locator.js';

describe('Locator', () => {
  let server: Server;
  let url = 'http://10.1.2.3:8000';
  let asked = 0;
  beforeAll(async () => {
    server = createServer((request, response) => {
      asked += 1;
      const runtime: Runtime = {
        runtime_id: 'r',
        session_id: request.url ?? '',
        url,
        session_api_key: 'key',
        status: 'running',
        pod_status: 'ready',
        restart_count: 0,
        restart_reasons: [],
        working_dir: '/w',
        work_hosts: {},
      };
      response.end(JSON.stringify(runtime));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  it('finds each port of a pod at its address, and gives the session key to none but agent-server', async () => {
    const locator = new Locator({ runtimeApiUrl: urlOf(server), apiKey: 'k', appPorts: 'open' });
    expect(await locator.find('org', 'c', 8000)).toEqual({
      origin: 'http://10.1.2.3:8000',
      sessionKey: 'key',
      gatewayKey: null,
    });
    expect(await locator.find('org', 'c', 3000)).toEqual({
      origin: 'http://10.1.2.3:3000',
      sessionKey: null,
      gatewayKey: null,
    });
    expect(asked).toBe(1);
    locator.forget('org', 'c');
    await locator.find('org', 'c', 3000);
    await locator.find('other', 'c', 3000);
    expect(asked).toBe(3);
    await locator.close();
  });

  it('reaches no app port on this machine itself, whatever the configuration says', async () => {
    const locator = new Locator({ runtimeApiUrl: urlOf(server), apiKey: 'k', appPorts: 'open' });
    for (const [index, host] of [
      '127.0.0.1',
      '127.9.9.9',
      'localhost',
      '0.0.0.0',
      '169.254.169.254',
      '[::1]',
      '[::]',
      '[::ffff:7f00:1]',
      '[fe80::1]',
    ].entries()) {
      url = `http://${host}:8000`;
      await expect(Promise.resolve(locator.find('org', `own-${index}`, 3000))).rejects.toMatchObject({
        code: 'sandbox.port-closed',
      });
      expect(await locator.find('org', `own-${index}`, 8000)).toMatchObject({ sessionKey: 'key' });
    }
    await locator.close();
  });
});
