import http, { type IncomingMessage } from 'node:http';

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** A loopback server that answers JSON; for sandboxes of tests. @returns its port. */
export async function serveJson(
  port: number,
  answer: (method: string, path: string, request: IncomingMessage, body: string) => Answer | Promise<Answer>,
): Promise<{ port: number; close: () => Promise<void> }> {
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      void Promise.resolve(answer(request.method ?? 'GET', request.url ?? '/', request, Buffer.concat(chunks).toString('utf8')))
        .catch((error: unknown): Answer => ({ status: 500, body: { error: String(error) } }))
        .then(({ status, body }) => {
          const text = JSON.stringify(body);
          response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text);
        });
    });
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
