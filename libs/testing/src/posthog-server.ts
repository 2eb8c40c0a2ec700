import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

/** How it answers a request: a status, or as a service that is in trouble. */
export type PosthogAnswer = number | 'hang' | 'reset';

export interface ReceivedEvent {
  readonly uuid: string;
  readonly event: string;
  readonly distinct_id: string;
  readonly timestamp: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** PostHog over real HTTP: takes `POST /batch/` as its client sends it, gives definitions of flags with an `ETag`. */
export class PosthogServer {
  /** What it answers next; the last one from then on. */
  answers: PosthogAnswer[] = [200];
  /** Of answers that refuse for a time. */
  headers: Readonly<Record<string, string>> = {};
  definitions: {
    flags: readonly unknown[];
    group_type_mapping: Readonly<Record<string, string>>;
    cohorts: Readonly<Record<string, unknown>>;
  } = {
    flags: [],
    group_type_mapping: { '0': 'organization' },
    cohorts: {},
  };
  /** Connections that anybody made. */
  connections = 0;
  /** Path and status of each request. */
  readonly requests: string[] = [];
  /** Bodies of batches that were taken, as text. */
  readonly bodies: string[] = [];
  /** By uuid, as PostHog keeps them: one that comes twice is one. */
  readonly events = new Map<string, ReceivedEvent>();
  /** Ids of all that came, in order, repeats included. */
  readonly uuids: string[] = [];

  private constructor(
    private readonly server: Server,
    readonly url: string,
    readonly key: string,
  ) {}

  static async start(key = 'phc_test'): Promise<PosthogServer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const made = new PosthogServer(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`, key);
    server.on('connection', () => {
      made.connections += 1;
    });
    server.on('request', (request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () =>
        made.answer(request.url ?? '', request.headers['if-none-match'], Buffer.concat(parts), response),
      );
    });
    return made;
  }

  clear(): void {
    this.answers = [200];
    this.headers = {};
    this.connections = 0;
    for (const list of [this.requests, this.bodies, this.uuids]) list.length = 0;
    this.events.clear();
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private answer(url: string, etag: string | undefined, body: Buffer, response: ServerResponse): void {
    const given =
      this.answers.length > 1 ? (this.answers.shift() as PosthogAnswer) : (this.answers[0] as PosthogAnswer);
    const answer = given === 200 && !this.isKnown(url) ? 404 : given;
    this.requests.push(`${url.split('?')[0]} ${answer}`);
    if (answer === 'hang') return;
    if (answer === 'reset') {
      response.socket?.destroy();
      return;
    }
    if (answer !== 200) {
      response.writeHead(answer, this.headers).end('{}');
      return;
    }
    if (url.startsWith('/flags/definitions')) this.giveDefinitions(etag, response);
    else this.take(body, response);
  }

  private isKnown(url: string): boolean {
    return (
      url === '/batch/' ||
      (url.startsWith('/flags/definitions?') && new URL(url, this.url).searchParams.get('token') === this.key)
    );
  }

  private giveDefinitions(etag: string | undefined, response: ServerResponse): void {
    const text = JSON.stringify(this.definitions);
    const own = `"${text.length}"`;
    if (etag === own) response.writeHead(304, { etag: own }).end();
    else response.writeHead(200, { etag: own, 'content-type': 'application/json' }).end(text);
  }

  private take(body: Buffer, response: ServerResponse): void {
    const text = gunzipSync(body).toString();
    const { api_key, batch, sent_at } = JSON.parse(text) as {
      api_key: string;
      batch: ReceivedEvent[];
      sent_at: string;
    };
    if (api_key !== this.key || !Array.isArray(batch) || Number.isNaN(Date.parse(sent_at)) || !batch.every(isEvent)) {
      response.writeHead(400).end('{}');
      return;
    }
    this.bodies.push(text);
    for (const each of batch) {
      this.events.set(each.uuid, each);
      this.uuids.push(each.uuid);
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"status":"Ok"}');
  }
}

function isEvent({ uuid, event, distinct_id, timestamp, properties }: ReceivedEvent): boolean {
  return (
    /^[0-9a-f-]{36}$/.test(uuid) &&
    event !== '' &&
    distinct_id !== '' &&
    !Number.isNaN(Date.parse(timestamp)) &&
    typeof properties === 'object'
  );
}
