import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, request as httpRequest, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { connect as connectTls, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { InternalSignature } from '@slipway/auth/internal-signature';
import { type BrokerLine, CredentialUse, type OpenedCredential, type OpenedRule } from '@slipway/contracts/credentials';
import { GracefulStop } from '@slipway/service';
import { createLogger } from '@slipway/telemetry';
import { until } from '@slipway/testing';
import { loadConfig } from '../config.js';
import { type CredentialBroker, startCredentialBroker } from '../credential-broker.js';
import { TestAuthority, type TestCertificate } from './test-authority.js';
import { TestControl } from './test-control.js';

export const BROKER_SECRET = 'broker-secret-of-tests-0123456789abcdef';
export const CONTROL_SECRET = 'control-secret-of-tests-0123456789abcdef';
const PROBE = 'probe.example.com';
export const LINE = { claim: 'clm_1', org: 'org_1', conversation: 'cnv_1', rule: null, tls: true } as const;

export interface Asked {
  readonly host: string;
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
  /** Another sandbox. */
  readonly line?: Partial<BrokerLine>;
}

export interface Answered {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  /** Of a refusal. */
  readonly code: string | undefined;
}

/** A host of the internet, on loopback: `https://NAME:PORT`. */
export interface Origin {
  readonly name: string;
  readonly port: number;
  readonly seen: Array<{
    readonly method: string;
    readonly url: string;
    readonly headers: IncomingMessage['headers'];
    body: string;
  }>;
  readonly connections: () => number;
  close(): Promise<void>;
}

/** A broker on loopback with what stands around it: the control side, a name service, and hosts with certificates. */
export class TestBroker {
  readonly names = new Map<string, readonly string[]>();
  readonly origins: Origin[] = [];
  broker!: CredentialBroker;
  /** Another broker, in a process of its own. */
  at: CredentialBroker['address'] | null = null;
  control!: TestControl;
  /** One for each connection, so that requests can follow each other on it. */
  private readonly agents = new WeakMap<Socket, Agent>();
  private readonly signature = new InternalSignature(BROKER_SECRET, 'slipway-broker');

  private constructor(
    readonly folder: string,
    /** That sandboxes trust. */
    readonly authority: TestAuthority,
    /** That the internet trusts. */
    readonly roots: TestAuthority,
  ) {}

  static async start(settings: Readonly<Record<string, string>> = {}): Promise<TestBroker> {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-broker-'));
    const world = new TestBroker(folder, await TestAuthority.make('Broker'), await TestAuthority.make('Roots'));
    await writeFile(path.join(folder, 'ca.pem'), world.authority.cert);
    await writeFile(path.join(folder, 'ca.key'), world.authority.key, { mode: 0o600 });
    // As NODE_EXTRA_CA_CERTS does for a process of its own.
    setDefaultCACertificates([world.roots.cert]);
    world.control = await TestControl.start(CONTROL_SECRET);
    world.broker = await world.another(settings);
    // A test with a real app-server names that in its place.
    if (settings['CREDENTIAL_CONTROL_URL'] === undefined)
      await until('changes are heard', () => world.control.listeners > 0);
    return world;
  }

  /** A broker beside the first one; the caller closes it. */
  another(settings: Readonly<Record<string, string>>): Promise<CredentialBroker> {
    const logger = createLogger('credential-broker', 'silent');
    const config = loadConfig({ ...this.environment(), BROKER_PORT: '0', PORT: '0', ...settings });
    const stop = new GracefulStop({ logger, drainSeconds: 0, exit: () => {} });
    return startCredentialBroker(config, logger, stop, async (host) => {
      const found = this.names.get(host);
      if (found === undefined) throw Object.assign(new Error('unknown'), { code: 'ENOTFOUND' });
      return found;
    });
  }

  environment(): Record<string, string> {
    return {
      BROKER_SECRET,
      CREDENTIAL_CONTROL_URL: this.control.url,
      CREDENTIAL_CONTROL_SECRET: CONTROL_SECRET,
      BROKER_CA_FILE: path.join(this.folder, 'ca.pem'),
      BROKER_CA_KEY_FILE: path.join(this.folder, 'ca.key'),
      BROKER_PERMITTED_RANGES: '127.0.0.1',
    };
  }

  /** A host with a certificate of its own. */
  async origin(
    name: string,
    handler: RequestListener,
    certificate?: TestCertificate,
  ): Promise<Origin & { readonly server: Server }> {
    const seen: Origin['seen'] = [];
    let connections = 0;
    const server: Server = createServer({ ...(certificate ?? (await this.roots.issue(name))) }, (request, response) => {
      const { method = '', url = '', headers } = request;
      const entry = { method, url, headers, body: '' };
      seen.push(entry);
      if (!/^application\/x-git/.test(headers['content-type'] ?? ''))
        request.on('data', (chunk: Buffer) => {
          entry.body += chunk.toString('latin1');
        });
      handler(request, response);
    });
    server.on('connection', () => {
      connections += 1;
    });
    server.on('tlsClientError', () => {});
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const origin = {
      name,
      seen,
      server,
      port: (server.address() as AddressInfo).port,
      connections: () => connections,
      close: async () => {
        server.closeAllConnections();
        await new Promise((closed) => server.close(closed));
      },
    };
    this.names.set(name, ['127.0.0.1']);
    this.origins.push(origin);
    return origin;
  }

  /** Lets the conversation use credentials, and waits until the broker has heard of the change. */
  async give(...credentials: ReadonlyArray<OpenedCredential>): Promise<void> {
    // A host that has none: what is remembered of it is forgotten together with all else of the organization.
    const probe = async (): Promise<number> => {
      await this.ask({ host: PROBE, line: { claim: 'clm_probe' } });
      return this.control.asked.filter(({ host }) => host === PROBE).length;
    };
    const before = await probe();
    this.say(...credentials);
    await until('the change is heard', async () => (await probe()) > before);
    this.control.asked.length = 0;
  }

  /** The same without waiting. */
  say(...credentials: ReadonlyArray<OpenedCredential>): void {
    this.control.credentials = [...credentials];
    this.control.change(LINE.org);
  }

  /** Gives the conversation rules for the host, and waits until the broker has heard of the change. */
  async rule(...rules: ReadonlyArray<OpenedRule>): Promise<void> {
    this.control.rules = [...rules];
    await this.give(...this.control.credentials);
  }

  portOf(host: string): number {
    return this.origins.findLast(({ name }) => name === host)?.port ?? 443;
  }

  signedLine(line: Partial<BrokerLine> & { readonly host: string }): string {
    const body = JSON.stringify({ ...LINE, port: this.portOf(line.host), ...line });
    const nonce = randomBytes(16).toString('base64url');
    return `${this.signature.sign({ method: 'CONNECT', path: '/', body }, new Date(), nonce)} ${body}\n`;
  }

  async dial(at = this.at ?? this.broker.address): Promise<Socket> {
    const { host, port } = at;
    const socket = connect(port, host);
    socket.on('error', () => {});
    await once(socket, 'connect');
    return socket;
  }

  /** A connection of a sandbox, as egress-proxy passes it on. */
  async connect(
    line: Partial<BrokerLine> & { readonly host: string },
    at?: CredentialBroker['address'],
  ): Promise<Socket> {
    const socket = await this.dial(at);
    socket.write(this.signedLine(line));
    return socket;
  }

  /** The same with TLS to the broker. @throws Error of the handshake. */
  async secure(
    line: Partial<BrokerLine> & { readonly host: string },
    servername = line.host,
    at?: CredentialBroker['address'],
  ): Promise<TLSSocket> {
    const socket = connectTls({
      socket: await this.connect(line, at),
      ca: this.authority.cert,
      ALPNProtocols: ['http/1.1'],
      ...(servername === '' ? { checkServerIdentity: () => undefined } : { servername }),
    });
    await once(socket, 'secureConnect');
    socket.on('error', () => {});
    return socket;
  }

  /** One request on a connection of its own. @param at another broker than the first. */
  async ask(asked: Asked, at?: CredentialBroker['address']): Promise<Answered> {
    const socket = await this.secure({ host: asked.host, ...asked.line }, asked.host, at);
    try {
      return await this.askOn(socket, asked);
    } finally {
      socket.destroy();
    }
  }

  async askOn(socket: Socket, { host, method = 'GET', path: url = '/', headers = {}, body }: Asked): Promise<Answered> {
    const agent = this.agents.get(socket) ?? new Agent({ keepAlive: true, maxSockets: 1 });
    agent.createConnection = () => socket;
    this.agents.set(socket, agent);
    const sent = httpRequest({
      agent,
      method,
      path: url,
      setHost: false,
      headers: { host: `${host}:${this.portOf(host)}`, ...headers },
    });
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const answer = await text(response);
    const problem = /problem\+json/.test(response.headers['content-type'] ?? '')
      ? (JSON.parse(answer) as { code?: string })
      : {};
    return { status: response.statusCode ?? 0, headers: response.headers, text: answer, code: problem.code };
  }

  /** Bytes as they are written here, and all that is answered until the connection ends. */
  async raw(host: string, bytes: string, line: Partial<BrokerLine> = {}): Promise<string> {
    const socket = await this.secure({ host, ...line });
    socket.write(bytes, 'latin1');
    return text(socket);
  }

  async close(): Promise<void> {
    await this.broker?.close();
    await this.control?.close();
    for (const origin of this.origins) await origin.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** A rule of the organization as app-server gives it: for a host and the names below it, limited. */
export function rule(host: string, limits: Partial<OpenedRule['limits']>, more: Partial<OpenedRule> = {}): OpenedRule {
  count += 1;
  return {
    id: `egr_${count}`,
    scope: 'organization',
    host: host.replace(/^\*\./, ''),
    below: host.startsWith('*.'),
    port: null,
    action: 'allow',
    once: false,
    endsAt: null,
    limits: { methods: null, paths: null, foreign: 'refuse', websocket: false, ...limits },
    ...more,
  };
}

let count = 0;

/** A credential as app-server gives it. */
export function credential(
  use: Parameters<typeof CredentialUse.parse>[0],
  more: Partial<OpenedCredential> = {},
): OpenedCredential {
  count += 1;
  return {
    id: `crd_${count}`,
    name: `TOKEN_${count}`,
    scope: 'org',
    use: CredentialUse.parse(use),
    value: `s3cret-value-${count}-Zq+/x`,
    reference: null,
    identity: null,
    endsInMs: null,
    ...more,
  };
}
