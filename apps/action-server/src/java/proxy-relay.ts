import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import net, { type AddressInfo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Longest silence of a plain request, and longest wait for a connection to the proxy. Milliseconds. */
const SILENT_MS = 300_000;
const CONNECT_MS = 15_000;
const HOP = ['connection', 'proxy-connection', 'proxy-authorization', 'keep-alive', 'te', 'trailer', 'upgrade'];

/**
 * egress-proxy without its password, on a port of loopback: Java takes no password for a proxy from its environment.
 * It adds the password of this sandbox, which every program of the sandbox has anyway, and decides nothing. Answers of
 * egress-proxy pass unchanged, so that a program reads why a host is refused.
 */
export class ProxyRelay {
  readonly #server = http.createServer((request, response) => this.#forward(request, response));
  readonly #sockets = new Set<Duplex>();
  #proxy: URL | null = null;
  #port: number | null = null;

  constructor() {
    this.#server.on('connect', (request: IncomingMessage, socket: Duplex, head: Buffer) =>
      this.#tunnel(request, socket, head),
    );
    this.#server.on('connection', (socket: Socket) => this.#keep(socket));
    this.#server.on('clientError', (_error, socket) => socket.destroy());
    // Without it Java goes without; nothing else needs it.
    this.#server.on('error', () => {});
    this.#server.unref();
  }

  /** @param proxy with its user and password; `null`: there is none any more. Listens from the first one on. */
  leadTo(proxy: URL | null): void {
    this.#proxy = proxy;
    if (proxy === null || this.#server.listening) return;
    this.#server.listen(0, '127.0.0.1', () => {
      this.#port = (this.#server.address() as AddressInfo).port;
    });
  }

  /** `null`: it does not listen, or there is no proxy. */
  get port(): number | null {
    return this.#proxy === null ? null : this.#port;
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

  #tunnel(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const proxy = this.#proxy;
    const target = request.url ?? '';
    if (proxy === null || !/^[\w.:[\]-]+$/.test(target)) return void socket.destroy();
    const other = net.connect({ host: hostOf(proxy), port: portOf(proxy) });
    this.#keep(other);
    other.setTimeout(CONNECT_MS, () => other.destroy());
    other.once('connect', () => {
      other.setTimeout(0);
      other.write(
        `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\nProxy-Authorization: ${credentialOf(proxy)}\r\n\r\n`,
      );
      if (head.length > 0) other.write(head);
      socket.pipe(other).pipe(socket);
    });
    socket.once('close', () => other.destroy());
    other.once('close', () => socket.destroy());
  }

  /** A plain request, whose address is whole. */
  #forward(request: IncomingMessage, response: ServerResponse): void {
    response.on('error', () => {});
    const proxy = this.#proxy;
    if (proxy === null || !/^http:\/\//i.test(request.url ?? '')) return void response.writeHead(400).end();
    const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => !HOP.includes(name)));
    const call = http.request({
      host: hostOf(proxy),
      port: portOf(proxy),
      path: request.url,
      method: request.method,
      headers: { ...headers, 'proxy-authorization': credentialOf(proxy) },
      agent: false,
      timeout: SILENT_MS,
    });
    call.on('timeout', () => call.destroy(new Error('no answer')));
    call.on('error', () => (response.headersSent ? response.destroy() : response.writeHead(502).end()));
    call.on('response', (came) => {
      const passed = Object.fromEntries(Object.entries(came.headers).filter(([name]) => !HOP.includes(name)));
      response.writeHead(came.statusCode ?? 502, came.statusMessage, passed);
      came.on('error', () => response.destroy());
      came.pipe(response);
    });
    response.once('close', () => call.destroy());
    request.on('error', () => call.destroy());
    request.pipe(call);
  }
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');
const portOf = ({ port }: URL): number => Number(port || 80);
const credentialOf = ({ username, password }: URL): string =>
  `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')}`;
