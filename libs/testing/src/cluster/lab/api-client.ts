import { readFileSync } from 'node:fs';
import https from 'node:https';
import path from 'node:path';

/** Longest answer of the API server. Milliseconds. */
const TIMEOUT_MS = 10_000;

/**
 * Asks the API server as an administrator: for bringing the cluster up, where `kubectl` would cost more than what it
 * asks for.
 */
export class ApiClient {
  readonly #agent: https.Agent;

  constructor(
    private readonly server: string,
    pki: string,
  ) {
    const file = (name: string): Buffer => readFileSync(path.join(pki, name));
    this.#agent = new https.Agent({
      keepAlive: true,
      ca: file('ca.crt'),
      cert: file('admin.crt'),
      key: file('admin.key'),
    });
  }

  /** @throws Error with the answer when the status is not 2xx, or none comes in ten seconds. */
  request(method: 'GET' | 'POST', route: string, body?: unknown): Promise<string> {
    const payload = body === undefined ? undefined : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const headers = payload === undefined ? {} : { 'content-type': 'application/json' };
      const request = https.request(
        `${this.server}${route}`,
        { method, agent: this.#agent, headers, timeout: TIMEOUT_MS },
        (answer) => {
          const parts: Buffer[] = [];
          answer.on('data', (chunk: Buffer) => parts.push(chunk));
          answer.once('error', reject);
          answer.once('end', () => {
            const text = Buffer.concat(parts).toString();
            const { statusCode: status = 0 } = answer;
            if (status >= 200 && status < 300) resolve(text);
            else reject(new Error(`${method} ${route}: ${status} ${text.slice(0, 1_000)}`));
          });
        },
      );
      request.once('timeout', () => request.destroy(new Error(`${method} ${route}: no answer in ${TIMEOUT_MS} ms`)));
      request.once('error', reject);
      request.end(payload);
    });
  }

  async get<T>(route: string): Promise<T> {
    return JSON.parse(await this.request('GET', route)) as T;
  }

  close(): void {
    this.#agent.destroy();
  }
}
