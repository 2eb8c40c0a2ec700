import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Kind = 'dashboard' | 'monitor' | 'slo';
export interface Stored {
  id: string | number;
  tags?: string[];
  description?: string;
  [field: string]: unknown;
}

/** The part of Datadog's API that `apply.mjs` uses: keeps what is sent, over real HTTP. */
export class FakeDatadog {
  readonly stored: Record<Kind, Stored[]> = { dashboard: [], monitor: [], slo: [] };
  readonly writes: string[] = [];
  /** Status codes that the next requests of a method get, before anything is checked. */
  readonly failures: { method: string; status: number }[] = [];
  private readonly server = createServer((request, response) => void this.answer(request, response));
  private next = 1;

  private readonly keys: { readonly api: string; readonly app: string };

  private constructor(keys: { readonly api: string; readonly app: string }) {
    this.keys = keys;
  }

  static async open(keys: { readonly api: string; readonly app: string }): Promise<FakeDatadog> {
    const fake = new FakeDatadog(keys);
    await new Promise<void>((resolve) => fake.server.listen(0, '127.0.0.1', resolve));
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const send = (status: number, body: unknown): void =>
      void response
        .writeHead(status, { 'content-type': 'application/json', 'x-ratelimit-reset': '0' })
        .end(JSON.stringify(body));
    if (request.headers['dd-api-key'] !== this.keys.api || request.headers['dd-application-key'] !== this.keys.app)
      return send(403, { errors: ['Forbidden'] });
    const planned = this.failures.findIndex(({ method }) => method === request.method);
    if (planned >= 0) return send(this.failures.splice(planned, 1)[0]?.status ?? 500, { errors: ['planned'] });
    const url = new URL(request.url ?? '', 'http://datadog');
    const [, kind, id] = /^\/api\/v1\/(dashboard|monitor|slo)(?:\/([^/]+))?$/.exec(url.pathname) ?? [];
    if (kind === undefined) return send(404, { errors: ['Not found'] });
    const all = this.stored[kind as Kind];
    if (request.method === 'GET') return send(200, listing(kind as Kind, all, url.searchParams));
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Omit<Stored, 'id'>;
    const wrong = refusal(kind as Kind, body);
    if (wrong !== null) return send(400, { errors: [wrong] });
    this.writes.push(`${request.method} ${kind}`);
    if (request.method === 'POST') {
      // A monitor's id is a number; the others' are texts.
      const made: Stored = { ...body, id: kind === 'monitor' ? this.next : `${kind}-${this.next}` };
      this.next += 1;
      all.push(made);
      return send(200, kind === 'slo' ? { data: [made] } : made);
    }
    const index = all.findIndex((each) => String(each.id) === id);
    const before = all[index];
    if (before === undefined) return send(404, { errors: ['Not found'] });
    all[index] = { ...body, id: before.id };
    return send(200, kind === 'slo' ? { data: [all[index]] } : all[index]);
  }
}

function listing(kind: Kind, all: readonly Stored[], query: URLSearchParams): unknown {
  if (kind === 'dashboard')
    return { dashboards: all.map(({ id, title, description }) => ({ id, title, description })) };
  const tag = query.get(kind === 'slo' ? 'tags_query' : 'monitor_tags');
  const found = all.filter(({ tags = [] }) => tag === null || tags.includes(tag));
  return kind === 'slo' ? { data: found } : found;
}

/** What Datadog says no to, as far as it is known here. */
function refusal(kind: Kind, body: Record<string, unknown>): string | null {
  const text = JSON.stringify(body);
  if (text.includes('{{slo:')) return 'a placeholder was left in';
  if (kind === 'monitor' && (body['tags'] as string[]).some((tag) => tag !== tag.toLowerCase()))
    return 'tags are in small letters';
  if (kind === 'dashboard' && 'tags' in body) return 'a dashboard takes tags of teams only';
  return null;
}
