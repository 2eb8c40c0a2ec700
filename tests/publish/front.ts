import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Passes every request on; what a test wants to happen before or after one is done with it. */
export class Front {
  /** `METHOD path` of each request, without its query. */
  readonly asked: string[] = [];
  before: (call: string) => Promise<void> | void = () => {};
  after: (call: string) => Promise<void> | void = () => {};

  readonly url: string;
  private readonly server: Server;

  private constructor(server: Server) {
    this.server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async open(target: string): Promise<Front> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const front = new Front(server);
    server.on('request', async (incoming: IncomingMessage, response) => {
      const call = `${incoming.method} ${incoming.url?.split('?', 1)[0]}`;
      front.asked.push(call);
      await front.before(call);
      const { host: _, ...headers } = incoming.headers;
      const onward = request(`${target}${incoming.url}`, { method: incoming.method, headers }, (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('end', async () => {
          await front.after(call);
          response.writeHead(answer.statusCode ?? 502, answer.headers).end(Buffer.concat(parts));
        });
      });
      onward.on('error', () => response.destroy());
      incoming.pipe(onward);
    });
    return front;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
