import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';

export interface TestIngressOptions {
  readonly address: string;
  /** PEM texts. Without them it speaks plain HTTP. */
  readonly tls?: { readonly certificate: string; readonly key: string };
  /** [any free one] */
  readonly port?: number;
  /** Where a host's requests go, by its name without the port. */
  route(host: string): { readonly address: string; readonly port: number } | null;
}

/**
 * An Ingress: it terminates TLS, sets X-Forwarded-*, and forwards requests and sockets by their host. It keeps no
 * connection open to those behind it between requests, so that each request goes where the Service leads at that
 * moment, and it repeats nothing.
 */
export class TestIngress {
  private readonly sockets = new Set<Duplex>();
  private readonly server: Server | ReturnType<typeof createServer>;
  private readonly options: TestIngressOptions;

  private constructor(options: TestIngressOptions) {
    this.options = options;
    const { tls } = options;
    this.server = tls === undefined ? createServer() : createSecureServer({ cert: tls.certificate, key: tls.key });
    this.server.on('request', (incoming, response) => this.handOn(incoming, response));
    this.server.on('upgrade', (incoming, socket, head) => this.join(incoming, socket, head));
    this.server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
  }

  /** @throws Error when the port is taken. */
  static async open(options: TestIngressOptions): Promise<TestIngress> {
    const ingress = new TestIngress(options);
    await new Promise<void>((resolve, reject) =>
      ingress.server.once('error', reject).listen(options.port ?? 0, options.address, resolve),
    );
    return ingress;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  private behind(incoming: IncomingMessage) {
    const host = incoming.headers.host ?? '';
    const target = this.options.route(host.replace(/:\d+$/, ''));
    if (target === null) return null;
    const headers = {
      ...incoming.headers,
      'x-forwarded-proto': this.options.tls === undefined ? 'http' : 'https',
      'x-forwarded-host': host,
      'x-forwarded-for': incoming.socket.remoteAddress ?? '',
    };
    return request({
      host: target.address,
      port: target.port,
      method: incoming.method,
      path: incoming.url,
      headers,
      agent: false,
    });
  }

  private handOn(incoming: IncomingMessage, response: ServerResponse): void {
    const outgoing = this.behind(incoming);
    if (outgoing === null) return void response.writeHead(404).end('no such host\n');
    outgoing.on('response', (answer) => {
      const { connection: _, 'keep-alive': __, 'transfer-encoding': ___, ...headers } = answer.headers;
      response.writeHead(answer.statusCode ?? 502, headers);
      answer.pipe(response);
      answer.once('error', () => response.destroy());
    });
    outgoing.once('error', (error) => {
      if (response.headersSent) response.destroy();
      else response.writeHead(502, { 'content-type': 'text/plain' }).end(`${error.message}\n`);
    });
    response.once('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  }

  private join(incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
    const outgoing = this.behind(incoming);
    socket.on('error', () => outgoing?.destroy());
    if (outgoing === null) return void socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n');
    outgoing.once('error', () => socket.destroy());
    // Refused: the answer is passed on unchanged, and ends it.
    outgoing.once('response', (answer) => {
      socket.write(`HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}\r\nConnection: close\r\n\r\n`);
      answer.pipe(socket);
    });
    outgoing.once('upgrade', (answer, other, first) => {
      const lines = Object.entries(answer.headers).flatMap(([name, value]) =>
        [value ?? []].flat().map((one) => `${name}: ${one}\r\n`),
      );
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`);
      if (first.length > 0) socket.write(first);
      if (head.length > 0) other.write(head);
      for (const [from, to] of [
        [socket, other],
        [other, socket],
      ] as const) {
        from.pipe(to);
        from.on('error', () => to.destroy());
        from.once('close', () => to.destroy());
      }
    });
    outgoing.end();
  }
}
