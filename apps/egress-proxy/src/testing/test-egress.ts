import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Socket,
  type Server as TcpServer,
} from 'node:net';
import { text } from 'node:stream/consumers';
import { EgressCredentials } from '@slipway/auth/egress-credential';
import { EGRESS_USER, type EgressClaims } from '@slipway/contracts/sandboxes';
import { GracefulStop } from '@slipway/service';
import { createLogger } from '@slipway/telemetry';
import { loadConfig } from '../config.js';
import { type EgressProxy, startEgressProxy } from '../egress-proxy.js';

export const SECRET = 'egress-secret-of-tests-0123456789abcdef';
/**
 * What the rules of these tests list: by name, everything else by a port of its own, since no test can have port 80.
 */
export const RULES = {
  commonHosts: ['git.example'],
  packageHosts: ['mirror.example', '*.files.example', '192.0.2.7'],
  templates: [
    { name: 'narrow', egress: 'allow-list', allowedHosts: ['api.example'] },
    { name: 'other', egress: 'allow-list', allowedHosts: ['other.example'] },
    { name: 'standard', egress: 'packages' },
  ],
};
export const CLAIMS: EgressClaims = {
  claim: 'clm_1',
  org: 'org_1',
  template: 'standard',
  egress: 'packages',
  address: '127.0.0.1',
  exp: 4_000_000_000,
};

export interface Tunnel {
  readonly status: number;
  readonly phrase: string;
  readonly socket: Socket;
  /** Of an answer that is not 200, the whole body as JSON. */
  readonly problem: { readonly code?: string; readonly detail?: string; readonly reason?: string };
}

/** A proxy on loopback, with a name service and origins of the test's own. */
export class TestEgress {
  /** Addresses by name. */
  readonly names = new Map<string, readonly string[]>();
  /** Names that were resolved. */
  readonly asked: string[] = [];
  readonly credentials = new EgressCredentials(SECRET);

  private constructor(readonly settings: Readonly<Record<string, string>>) {}
  proxy!: EgressProxy;

  /** @param settings `EGRESS_PORTS` has to have the ports of the origins. */
  static async start(settings: Readonly<Record<string, string>>): Promise<TestEgress> {
    const world = new TestEgress(settings);
    const logger = createLogger('egress-proxy', 'silent');
    const config = loadConfig({
      EGRESS_SECRET: SECRET,
      EGRESS_RULES: JSON.stringify(RULES),
      PORT: '0',
      EGRESS_PORT: '0',
      ...settings,
    });
    world.proxy = await startEgressProxy(
      config,
      logger,
      new GracefulStop({ logger, drainSeconds: 0, exit: () => {} }),
      async (host) => {
        world.asked.push(host);
        const found = world.names.get(host);
        if (found === undefined) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
        return found;
      },
    );
    return world;
  }

  password(claims: Partial<EgressClaims> = {}): string {
    return this.credentials.sign({ ...CLAIMS, ...claims });
  }

  /** `CONNECT target`, as soon as it is answered. */
  async tunnel(target: string, claims: Partial<EgressClaims> | null = {}, asker?: string): Promise<Tunnel> {
    const socket = await this.dial();
    const credential = claims === null ? '' : `Proxy-Authorization: ${basic(this.password(claims), asker)}\r\n`;
    socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${credential}\r\n`);
    return readTunnel(socket);
  }

  /** One request as it is written here, and all that is answered until the connection ends. */
  async raw(request: string): Promise<string> {
    const socket = await this.dial();
    socket.write(request);
    return text(socket);
  }

  /** `GET url` with an honest credential, on a connection of its own. */
  get(url: string, claims: Partial<EgressClaims> = {}, more = ''): Promise<string> {
    const authority = url.replace(/^http:\/\/([^/]*).*$/, '$1');
    return this.raw(
      `GET ${url} HTTP/1.1\r\nHost: ${authority}\r\nProxy-Authorization: ${basic(this.password(claims))}\r\nConnection: close\r\n${more}\r\n`,
    );
  }

  async dial(): Promise<Socket> {
    const { hostname, port } = new URL(this.proxy.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => {});
    await once(socket, 'connect');
    return socket;
  }

  async close(): Promise<void> {
    await this.proxy.close();
  }
}

/** @param asker who asks, as the sandbox says. */
export const basic = (password: string, asker?: string): string => {
  const user = asker === undefined ? EGRESS_USER : `${EGRESS_USER}.${asker}`;
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
};

export interface Origin {
  readonly port: number;
  /** Connections that it has had. */
  readonly connections: () => number;
  readonly seen: IncomingMessage[];
  close(): Promise<void>;
}

/** An http server on one address of loopback. */
export async function startOrigin(
  handler: RequestListener = (_request, response) => void response.end('hello'),
  address = '127.0.0.1',
  port = 0,
): Promise<Origin> {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    seen.push(request);
    handler(request, response);
  });
  return { seen, ...(await listen(server, address, port)) };
}

/** A server of bytes. */
export async function startBytes(
  handler: (socket: Socket) => void,
  address = '127.0.0.1',
  port = 0,
): Promise<Omit<Origin, 'seen'>> {
  const server = createTcpServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {});
    handler(socket);
  });
  return listen(server, address, port);
}

async function listen(server: TcpServer, address: string, port: number): Promise<Omit<Origin, 'seen'>> {
  let connections = 0;
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    connections += 1;
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  server.listen(port, address);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    close: async () => {
      for (const socket of open) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}

async function readTunnel(socket: Socket): Promise<Tunnel> {
  let head = '';
  while (!head.includes('\r\n\r\n')) {
    const [chunk] = (await Promise.race([once(socket, 'data'), once(socket, 'close').then(() => [null])])) as [
      Buffer | null,
    ];
    if (chunk === null) throw new Error(`the proxy closed after: ${head}`);
    head += chunk.toString('latin1');
  }
  socket.pause();
  const [, status = '0', phrase = ''] = /^HTTP\/1\.1 (\d+) (.*)\r\n/.exec(head) ?? [];
  if (status === '200') return { status: 200, phrase, socket, problem: {} };
  const rest = head.slice(head.indexOf('\r\n\r\n') + 4) + (await text(socket));
  return { status: Number(status), phrase, socket, problem: JSON.parse(rest) };
}
