import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import net, { type AddressInfo, type LookupFunction, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import tls from 'node:tls';
import { decoded, WORKSPACE_HOST } from './address.js';
import { isOfThisMachine, LocalNames, openingOf } from './local-callers.js';
import { line } from './page-text.js';
import { type WayOut, type WayOutOptions, wayOutTo } from './way-out.js';

/** Longest wait for a connection. Milliseconds. */
const CONNECT_MS = 15_000;
/** Longest silence of a plain request. Milliseconds. */
const SILENT_MS = 300_000;
/** Headers that are about one connection. */
const HOP = ['connection', 'proxy-connection', 'proxy-authorization', 'keep-alive', 'te', 'trailer', 'upgrade'];

export interface BrowserProxyOptions extends WayOutOptions {
  /** Called for each refused connection: the requester only sees a failure. */
  readonly refused: (because: string) => void;
}

/**
 * The only way out of pages of sites, also to this machine: each connection is checked by `wayOutTo`. TLS passes as it
 * is. Listens on loopback; whoever else connects reaches no more than a page does. Servers of this machine are for
 * pages of this machine, and for who goes there: what pages of other sites ask of them behind the harnesses is refused.
 */
export class BrowserProxy {
  readonly #server = http.createServer(
    (request, response) => void this.#forward(request, response).catch(() => response.destroy()),
  );
  readonly #sockets = new Set<Duplex>();
  readonly #names = new LocalNames();

  private constructor(private readonly options: BrowserProxyOptions) {
    this.#server.on(
      'connect',
      (request: IncomingMessage, socket: Duplex, head: Buffer) =>
        void this.#tunnel(request, socket, head).catch(() => socket.destroy()),
    );
    this.#server.on('connection', (socket: Socket) => this.#keep(socket));
    this.#server.on('clientError', (_error, socket) => socket.destroy());
    this.#server.unref();
  }

  static start(options: BrowserProxyOptions): Promise<BrowserProxy> {
    const proxy = new BrowserProxy(options);
    return new Promise((resolve, reject) => {
      proxy.#server.once('error', reject);
      proxy.#server.listen(0, '127.0.0.1', () => resolve(proxy));
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #keep(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#sockets.delete(socket));
  }

  /** A plain request, whose address is whole. */
  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => {});
    const url = URL.canParse(request.url ?? '') ? new URL(request.url ?? '') : null;
    if (url === null || url.protocol !== 'http:') return answer(response, 400, 'This is a proxy.');
    if (url.hostname === WORKSPACE_HOST)
      return answer(response, 403, 'Files of the workspace are not for pages of other sites.');
    const found = await wayOutTo(url.hostname, Number(url.port || 80), this.options);
    this.#names.learn(url.hostname, found);
    const way =
      found.kind === 'direct' && found.own && !isOfThisMachine(request.headers, url.hostname, this.#names)
        ? notForOthers(url.host)
        : found;
    // Who asked has gone meanwhile: nothing would end what is begun now.
    if (response.destroyed) return;
    if (way.kind === 'refused' || way.kind === 'unreachable') {
      if (way.kind === 'refused') this.options.refused(way.because);
      return answer(response, way.kind === 'refused' ? 403 : 502, way.because);
    }
    const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => !HOP.includes(name)));
    const to = { host: hostOf(url), port: Number(url.port || 80) };
    const call =
      way.kind === 'direct'
        ? http.request({
            ...to,
            path: `${url.pathname}${url.search}`,
            headers,
            method: request.method,
            createConnection: () => net.connect({ ...to, lookup: fixed(way), autoSelectFamily: true }),
            timeout: SILENT_MS,
          })
        : (way.proxy.protocol === 'https:' ? https : http).request({
            host: hostOf(way.proxy),
            port: portOf(way.proxy),
            path: url.href,
            method: request.method,
            headers: { ...headers, ...credentialOf(way.proxy) },
            agent: false,
            timeout: SILENT_MS,
          });
    call.on('timeout', () => call.destroy(new Error('no answer')));
    call.on('socket', (socket) => this.#keep(socket));
    call.on('error', (error: NodeJS.ErrnoException) => {
      if (response.headersSent) response.destroy();
      else answer(response, 502, `${url.host} does not answer: ${error.code ?? error.message}`);
    });
    call.on('response', (came) => {
      const passed = Object.fromEntries(Object.entries(came.headers).filter(([name]) => !HOP.includes(name)));
      const status = came.statusCode ?? 0;
      // The parser takes any three digits.
      if (status < 200) {
        call.destroy();
        return answer(response, 502, `${url.host} answers with status ${status}, which is none.`);
      }
      // A full Chromium would ask a user for a password, who is not there, and load endlessly. A page that is opened
      // says so by itself, or has a name and password in its address.
      if (status === 401 && !isGoneTo(request)) delete passed['www-authenticate'];
      response.writeHead(status, passed);
      came.on('error', () => response.destroy());
      came.pipe(response);
    });
    response.once('close', () => call.destroy());
    request.on('error', () => call.destroy());
    request.pipe(call);
  }

  /** TLS and WebSockets: bytes both ways. */
  async #tunnel(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    this.#keep(socket);
    const url = URL.canParse(`tcp://${request.url}`) ? new URL(`tcp://${request.url}`) : null;
    const port = Number(url?.port);
    if (url === null || !Number.isInteger(port) || port < 1 || url.hostname === WORKSPACE_HOST)
      return void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    const way = await wayOutTo(url.hostname, port, this.options);
    this.#names.learn(url.hostname, way);
    if (socket.destroyed) return;
    if (way.kind === 'refused' || way.kind === 'unreachable') {
      if (way.kind === 'refused') this.options.refused(way.because);
      return void socket.end(
        `HTTP/1.1 ${way.kind === 'refused' ? '403 Forbidden' : '502 Bad Gateway'}\r\nContent-Length: 0\r\n\r\n`,
      );
    }
    const other =
      way.kind === 'direct'
        ? net.connect({ host: hostOf(url), port, lookup: fixed(way), autoSelectFamily: true })
        : connectTo(way.proxy, `${url.hostname}:${port}`);
    this.#keep(other);
    other.setTimeout(CONNECT_MS, () => other.destroy());
    socket.once('close', () => other.destroy());
    other.once('close', () => socket.destroy());
    other.once('connect', () => {
      other.setTimeout(0);
      // Another proxy answers the CONNECT itself, and Chromium reads it.
      if (way.kind === 'direct') socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      other.pipe(socket);
      void this.#open(socket, head, other, way.kind === 'direct' && way.own ? url : null);
    });
    other.once('error', () => socket.end('HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n'));
  }

  /** Forwards the first bytes; to a local server (`asked`) only after a check: a WebSocket names its page there. */
  async #open(socket: Duplex, head: Buffer, other: Socket, asked: URL | null): Promise<void> {
    let first = head;
    if (asked !== null) {
      const opening = await openingOf(socket, head, asked.hostname, this.#names);
      if (opening.kind === 'other-site') {
        this.options.refused(notForOthers(asked.host).because);
        socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n');
      }
      if (opening.kind !== 'fine') return void other.destroy();
      first = opening.bytes;
    }
    if (first.length > 0) other.write(first);
    socket.pipe(other);
  }
}

/** Whether the browser goes there, rather than that a page loads it. */
function isGoneTo({ headers }: IncomingMessage): boolean {
  const destination = headers['sec-fetch-dest'];
  return destination === undefined ? headers['upgrade-insecure-requests'] === '1' : destination === 'document';
}

function notForOthers(host: string): Extract<WayOut, { kind: 'refused' }> {
  return {
    kind: 'refused',
    because: `A page of another site asked for ${line(host, 100)}, a server of this machine, and was refused: it may only lead there.`,
  };
}

function connectTo(proxy: URL, target: string): Socket {
  const to = { host: hostOf(proxy), port: portOf(proxy) };
  const socket = proxy.protocol === 'https:' ? tls.connect({ ...to, servername: hostOf(proxy) }) : net.connect(to);
  const lines = Object.entries(credentialOf(proxy)).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${lines.join('')}\r\n`);
  return socket;
}

function credentialOf({ username, password }: URL): Record<string, string> {
  if (username === '') return {};
  return {
    'proxy-authorization': `Basic ${Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64')}`,
  };
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

function portOf({ port, protocol }: URL): number {
  return Number(port || (protocol === 'https:' ? 443 : 80));
}

/** Connects to what was checked, whatever the name says by now. */
function fixed(way: Extract<WayOut, { kind: 'direct' }>): LookupFunction {
  return (_host, options, callback) => {
    const [first] = way.addresses;
    if (options.all === true) callback(null, [...way.addresses]);
    else callback(null, first?.address ?? '', first?.family ?? 4);
  };
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text);
}
