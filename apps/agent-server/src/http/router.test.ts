import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { createLogger } from '@slipway/telemetry';
import { until } from '@slipway/testing';
import { UNAUTHENTICATED } from '../activation/caller.js';
import { type Handler, ok, Router, readJson } from './router.js';
import { createHttpServer } from './server.js';

async function serving(handle: Handler, work: (said: (text: string) => Socket) => Promise<void>): Promise<void> {
  const router = new Router([{ method: 'POST', path: '/told', access: 'open', handle }]);
  const server: Server = createHttpServer(router, () => UNAUTHENTICATED, createLogger('agent-server', 'silent'), 200);
  const sockets: Socket[] = [];
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await work((text) => {
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
      socket.on('error', () => {});
      socket.write(`POST /told HTTP/1.1\r\nHost: here\r\n${text}`);
      sockets.push(socket);
      return socket;
    });
  } finally {
    for (const socket of sockets) socket.destroy();
    server.closeAllConnections();
    server.close();
  }
}

describe('a body', () => {
  it('whose client has gone before it was asked for is an error, and no wait without an end', async () => {
    let ended: unknown;
    let begun = false;
    const handle: Handler = async ({ request }) => {
      begun = true;
      await until('the client is gone', () => request.destroyed);
      ended = await readJson(request).catch((error: unknown) => error);
      return ok({});
    };
    await serving(handle, async (said) => {
      const socket = said('Content-Length: 20\r\n\r\n{"half":');
      await until('the handler', () => begun);
      socket.destroy();
      await until('its end', () => ended !== undefined);
      expect(String(ended)).toContain('the client went away');
    });
  }, 20_000);

  it('that comes in pieces is read whole, and one that ends in its midst is an error', async () => {
    const read: unknown[] = [];
    const handle: Handler = async ({ request }) =>
      ok({ read: read.push(await readJson(request).catch((error: unknown) => String(error))) });
    await serving(handle, async (said) => {
      const whole = said('Content-Length: 13\r\n\r\n{"at"');
      whole.write(' : "é"}');
      await until('the first', () => read.length === 1);
      const broken = said('Content-Length: 20\r\n\r\n{"half":');
      await once(broken, 'connect');
      broken.end();
      await until('the other', () => read.length === 2);
      expect(read).toEqual([{ at: 'é' }, expect.stringMatching(/Error/)]);
    });
  }, 20_000);

  it('that is refused and never comes whole is not waited for: its answer is sent', async () => {
    const refuse: Handler = () => {
      throw new Error('no');
    };
    await serving(refuse, async (said) => {
      const socket = said('Content-Length: 1000\r\n\r\nonly this');
      const [answer] = (await once(socket, 'data')) as [Buffer];
      expect(answer.toString()).toMatch(/^HTTP\/1\.1 500 /);
    });
  }, 20_000);
});
