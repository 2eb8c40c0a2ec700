// The least that a proxy can do: argv PORT UPSTREAM_ORIGIN. Streams both bodies through undici, reads nothing, checks
// nothing.
import { createServer } from 'node:http';
import { Pool } from 'undici';

const [port = '0', upstream = ''] = process.argv.slice(2);
const pool = new Pool(upstream, { connections: 256, pipelining: 1 });
const server = createServer((request, response) => {
  const headers: Record<string, string> = {};
  for (const name of ['content-type', 'content-length']) {
    const value = request.headers[name];
    if (typeof value === 'string') headers[name] = value;
  }
  pool
    .stream(
      {
        path: request.url ?? '/',
        method: (request.method ?? 'GET') as 'POST',
        headers,
        body: request.method === 'GET' ? null : request,
      },
      ({ statusCode, headers: given }) => {
        const kept: Record<string, string> = {};
        for (const name of ['content-type', 'content-length']) {
          const value = given[name];
          if (typeof value === 'string') kept[name] = value;
        }
        response.writeHead(statusCode, kept);
        return response;
      },
    )
    .catch(() => {
      if (!response.headersSent) response.writeHead(502);
      response.end();
    });
});
server.keepAliveTimeout = 60_000;
server.listen(Number(port), '127.0.0.1');
