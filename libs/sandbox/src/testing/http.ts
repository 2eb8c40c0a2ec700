import http, { type IncomingMessage, type Server } from 'node:http';
import net from 'node:net';

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** A loopback server that answers JSON; for sandboxes of tests. @returns its port. */
export async function serveJson(
  port: number,
  answer: (method: string, path: string, request: IncomingMessage, body: string) => Answer | Promise<Answer>,
): Promise<{ port: number; server: Server; close: () => Promise<void> }> {
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      void Promise.resolve(
        answer(request.method ?? 'GET', request.url ?? '/', request, Buffer.concat(chunks).toString('utf8')),
      )
        .catch((error: unknown): Answer => ({ status: 500, body: { error: String(error) } }))
        .then(({ status, body }) => {
          const text = JSON.stringify(body);
          response
            .writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
            .end(text);
        });
    });
  });
  // As agent-server.
  server.keepAliveTimeout = 65_000;
  return {
    port: await listen(server, port),
    server,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** Serves what `server` serves on one more port; `close` ends its connections too. */
export async function listenAlso(server: Server): Promise<{ port: number; close: () => void }> {
  const connections = new Set<net.Socket>();
  const also = net.createServer({ noDelay: true }, (socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
    server.emit('connection', socket);
  });
  const port = await listen(also, 0);
  return {
    port,
    close: () => {
      also.close();
      for (const socket of connections) socket.destroy();
    },
  };
}

async function listen(server: net.Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
