import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { TestBroker } from './test-broker.js';

export interface TestProxy {
  /** `http://127.0.0.1:PORT`, for `https_proxy`. */
  readonly url: string;
  close(): Promise<void>;
}

/** A CONNECT proxy that passes every connection to the broker, as egress-proxy does. */
export async function startTestProxy(world: TestBroker): Promise<TestProxy> {
  const open = new Set<Socket>();
  const server = createServer((_request, response) => void response.writeHead(403).end());
  server.on('connect', (request, client: Socket) => {
    const [host = '', port = ''] = (request.url ?? '').split(':');
    client.on('error', () => client.destroy());
    open.add(client);
    client.once('close', () => open.delete(client));
    void world.connect({ host, port: Number(port) }).then((socket) => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      socket.pipe(client).pipe(socket);
      client.once('close', () => socket.destroy());
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      for (const socket of open) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}
