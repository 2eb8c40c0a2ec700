import http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { KeptConnections } from './kept-connections.js';

describe('connections to sandboxes', () => {
  const servers: http.Server[] = [];
  const ports: number[] = [];
  const open = new Map<number, Set<Socket>>();
  const connections = new KeptConnections(3);
  let made = 0;

  beforeAll(async () => {
    for (let index = 0; index < 5; index += 1) {
      const sockets = new Set<Socket>();
      const server = http.createServer((_request, response) => response.end('ok'));
      server.on('connection', (socket) => {
        made += 1;
        sockets.add(socket);
        socket.on('close', () => sockets.delete(socket));
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      servers.push(server);
      ports.push((server.address() as AddressInfo).port);
      open.set(index, sockets);
    }
  });
  afterAll(() => {
    connections.close();
    for (const server of servers) server.close();
  });

  const get = async (index: number): Promise<{ reused: boolean }> => {
    const accepted = made;
    const connection = connections.take(`127.0.0.1:${ports[index]}`);
    const answer = await connection.send({
      text: 'GET / HTTP/1.1\r\nhost: sandbox\r\n\r\n',
      maxAnswerBytes: 100,
      timeoutMs: 5_000,
      signal: new AbortController().signal,
    });
    expect(answer).toEqual({ status: 200, body: 'ok', keeps: true });
    connections.keep(connection);
    return { reused: made === accepted };
  };
  const kept = (): number[] => [...open].filter(([, sockets]) => sockets.size > 0).map(([index]) => index);

  it('stay open for those that were used last, and no more than may be kept in all', async () => {
    for (const index of [0, 1, 2]) await get(index);
    expect((await get(0)).reused).toBe(true);
    for (const index of [3, 4]) await get(index);
    await until('the others are closed', () => kept().length === 3);
    expect(kept()).toEqual([0, 3, 4]);
    for (let again = 0; again < 20; again += 1)
      for (const index of [0, 3, 4]) expect((await get(index)).reused).toBe(true);
    expect((await get(1)).reused).toBe(false);
    await until('one is given up for it', () => kept().length === 3);
    expect(kept()).toEqual([1, 3, 4]);
  });
});
