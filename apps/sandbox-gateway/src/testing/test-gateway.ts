import { createHash, randomBytes, randomUUID } from 'node:crypto';
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { SandboxTokens } from '@slipway/auth/sandbox-access';
import { WANTS_GATEWAY_KEY_HEADER } from '@slipway/contracts/agent';
import { Runtime } from '@slipway/contracts/sandboxes';
import { createPool, type SqlPool } from '@slipway/db/sql';
import { GracefulStop } from '@slipway/service';
import { createLogger } from '@slipway/telemetry';
import { createTestDatabase, type TestDatabase } from '@slipway/testing';
import { Agent, type Dispatcher } from 'undici';
import { WebSocket, WebSocketServer } from 'ws';
import { loadConfig } from '../config.js';
import { type Gateway, startGateway } from '../gateway.js';

export const SECRET = 'sandbox-access-secret-of-the-tests-0123';
export const SESSION_KEY = 'the-sandboxes-own-session-key';
/** What agent-server knows the gateway by. */
export const GATEWAY_KEY = 'the-gateways-own-key-for-this-sandbox';
export const PLATFORM = 'https://slipway.test';
const RUNTIME_KEY = 'runtime-api-key-of-the-tests-0123456789';

export interface Grant {
  readonly id: string;
  readonly org: string;
  readonly user: string;
  readonly session: string;
  readonly conversation: string;
  readonly port: number;
  readonly token: string;
  readonly ticket: string;
  /** `Host` of its sandbox's own origin. */
  readonly host: string;
}

/** Where a request ends up that was let in; what it got is in `seen`. */
export interface Upstream {
  readonly server: Server;
  readonly seen: Array<{ method: string; url: string; headers: IncomingMessage['headers'] }>;
  /** Answers the requests of one test. */
  handler: (request: IncomingMessage, response: ServerResponse) => void;
  readonly sockets: Set<WebSocket>;
}

/**
 * The real gateway on a real Postgres. runtime-api and the sandbox are other programs' servers on loopback: what
 * matters of them is what they answer.
 */
export class TestGateway {
  private constructor(
    /** What the gateway was started with; another process that is started so serves the same sandboxes. */
    readonly env: Readonly<Record<string, string>>,
    readonly database: TestDatabase,
    readonly owner: SqlPool,
    readonly gateway: Gateway,
    private readonly stop: GracefulStop,
    readonly upstream: Upstream,
    readonly runtimeApi: {
      server: Server;
      asked: number;
      answer: (session: string) => Partial<Runtime> | null | 'fail';
    },
    readonly http: Agent,
    /** How far the gateway's notes of who works are ahead of this machine's clock. Milliseconds. */
    readonly ahead: { ms: number },
  ) {}

  static async start(env: Record<string, string> = {}, databaseUrl?: (url: string) => string): Promise<TestGateway> {
    const database = await createTestDatabase();
    const upstream = await startUpstream();
    const runtimeApi: TestGateway['runtimeApi'] = { server: createServer(), asked: 0, answer: () => ({}) };
    runtimeApi.server.on('request', (request, response) => {
      runtimeApi.asked += 1;
      const session = (request.url ?? '').slice('/sessions/'.length);
      const answer = runtimeApi.answer(session);
      if (request.headers['x-api-key'] !== RUNTIME_KEY || answer === 'fail') return void response.writeHead(500).end();
      if (answer === null) return void response.writeHead(404).end('{}');
      const runtime: Runtime = {
        runtime_id: 'r',
        session_id: session,
        url: urlOf(upstream.server),
        session_api_key: SESSION_KEY,
        ...(request.headers[WANTS_GATEWAY_KEY_HEADER] === undefined ? {} : { gateway_api_key: GATEWAY_KEY }),
        status: 'running',
        pod_status: 'ready',
        restart_count: 0,
        restart_reasons: [],
        working_dir: '/workspace',
        work_hosts: {},
      };
      response.end(JSON.stringify(Runtime.parse({ ...runtime, ...answer })));
    });
    await listen(runtimeApi.server);
    const source = {
      NODE_ENV: 'test',
      PORT: '0',
      PUBLIC_URL: PLATFORM,
      SANDBOX_GATEWAY_URL: 'http://gw.test',
      SANDBOX_ACCESS_SECRET: SECRET,
      DATABASE_URL: databaseUrl?.(database.urls.sandbox) ?? database.urls.sandbox,
      RUNTIME_API_URL: urlOf(runtimeApi.server),
      RUNTIME_API_KEY: RUNTIME_KEY,
      ...env,
    };
    const config = loadConfig(source);
    const logger = createLogger('sandbox-gateway', process.env['TEST_LOG_LEVEL'] ?? 'silent');
    const stop = new GracefulStop({ logger, drainSeconds: 0, exit: () => {} });
    const ahead = { ms: 0 };
    const gateway = await startGateway(config, logger, stop, () => performance.now() + ahead.ms);
    const owner = createPool({ url: database.ownerUrl, max: 3, applicationName: 'test', onError: () => {} });
    return new TestGateway(source, database, owner, gateway, stop, upstream, runtimeApi, new Agent(), ahead);
  }

  get metricsUrl(): string | null {
    return this.gateway.metricsUrl;
  }

  /** A user with a right to a port of a conversation of their own. */
  async grant(port = 8000, given: { conversation?: string; org?: string; expiresIn?: number } = {}): Promise<Grant> {
    const id = `sbx_${randomBytes(6).toString('hex')}`;
    const grant = {
      id,
      org: given.org ?? `org_${id}`,
      user: `usr_${id}`,
      session: `ses_${id}`,
      conversation: given.conversation ?? randomUUID(),
      port,
      ticket: randomBytes(32).toString('base64url'),
    };
    const q = (text: string, values: unknown[]): Promise<unknown> => this.owner.query(text, values);
    await q(
      "INSERT INTO app.session (id, user_id, tokens, access_expires_at, expires_at) VALUES ($1, $2, '', now(), now() + interval '1 day')",
      [grant.session, grant.user],
    );
    await q("INSERT INTO app.org (id, slug, name, kind) VALUES ($1, $1, $1, 'team') ON CONFLICT DO NOTHING", [
      grant.org,
    ]);
    await q("INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'member')", [grant.org, grant.user]);
    await q(
      "INSERT INTO app.conversation (id, org_id, created_by, created_by_label, title, model) VALUES ($1, $2, 'u', 'u', 't', 'm') ON CONFLICT DO NOTHING",
      [grant.conversation, grant.org],
    );
    await q(
      `INSERT INTO app.sandbox_grant (id, org_id, user_id, session_id, conversation_id, port, ticket_hash, ticket_expires_at, expires_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, now() + interval '30 s', now() + interval '1 hour')`,
      [
        id,
        grant.org,
        grant.user,
        grant.session,
        grant.conversation,
        port,
        createHash('sha256').update(grant.ticket).digest(),
      ],
    );
    const claims = { jti: id, org: grant.org, sub: grant.user, conversation: grant.conversation, port };
    const { token } = await new SandboxTokens(SECRET).sign(
      claims,
      new Date(),
      new Date(Date.now() + (given.expiresIn ?? 3_600) * 1000),
    );
    return { ...grant, token, host: `${port}-${grant.conversation}.gw.test` };
  }

  /** The conversation counts for the holder of the grant already, and llm-gateway knows it. */
  pays(grant: Grant): Promise<unknown> {
    return this.owner.query(
      `INSERT INTO app.conversation_spender (conversation_id, org_id, user_id, user_label, applied) VALUES ($1, $2, $3, $3, json_build_array($3::text, $3::text, NULL)::text)`,
      [grant.conversation, grant.org, grant.user],
    );
  }

  revoke(grant: Grant): Promise<unknown> {
    return this.owner.query('UPDATE app.sandbox_grant SET revoked_at = now() WHERE id = $1', [grant.id]);
  }

  request(
    path: string,
    options: {
      method?: string;
      headers?: Record<string, string>;
      body?: Dispatcher.DispatchOptions['body'];
      signal?: AbortSignal;
    } = {},
  ): Promise<Dispatcher.ResponseData> {
    const { method = 'GET', headers = {}, body = null, signal } = options;
    return this.http.request({
      origin: this.gateway.url,
      path,
      method: method as Dispatcher.HttpMethod,
      headers,
      body,
      ...(signal === undefined ? {} : { signal }),
    });
  }

  /** Status and body of a request to the sandbox's own origin. */
  async ask(
    grant: Grant,
    path = '/',
    headers: Record<string, string> = { authorization: `Bearer ${grant.token}` },
    method = 'GET',
  ): Promise<{ status: number; headers: Dispatcher.ResponseData['headers']; text: string }> {
    const response = await this.request(path, { method, headers: { host: grant.host, ...headers } });
    return { status: response.statusCode, headers: response.headers, text: await response.body.text() };
  }

  /** With headers that other clients would not let through. */
  plain(path: string, headers: Record<string, string>): Promise<IncomingMessage['headers']> {
    return new Promise((resolve, reject) => {
      const request = httpRequest(`${this.gateway.url}${path}`, { headers, agent: false }, (response) =>
        response.resume().once('end', () => resolve(response.headers)),
      );
      request.once('error', reject).end();
    });
  }

  /** A socket of the sandbox's own origin; rejects with the status of a refusal. */
  socket(host: string, path: string, headers: Record<string, string> = {}): Promise<WebSocket> {
    const socket = new WebSocket(`${this.gateway.url.replace('http', 'ws')}${path}`, { headers: { host, ...headers } });
    return new Promise((resolve, reject) => {
      socket.once('open', () => resolve(socket));
      socket.once('unexpected-response', (_request, response) => reject(new Error(String(response.statusCode))));
      socket.once('error', reject);
    });
  }

  async close(): Promise<void> {
    const { gateway, stop } = this;
    const steps = [
      stop.requests(0, () => gateway.breakOff()),
      { name: 'gateway', withinMs: 5_000, run: () => gateway.close() },
    ];
    await stop.stop('the end of the test', steps, [{ name: 'sockets', run: (drainMs) => gateway.drain(drainMs) }]);
    for (const { server } of [this.upstream, this.runtimeApi]) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
    await this.http.destroy();
    await this.owner.end();
    await this.database.close();
  }
}

async function startUpstream(): Promise<Upstream> {
  const upstream: Upstream = {
    server: createServer(),
    seen: [],
    handler: (_request, response) => void response.end('hello from the sandbox'),
    sockets: new Set(),
  };
  const note = ({ method = '', url = '', headers }: IncomingMessage): unknown =>
    upstream.seen.push({ method, url, headers });
  upstream.server.on('request', (request, response) => {
    note(request);
    upstream.handler(request, response);
  });
  const sockets = new WebSocketServer({ noServer: true });
  upstream.server.on('upgrade', (request, socket, head) => {
    note(request);
    if (request.url === '/no-socket')
      return void socket.end(
        'HTTP/1.1 418 Teapot\r\ncontent-length: 5\r\nset-cookie: a=b; Domain=gw.test\r\n\r\nshort',
      );
    sockets.handleUpgrade(request, socket, head, (opened) => {
      upstream.sockets.add(opened);
      opened.once('close', () => upstream.sockets.delete(opened));
      opened.on('message', (data, binary) => opened.send(data, { binary }));
    });
  });
  await listen(upstream.server);
  return upstream;
}

const listen = (server: Server): Promise<void> => new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
export const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
