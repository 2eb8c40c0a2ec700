import { createServer, type IncomingHttpHeaders, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CALLER_KEY_HEADER } from '@slipway/contracts/agent';

/**
 * Stands before an agent-server and makes it one with a fault: `run-accepts` takes a run for a yes, as it was before;
 * `no-key-means-app` takes a caller without a key for the app. The servers themselves are as they are.
 */
export class BrokenWire {
  private readonly server: Server;
  private target: string;

  private constructor(target: string, fault: 'run-accepts' | 'no-key-means-app', appKey: string) {
    this.target = target;
    this.server = createServer((incoming, answer) => {
      const asApp = { [CALLER_KEY_HEADER]: appKey };
      const isRun = fault === 'run-accepts' && /^\/api\/conversations\/[^/]+\/run$/.test(incoming.url ?? '');
      const isUnauthenticated = fault === 'no-key-means-app' && incoming.headers[CALLER_KEY_HEADER] === undefined;
      const path = isRun
        ? (incoming.url ?? '').replace(/run$/, 'events/respond_to_confirmation')
        : (incoming.url ?? '');
      const body = isRun ? '{"accept":true}' : null;
      const headers: IncomingHttpHeaders = { ...incoming.headers, ...(isRun || isUnauthenticated ? asApp : {}) };
      if (isRun) {
        headers['content-type'] = 'application/json';
        headers['content-length'] = '15';
      }
      const outgoing = request(
        `${this.target}${path}`,
        { method: incoming.method, headers, agent: false },
        (response) => {
          answer.writeHead(response.statusCode ?? 502, response.headers);
          response.pipe(answer);
        },
      );
      outgoing.once('error', () => answer.destroy());
      if (body === null) incoming.pipe(outgoing);
      else incoming.resume().once('end', () => outgoing.end(body));
    });
    this.server.on('upgrade', (_request, socket) => socket.destroy());
  }

  static async to(target: string, fault: 'run-accepts' | 'no-key-means-app', appKey: string): Promise<BrokenWire> {
    const wire = new BrokenWire(target, fault, appKey);
    await new Promise<void>((resolve) => wire.server.listen(0, '127.0.0.1', resolve));
    return wire;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  moveTo(target: string): void {
    this.target = target;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
