import { readFile, writeFile } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** What the proxy does to one request instead of handing it on. */
export type Fault = { readonly status: number; readonly reason?: string; readonly retryAfterSeconds?: number } | 'cut';

export interface Asked {
  readonly method: string;
  readonly path: string;
  /** A whole list, its first page. */
  readonly isList: boolean;
  readonly isWatch: boolean;
  readonly at: number;
}

/** Takes one line of a watch and hands on what it likes, when it likes. */
export type LineFault = (line: string, send: (line: string) => void) => void;

const hand: LineFault = (line, send) => send(line);

/**
 * Stands before the API server, to which it speaks TLS as it should; what comes through it can be refused, held up,
 * cut, repeated and shuffled. Counts what it is asked.
 */
export class FaultProxy {
  readonly asked: Asked[] = [];
  /** What happens to a request that is no watch; `null`: nothing. */
  fault: (request: Asked) => Fault | null = () => null;
  /** Every request waits for so long before it is handed on. Milliseconds. */
  latencyMs = 0;
  line: LineFault = hand;
  private readonly watches = new Set<http.ServerResponse>();
  private readonly server: http.Server;
  private readonly agent: https.Agent;

  private readonly target: URL;

  private constructor(target: URL, ca: Buffer) {
    this.target = target;
    this.agent = new https.Agent({ ca, keepAlive: true });
    this.server = http.createServer(
      (request, response) => void this.pass(request, response).catch(() => response.destroy()),
    );
  }

  /** @returns the proxy, and writes a kubeconfig beside the given one that leads through it. */
  static async open(kubeconfig: string): Promise<{ proxy: FaultProxy; kubeconfig: string }> {
    const config = JSON.parse(await readFile(kubeconfig, 'utf8')) as {
      clusters: { name: string; cluster: Record<string, string> }[];
    };
    const [{ name, cluster } = { name: '', cluster: {} as Record<string, string> }] = config.clusters;
    const proxy = new FaultProxy(
      new URL(cluster['server'] ?? ''),
      Buffer.from(cluster['certificate-authority-data'] ?? '', 'base64'),
    );
    await new Promise<void>((resolve) => proxy.server.listen(0, '127.0.0.1', resolve));
    const { port } = proxy.server.address() as AddressInfo;
    const file = `${kubeconfig}.through-proxy`;
    // The client library wants to hear that the way to the proxy is not TLS.
    const through = { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true };
    await writeFile(file, JSON.stringify({ ...config, clusters: [{ name, cluster: through }] }), { mode: 0o600 });
    return { proxy, kubeconfig: file };
  }

  /** Ends every watch, as a load balancer does with old connections. */
  cutWatches(): void {
    for (const response of this.watches) response.destroy();
    this.watches.clear();
  }

  /** Back to a proxy that only hands on. */
  heal(): void {
    this.fault = () => null;
    this.latencyMs = 0;
    this.line = hand;
  }

  /**
   * Shortest time between two whole lists of the same kind since `from`. Milliseconds; infinite when there was at most
   * one.
   */
  shortestListGap(from: number): number {
    let shortest = Number.POSITIVE_INFINITY;
    const last = new Map<string, number>();
    for (const { path, isList, at } of this.asked) {
      if (!isList || at < from) continue;
      const kind = path.split('?')[0] ?? '';
      shortest = Math.min(shortest, at - (last.get(kind) ?? Number.NEGATIVE_INFINITY));
      last.set(kind, at);
    }
    return shortest;
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
    this.agent.destroy();
  }

  private async pass(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const { method = 'GET', url = '/' } = request;
    const query = new URL(url, this.target).searchParams;
    const isWatch = query.has('watch');
    const isList = method === 'GET' && !isWatch && query.has('limit') && !query.has('continue');
    const asked = { method, path: url, isList, isWatch, at: performance.now() };
    this.asked.push(asked);
    const fault = this.fault(asked);
    if (this.latencyMs > 0) await wait(this.latencyMs);
    if (fault === 'cut') return void response.destroy();
    if (fault !== null) return refuse(response, fault);
    const options = { method, headers: { ...request.headers, host: this.target.host }, agent: this.agent };
    const upstream = https.request(new URL(url, this.target), options, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders();
      if (isWatch && answer.statusCode === 200) this.follow(answer, response);
      else answer.pipe(response);
      answer.on('error', () => response.destroy());
    });
    upstream.on('error', () => response.destroy());
    response.on('close', () => upstream.destroy());
    request.pipe(upstream);
  }

  private follow(answer: http.IncomingMessage, response: http.ServerResponse): void {
    this.watches.add(response);
    response.on('close', () => this.watches.delete(response));
    let rest = '';
    answer.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.line(line, (text) => void response.write(`${text}\n`));
    });
    answer.on('end', () => response.end());
  }
}

function refuse(
  response: http.ServerResponse,
  { status, reason = 'ServiceUnavailable', retryAfterSeconds }: Exclude<Fault, 'cut'>,
): void {
  const body = JSON.stringify({
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    message: 'made to fail by a test',
    reason,
    code: status,
  });
  response
    .writeHead(status, {
      'content-type': 'application/json',
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
    })
    .end(body);
}
