import https from 'node:https';

export interface Status {
  readonly kind?: string;
  readonly message?: string;
  readonly reason?: string;
}
export interface Answer<T = Status> {
  readonly status: number;
  readonly body: T;
}
export interface Ask {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly body?: unknown;
  /** Who asks, by impersonation; the administrator of the kubeconfig when not given. */
  readonly as?: string;
  readonly groups?: readonly string[];
  /** The API server does everything but store it. */
  readonly dryRun?: true;
  /** Of a PATCH. */
  readonly contentType?: 'application/merge-patch+json' | 'application/strategic-merge-patch+json';
}

/** Longest that one answer may take. Milliseconds. A request that takes longer fails the test that made it. */
const TIMEOUT_MS = 30_000;

/**
 * Plain requests to an API server as anybody: `kubectl` can neither impersonate on every subresource nor be asked a
 * thousand times.
 */
export class KubeApi {
  private readonly agent: https.Agent;
  private readonly server: URL;

  private constructor(server: URL, tls: https.AgentOptions, connections: number) {
    this.server = server;
    this.agent = new https.Agent({ ...tls, keepAlive: true, maxSockets: connections });
  }

  /**
   * @param kubeconfig as `kubectl config view --raw --flatten --minify -o json` prints it; its user has a client
   * certificate, as kind's and the test cluster's have.
   * @param connections at most; they are kept open.
   */
  static of(kubeconfig: string, connections = 8): KubeApi {
    const config = JSON.parse(kubeconfig) as {
      clusters: { cluster: Record<string, string> }[];
      users: { user: Record<string, string> }[];
    };
    const cluster = config.clusters[0]?.cluster ?? {};
    const user = config.users[0]?.user ?? {};
    const decode = (data: string | undefined): Buffer | undefined =>
      data === undefined ? undefined : Buffer.from(data, 'base64');
    const tls = {
      ca: decode(cluster['certificate-authority-data']),
      cert: decode(user['client-certificate-data']),
      key: decode(user['client-key-data']),
    };
    return new KubeApi(new URL(cluster['server'] ?? ''), tls, connections);
  }

  close(): void {
    this.agent.destroy();
  }

  ask<T = Status>(
    path: string,
    { method = 'GET', body, as, groups = [], dryRun, contentType }: Ask = {},
  ): Promise<Answer<T>> {
    const url = new URL(path, this.server);
    if (dryRun === true) url.searchParams.set('dryRun', 'All');
    const headers: Record<string, string | string[]> = {};
    if (body !== undefined) headers['content-type'] = contentType ?? 'application/json';
    if (as !== undefined) headers['impersonate-user'] = as;
    if (groups.length > 0) headers['impersonate-group'] = [...groups];
    return new Promise((resolve, reject) => {
      const request = https.request(
        url,
        { agent: this.agent, method, headers, signal: AbortSignal.timeout(TIMEOUT_MS) },
        (response) => {
          response.setEncoding('utf8');
          let text = '';
          response.on('data', (chunk: string) => {
            text += chunk;
          });
          response.on('error', reject);
          response.on('end', () => {
            const json = text.startsWith('{');
            resolve({ status: response.statusCode ?? 0, body: (json ? JSON.parse(text) : { message: text }) as T });
          });
        },
      );
      request.on('error', reject);
      request.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }
}
