import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * `absent`: nothing listens. `reset`: the connection ends in the middle of the request. `silent`: it is read and never
 * answered.
 */
export type GateMode = 'pass' | 'absent' | 'silent' | 'reset' | '500';

/** What stands between tracers and the test agent, so that the agent can be gone for a while and come back. */
export class AgentGate {
  mode: GateMode = 'pass';
  /** Requests since the start that met each mode. */
  readonly met: Record<GateMode, number> = { pass: 0, absent: 0, silent: 0, reset: 0, 500: 0 };
  /** What tracers asked for. */
  readonly paths = new Set<string>();
  private readonly server: Server;
  private readonly agentUrl: string;
  private port = 0;

  constructor(agentUrl: string) {
    this.agentUrl = agentUrl;
    this.server = createServer((incoming, answer) => {
      this.met[this.mode] += 1;
      this.paths.add(incoming.url ?? '');
      if (this.mode === 'reset') return void incoming.once('data', () => incoming.socket.destroy());
      incoming.on('error', () => {});
      if (this.mode === 'silent') return void incoming.resume();
      if (this.mode === '500') return void incoming.resume().on('end', () => answer.writeHead(500).end('{}'));
      const outgoing = request(
        `${this.agentUrl}${incoming.url}`,
        { method: incoming.method ?? 'GET', headers: incoming.headers },
        (given) => {
          answer.writeHead(given.statusCode ?? 502, given.headers);
          given.pipe(answer);
        },
      );
      outgoing.on('error', () => answer.destroy());
      incoming.pipe(outgoing);
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(this.port, '127.0.0.1', resolve));
    this.port = (this.server.address() as AddressInfo).port;
  }

  async set(mode: GateMode): Promise<void> {
    if (this.mode === 'absent' && mode !== 'absent') await this.open();
    if (mode === 'absent' && this.mode !== 'absent') await this.close();
    this.mode = mode;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }
}
