import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AgentClient } from './agent-client.js';

export interface SeenRequest {
  readonly route: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
}

type Respond = (request: SeenRequest, response: ServerResponse) => void;

/** An agent-server that a test scripts, over real HTTP. */
export class TestAgent {
  readonly seen: SeenRequest[] = [];
  respond: Respond = (_request, response) => void response.end('{}');
  private readonly server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    request.on('end', () => {
      const seen = {
        route: `${request.method} ${request.url}`,
        headers: request.headers,
        body: text === '' ? null : (JSON.parse(text) as unknown),
      };
      this.seen.push(seen);
      this.respond(seen, response);
    });
  });

  async start(): Promise<this> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get connections(): Promise<number> {
    return new Promise((resolve, reject) =>
      this.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
    );
  }

  client(): AgentClient {
    return new AgentClient(
      { url: `${this.url}/`, sessionKey: 'session', appKey: 'app' },
      { timeoutMs: 20_000, maxBytes: 1_000 },
    );
  }

  /** Every request is refused so. */
  refuse(status: number, code: string | null, more: object = {}): void {
    this.respond = (_request, response) =>
      void response
        .writeHead(status)
        .end(code === null ? 'no' : JSON.stringify({ code, detail: 'in its words', ...more }));
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
