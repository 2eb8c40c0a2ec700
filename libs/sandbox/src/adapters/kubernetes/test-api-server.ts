import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { Timing } from './timing.js';

interface Item {
  metadata: { name: string; uid: string; resourceVersion: string };
  [field: string]: unknown;
}
interface Event {
  readonly type: string;
  readonly object: Item;
}

/** What goes wrong, for tests; may be changed at any time. Times are real milliseconds. */
export interface Faults {
  /** Each watch is cut after so long. */
  cutWatchAfterMs: number | null;
  /** This answer instead of the right one; `null` for the right one. */
  refuse: (request: {
    method: string;
    url: string;
    isWatch: boolean;
    isList: boolean;
  }) => { status: number; headers?: Record<string, string>; body?: object } | null;
  /** Watches are open, and nothing is sent. */
  stall: boolean;
  /** Each event is sent this often. */
  copies: number;
  /** Events that old may be sent again, in between. */
  repeatOld: boolean;
  /** How long a page of a list takes. */
  listDelayMs: number;
}

/**
 * An API server for one kind of object, with its versions, pages, watches and bookmarks, over real HTTP on loopback.
 */
export class TestApiServer {
  readonly faults: Faults = {
    cutWatchAfterMs: null,
    refuse: () => null,
    stall: false,
    copies: 1,
    repeatOld: false,
    listDelayMs: 0,
  };
  readonly items = new Map<string, Item>();
  /** Served as they are at the first list of nodes; changes are not reported. */
  nodes: object[] = [];
  /** When the first page of each list was asked for, by `performance.now()`. */
  readonly listTimes: number[] = [];
  watches = 0;
  requests: Array<{ method: string; url: string; body: string; authorization: string | undefined }> = [];
  /** Watches from before this version are answered 410. */
  oldest = 0;
  private version = 100;
  private uids = 0;
  private readonly history: Event[] = [];
  private readonly followers = new Set<(event: Event | 'bookmark') => void>();
  private readonly open = new Set<ServerResponse>();
  private readonly server = http.createServer((request, response) => void this.answer(request, response));
  url = '';

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    const address = this.server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    this.url = `http://127.0.0.1:${address.port}`;
    return this;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  put(name: string, fields: object = {}): Item {
    const before = this.items.get(name);
    const uid = before?.metadata.uid ?? `uid-${++this.uids}`;
    const object: Item = {
      ...fields,
      metadata: { ...(fields as Partial<Item>).metadata, name, uid, resourceVersion: String(++this.version) },
    };
    this.items.set(name, object);
    this.tell({ type: before === undefined ? 'ADDED' : 'MODIFIED', object });
    return object;
  }

  delete(name: string): void {
    const before = this.items.get(name);
    if (before === undefined) return;
    this.items.delete(name);
    this.tell({
      type: 'DELETED',
      object: { ...before, metadata: { ...before.metadata, resourceVersion: String(++this.version) } },
    });
  }

  bookmark(): void {
    this.version += 1;
    for (const follower of this.followers) follower('bookmark');
  }

  /** Ends the watches that are open, as a server does when their time is over. */
  cut(): void {
    for (const response of this.open) response.end();
  }

  /** Every watch learns 410 from now on, as when the server's memory is too short. */
  forget(): void {
    this.oldest = this.version + 1;
    this.version += 1;
  }

  private tell(event: Event): void {
    this.history.push(event);
    for (const follower of this.followers) follower(event);
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const url = new URL(request.url ?? '/', this.url);
    const method = request.method ?? 'GET';
    this.requests.push({ method, url: request.url ?? '', body, authorization: request.headers.authorization });
    const name = url.pathname.split('/')[6];
    const isWatch = url.searchParams.get('watch') === 'true';
    if (url.pathname === '/api/v1/nodes') {
      if (isWatch) return void response.writeHead(200).flushHeaders();
      return this.send(response, 200, { metadata: { resourceVersion: String(this.version) }, items: this.nodes });
    }
    const isList = method === 'GET' && !isWatch && name === undefined;
    if (isList && !url.searchParams.has('continue')) this.listTimes.push(performance.now());
    const refused = this.faults.refuse({ method, url: url.search, isWatch, isList });
    if (refused !== null)
      return this.send(
        response,
        refused.status,
        refused.body ?? { code: refused.status, message: 'refused by the test' },
        refused.headers,
      );
    if (isWatch) return this.watch(Number(url.searchParams.get('resourceVersion')), response);
    if (isList) return this.list(url.searchParams, response);
    const item = name === undefined ? undefined : this.items.get(name);
    if (method === 'POST') {
      const posted = JSON.parse(body) as Item;
      if (this.items.has(posted.metadata.name))
        return this.send(response, 409, { code: 409, reason: 'AlreadyExists', message: 'already exists' });
      return this.send(response, 201, this.put(posted.metadata.name, posted));
    }
    if (name === undefined || item === undefined)
      return this.send(response, 404, { code: 404, reason: 'NotFound', message: `pods "${name}" not found` });
    if (method === 'DELETE') {
      const { preconditions } = JSON.parse(body) as { preconditions?: { uid?: string } };
      if (preconditions?.uid !== item.metadata.uid)
        return this.send(response, 409, {
          code: 409,
          reason: 'Conflict',
          message: 'the UID in the precondition does not match',
        });
      this.delete(name);
      return this.send(response, 200, item);
    }
    this.send(response, 200, item);
  }

  private async list(query: URLSearchParams, response: ServerResponse): Promise<void> {
    if (this.faults.listDelayMs > 0) await new Promise((resolve) => setTimeout(resolve, this.faults.listDelayMs));
    // Pages show one moment; here nothing is kept of it but names, which is enough while a test lists.
    const [version = String(this.version), begin = '0'] = query.get('continue')?.split('.') ?? [];
    const limit = Number(query.get('limit') ?? Number.POSITIVE_INFINITY);
    const all = [...this.items.values()].filter((item) => Number(item.metadata.resourceVersion) <= Number(version));
    const next = Number(begin) + limit;
    this.send(response, 200, {
      metadata: { resourceVersion: version, ...(next < all.length ? { continue: `${version}.${next}` } : {}) },
      items: all.slice(Number(begin), next),
    });
  }

  private watch(from: number, response: ServerResponse): void {
    this.watches += 1;
    if (from < this.oldest) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        `${JSON.stringify({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' } })}\n`,
      );
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    const write = (type: string, object: object): void =>
      void (this.faults.stall || response.write(`${JSON.stringify({ type, object })}\n`));
    const follower = (event: Event | 'bookmark'): void => {
      if (event === 'bookmark') {
        write('BOOKMARK', { metadata: { resourceVersion: String(this.version) } });
        return;
      }
      if (this.faults.repeatOld && this.history.length > 3)
        for (const old of this.history.slice(-4, -1).reverse()) write(old.type, old.object);
      for (let copy = 0; copy < this.faults.copies; copy += 1) write(event.type, event.object);
    };
    for (const event of this.history) if (Number(event.object.metadata.resourceVersion) > from) follower(event);
    this.followers.add(follower);
    this.open.add(response);
    response.once('close', () => {
      this.followers.delete(follower);
      this.open.delete(response);
    });
    const { cutWatchAfterMs } = this.faults;
    if (cutWatchAfterMs !== null) setTimeout(() => response.destroy(), cutWatchAfterMs);
  }

  private send(response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  }
}

/** A clock that runs `speed` times as fast as the real one. */
export function fastTiming(speed: number): Timing {
  return {
    now: () => performance.now() * speed,
    wait: (milliseconds, signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const abort = (): void => {
          clearTimeout(timer);
          reject(signal.reason);
        };
        const timer = setTimeout(() => {
          signal.removeEventListener('abort', abort);
          resolve();
        }, milliseconds / speed);
        signal.addEventListener('abort', abort, { once: true });
      }),
    random: () => Math.random(),
  };
}
