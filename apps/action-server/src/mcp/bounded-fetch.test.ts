import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { boundedFetch } from './bounded-fetch.js';

describe('what an MCP server is asked through', () => {
  it('goes where a redirect leads, and never to a metadata service, with and without a proxy', async () => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url ?? '');
      const to = new URL(request.url ?? '/', 'http://localhost').searchParams.get('to');
      if (to === null) response.end('there');
      else response.writeHead(307, { location: to }).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    for (const http of [undefined, url]) {
      const proxy = { http, https: undefined, none: http === undefined ? undefined : '127.0.0.1' };
      const { fetch, close } = await boundedFetch({
        kind: 'remote',
        transport: 'http',
        url: new URL(url),
        headers: {},
        proxy,
        roots: undefined,
        callMs: 1_000,
      });
      const reason = (to: string): Promise<unknown> =>
        fetch(`${url}/?to=${encodeURIComponent(to)}`).then(
          (answer) => answer.text(),
          (error: Error & { cause?: Error }) => error.cause?.message ?? error.message,
        );
      expect(await reason(`${url}/fine`)).toBe('there');
      asked.length = 0;
      for (const to of [
        'http://169.254.169.254/latest',
        'http://[fd00:ec2::254]/',
        'http://2852039166/',
        'http://metadata.google.internal/',
      ])
        expect([to, await reason(to)]).toEqual([
          to,
          'it leads to an address of the machine itself, which is not asked',
        ]);
      expect(asked.every((one) => one.startsWith('/?to='))).toBe(true);
      close();
    }
    server.closeAllConnections();
    server.close();
  });
});
