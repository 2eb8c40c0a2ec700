import http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { sandboxRequest } from './sandbox-request.js';

describe('a request to a sandbox', () => {
  const connections = new Set<Socket>();
  /** What the server does with each request; answers its number when nothing else is said. */
  let behave: (socket: Socket, response: http.ServerResponse) => void = (_socket, response) => void response.end('ok');
  let seen = 0;
  const server = http.createServer((request, response) => {
    seen += 1;
    request.resume();
    request.on('end', () => behave(request.socket, response));
  });
  let url = '';
  const get = (timeoutMs?: number): Promise<{ status: number; body: string }> =>
    sandboxRequest(url, {
      method: 'POST',
      headers: {},
      body: '{}',
      signal: AbortSignal.timeout(30_000),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    });

  beforeAll(async () => {
    server.on('connection', (socket) => {
      connections.add(socket);
      socket.on('close', () => connections.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  it('goes over the connection of the one before', async () => {
    for (let n = 0; n < 3; n += 1) expect(await get()).toEqual({ status: 200, body: 'ok' });
    expect(connections.size).toBe(1);
  });

  it('is answered although the kept connection is closed at the moment of its use', async () => {
    await get();
    seen = 0;
    behave = (socket) => {
      behave = (_socket, next) => void next.end('ok');
      socket.destroy();
    };
    expect(await get()).toEqual({ status: 200, body: 'ok' });
    expect(seen).toBe(2);
  });

  it('is sent once when a new connection breaks: the sandbox may not answer at all', async () => {
    server.closeAllConnections();
    await until('no connection is kept', () => connections.size === 0);
    seen = 0;
    behave = (socket) => void socket.destroy();
    await expect(get()).rejects.toThrow();
    expect(seen).toBe(1);
  });

  it('ends after its time, on a kept connection too, and is not sent again', async () => {
    behave = (_socket, response) => void response.end('ok');
    await get();
    seen = 0;
    behave = () => {};
    await expect(get(500)).rejects.toThrow('no whole answer within 500 ms');
    expect(seen).toBe(1);
    behave = (_socket, response) => void response.write('half');
    await expect(get(50)).rejects.toThrow();
    behave = (_socket, response) => void response.end('x'.repeat(70_000));
    await expect(get()).rejects.toThrow('longer than 65536 bytes');
    behave = (_socket, response) => void response.end('ok');
  });
});
