import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isRefusedAddress } from '@slipway/outside/agent';
import type { Outgoing } from './provider-client.js';
import { ProviderDispatch } from './provider-dispatch.js';

describe('a call to a provider', () => {
  let server: Server;
  let port: number;
  let connections = 0;
  const dispatches: ProviderDispatch[] = [];
  beforeAll(async () => {
    server = createServer((_request, response) => response.end('there'));
    server.on('connection', () => {
      connections += 1;
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ({ port } = server.address() as AddressInfo);
  });
  afterAll(async () => {
    await Promise.all(dispatches.map((each) => each.close()));
    server?.close();
  });

  const send = (url: string, hosts: readonly string[]): Promise<Response> => {
    const dispatch = new ProviderDispatch(hosts);
    dispatches.push(dispatch);
    const request: Outgoing = { method: 'GET', headers: {}, redirect: 'manual', signal: AbortSignal.timeout(10_000) };
    return dispatch.send(url, request, new AbortController().signal);
  };

  it('adversary: reaches nothing inside by an address, a name that leads there, or http', async () => {
    for (const url of [
      `https://127.0.0.1:${port}/`,
      `https://[::ffff:127.0.0.1]:${port}/`,
      `https://localhost:${port}/`,
      `http://localhost:${port}/`,
    ]) {
      const error: unknown = await send(url, [`127.0.0.1:${port + 1}`]).catch((thrown: unknown) => thrown);
      expect([url, isRefusedAddress(error)]).toEqual([url, true]);
    }
    expect(connections).toBe(0);
  });

  it('reaches a host that the operator has named, at its port', async () => {
    expect(await (await send(`http://127.0.0.1:${port}/`, [`127.0.0.1:${port}`])).text()).toBe('there');
    expect(connections).toBe(1);
  });
});
