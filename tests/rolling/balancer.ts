import { createServer, type Server, type Socket, connect as tcpConnect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** How often a replica is asked whether it is ready. Milliseconds. */
const PROBE_MS = 100;
/** From the answer of a probe to what is done about it: kube-proxies learn late. Milliseconds. */
const LAG_MS = 300;

/** One process that a Service sends connections to. */
interface Endpoint {
  readonly port: number;
  ready: boolean;
}

/**
 * What a Service is in Kubernetes, on loopback: new TCP connections go round over the replicas that are ready; those
 * that are open stay where they are, and a replica that refuses is the caller's to see. With `readyPath` readiness is
 * asked for; without it an endpoint is ready until it is taken out.
 */
export class Balancer {
  private readonly endpoints = new Map<number, Endpoint>();
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;
  private readonly end = new AbortController();
  private turn = 0;

  private readonly readyPath: string | null;

  private constructor(readyPath: string | null) {
    this.readyPath = readyPath;
    this.server = createServer((client) => this.connect(client));
  }

  static async open(port: number, readyPath: string | null): Promise<Balancer> {
    const balancer = new Balancer(readyPath);
    await new Promise<void>((resolve, reject) =>
      balancer.server.once('error', reject).listen(port, '127.0.0.1', resolve),
    );
    return balancer;
  }

  add(port: number): void {
    const endpoint: Endpoint = { port, ready: this.readyPath === null };
    this.endpoints.set(port, endpoint);
    if (this.readyPath !== null) void this.probe(endpoint, this.readyPath);
  }

  /** No new connection goes there. */
  remove(port: number): void {
    this.endpoints.delete(port);
  }

  isReady(port: number): boolean {
    return this.endpoints.get(port)?.ready === true;
  }

  /** Cuts every connection, as when the address moves to another machine. */
  cut(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.end.abort();
    this.cut();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private connect(client: Socket): void {
    const ready = [...this.endpoints.values()].filter((endpoint) => endpoint.ready);
    this.turn += 1;
    const endpoint = ready[this.turn % Math.max(1, ready.length)];
    if (endpoint === undefined) return void client.destroy();
    const server = tcpConnect({ port: endpoint.port, host: '127.0.0.1', noDelay: true });
    client.setNoDelay(true);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.sockets.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.once('close', () => {
        this.sockets.delete(from);
        to.destroySoon();
      });
    }
  }

  private async probe(endpoint: Endpoint, path: string): Promise<void> {
    const known = (): boolean => this.endpoints.get(endpoint.port) === endpoint && !this.end.signal.aborted;
    while (known()) {
      const response = await fetch(`http://127.0.0.1:${endpoint.port}${path}`, {
        signal: AbortSignal.timeout(2_000),
        headers: { connection: 'close' },
      }).catch(() => null);
      await response?.arrayBuffer().catch(() => {});
      const ready = response?.status === 200;
      if (ready !== endpoint.ready) {
        await wait(LAG_MS);
        endpoint.ready = ready;
      }
      await wait(PROBE_MS);
    }
  }
}
