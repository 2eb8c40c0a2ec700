import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { DynamicModule, Type } from '@nestjs/common';
import { SecretBox, SessionCookie, Sessions } from '@slipway/auth';
import { SandboxKeys } from '@slipway/auth/caller-keys';
import { IngestTokens } from '@slipway/auth/ingest-token';
import { type AppliedSettings, ApplySettings } from '@slipway/contracts/agent';
import { type Conversation } from '@slipway/contracts/conversations';
import { type ConversationEvent, type IngestAck } from '@slipway/contracts/events';
import { DEMO_MODEL, GatewayModelList } from '@slipway/contracts/models';
import { createPool, type SqlPool } from '@slipway/db/sql';
import { createIds, systemClock } from '@slipway/domain';
import { migrateQueue } from '@slipway/queue/migrate';
import { createLogger } from '@slipway/telemetry';
import { createTestDatabase, freePort, type TestDatabase, until } from '@slipway/testing';
import pg from 'pg';
import { RealtimeGateway } from '../log/realtime/realtime.gateway.js';
import { startTestApp, type TestApp, testConfig } from './test-app.js';

export interface User {
  readonly cookie: string;
  readonly orgId: string;
  readonly userId: string;
  readonly sessionId: string;
}

export interface Answer<T = Record<string, unknown>> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
}

/**
 * app-server on a real database, with people who are signed in, sandboxes' tokens, and a gateway that offers one model.
 * Every replica is a server of its own on the same data.
 */
export class ConversationApp {
  private readonly cookies: SessionCookie;
  private readonly sessions: Sessions;
  private readonly tokens: IngestTokens;
  private people = 0;
  private readonly sandboxes: FakeSandbox[] = [];

  private constructor(
    readonly database: TestDatabase,
    /** Owner of the tables: sees past row-level security, for what a test must know. */
    readonly owner: pg.Pool,
    readonly pool: SqlPool,
    readonly replicas: TestApp[],
    readonly box: SecretBox,
    /** What app-server shows to the agent-servers of its conversations. */
    readonly keys: SandboxKeys,
    private readonly gateway: Server,
    config: { SESSION_SECRET: string; INGEST_SECRET: string },
    private readonly startReplica: (index: number) => Promise<TestApp>,
  ) {
    this.cookies = new SessionCookie(config.SESSION_SECRET);
    this.tokens = new IngestTokens(config.INGEST_SECRET);
    this.sessions = new Sessions(
      pool,
      box,
      { refresh: () => Promise.reject(new Error('no issuer')) },
      systemClock,
      createIds(systemClock),
      createLogger('test', 'silent'),
    );
  }

  /**
   * @param options.through what stands between the servers and their database: its URL for the one that it is given.
   * What the test itself asks goes straight there.
   */
  static async start(
    options: {
      replicas?: number;
      env?: Readonly<Record<string, string>>;
      through?: (url: string) => Promise<string>;
      features?: ReadonlyArray<Type | DynamicModule>;
    } = {},
  ): Promise<ConversationApp> {
    const database = await createTestDatabase({
      extra: { name: 'queue', prepare: (ownerUrl) => migrateQueue(ownerUrl, 'slipway_app') },
    });
    const gateway = createServer((request, response) => {
      const internal = internalAnswer(request.url ?? '');
      if (internal !== null)
        return void response
          .writeHead(internal.status, { 'content-type': 'application/json' })
          .end(JSON.stringify(internal.body));
      const models = GatewayModelList.parse({
        object: 'list',
        data: [{ id: DEMO_MODEL, object: 'model', created: 0, owned_by: 'slipway', demo: true, default: true }],
      });
      response.setHeader('content-type', 'application/json').end(JSON.stringify(models));
    });
    await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
    const issuer = { issuerUrl: 'http://127.0.0.1:9/realms/none', clientId: 'none', clientSecret: 'none' };
    const env = {
      LLM_GATEWAY_URL: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`,
      ...(options.through === undefined ? {} : { DATABASE_URL: await options.through(database.urls.app) }),
      ...options.env,
    };
    const replicas: TestApp[] = [];
    const ports: number[] = [];
    const startReplica = (index: number): Promise<TestApp> =>
      startTestApp(
        testConfig(ports[index] as number, database, issuer, env),
        options.features === undefined ? {} : { features: options.features },
      );
    for (let index = 0; index < (options.replicas ?? 1); index += 1) {
      ports.push(await freePort());
      replicas.push(await startReplica(index));
    }
    const config = testConfig(0, database, issuer, env);
    const pool = createPool({ url: database.urls.app, max: 5, applicationName: 'test', onError: () => {} });
    return new ConversationApp(
      database,
      new pg.Pool({ connectionString: database.ownerUrl, max: 5 }),
      pool,
      replicas,
      new SecretBox(config.ENCRYPTION_KEY),
      new SandboxKeys(new SecretBox(config.ENCRYPTION_KEY), config.INGEST_SECRET),
      gateway,
      config,
      startReplica,
    );
  }

  /** Ends a replica and starts it again at its address, on the same data. */
  async restart(index: number): Promise<void> {
    await this.replicas[index]?.close();
    this.replicas[index] = await this.startReplica(index);
  }

  get url(): string {
    return (this.replicas[0] as TestApp).url;
  }

  async close(): Promise<void> {
    for (const replica of this.replicas) await replica.close();
    await Promise.all(this.sandboxes.map((sandbox) => sandbox.close()));
    this.gateway.closeAllConnections();
    await Promise.all([this.pool.end(), this.owner.end(), new Promise((resolve) => this.gateway.close(resolve))]);
    await this.database.close();
  }

  /** A sandbox of this test: an HTTP server that answers as it is asked to, closed with this. */
  async fakeSandbox(answer: Parameters<typeof startSandbox>[0]): Promise<FakeSandbox> {
    const sandbox = await startSandbox(answer);
    this.sandboxes.push(sandbox);
    return sandbox;
  }

  /** A signed-in user, with a personal organization. */
  async user(name?: string): Promise<User> {
    this.people += 1;
    const tokens = { accessToken: 'none', idToken: 'none', refreshToken: null, accessSeconds: 86_400 };
    const { sessionId, userId, expiresAt } = await this.sessions.start(
      {
        issuer: 'test',
        subject: randomUUID(),
        name: name ?? `Person ${this.people}`,
        email: null,
        emailVerified: false,
        issuerSession: null,
        provider: null,
        authenticatedAt: null,
        secondFactor: false,
      },
      tokens,
    );
    const cookie = `keycloak_auth=${await this.cookies.sign(sessionId, expiresAt)}`;
    const { rows } = await this.owner.query<{ org_id: string }>(
      'SELECT org_id FROM app.membership WHERE user_id = $1',
      [userId],
    );
    return { cookie, sessionId, userId, orgId: rows[0]?.org_id ?? '' };
  }

  async http<T = Record<string, unknown>>(
    user: User | null,
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer<T>> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        ...(user === null ? {} : { cookie: user.cookie }),
        origin: new URL(this.url).origin,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000),
    });
    const text = await response.text();
    const json = (response.headers.get('content-type') ?? '').includes('json');
    return {
      status: response.status,
      headers: response.headers,
      body: (json && text !== '' ? JSON.parse(text) : text) as T,
    };
  }

  path(user: User, conversationId?: string, rest = ''): string {
    return `/api/v1/orgs/${user.orgId}/conversations${conversationId === undefined ? '' : `/${conversationId}`}${rest}`;
  }

  async conversation(user: User, prompt = 'Do something'): Promise<Conversation> {
    const answer = await this.http<Conversation>(user, 'POST', this.path(user), { prompt });
    if (answer.status !== 201) throw new Error(`create answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  /** As the worker would leave it after a start: the sandbox that may write has this epoch. */
  async started(id: string, epoch = 1, sandbox?: { url: string; key: string; workingDir?: string }): Promise<void> {
    await this.owner.query(
      `UPDATE app.conversation SET epoch = $2, acked = 0, attempt = $2, lease_until = now() + interval '10 seconds', start_status = 'READY', sandbox_status = $3, sandbox_url = $4, sandbox_key = $5,
         working_dir = $6, status = 'waiting', status_state = '{"execution":"idle","start":"ready","halt":"none"}' WHERE id = $1`,
      [
        id,
        epoch,
        sandbox === undefined ? 'PAUSED' : 'RUNNING',
        sandbox?.url ?? null,
        sandbox === undefined ? null : this.box.encrypt(sandbox.key, `sandbox-key:${id}`),
        sandbox?.workingDir ?? '/workspace',
      ],
    );
  }

  token(user: User, conversation: string, epoch = 1): Promise<string> {
    return this.tokens.sign({ org: user.orgId, conversation, epoch }, 3_600);
  }

  async ingest(
    user: User,
    conversation: string,
    events: ReadonlyArray<{ producerSeq: number; event: ConversationEvent }>,
    epoch = 1,
    replica = 0,
  ): Promise<Answer<IngestAck & { code?: string }>> {
    const response = await fetch(
      `${(this.replicas[replica] as TestApp).url}/ingest/v1/conversations/${conversation}/events`,
      {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${await this.token(user, conversation, epoch)}`,
        },
        body: JSON.stringify({ epoch, events }),
        signal: AbortSignal.timeout(30_000),
      },
    );
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as IngestAck & { code?: string },
    };
  }

  /** Bytes that wait in the first replica for sockets that do not take them. */
  unsentBytes(): number {
    return (this.replicas[0] as TestApp).app.get(RealtimeGateway).unsentBytes();
  }

  /** The log as the database has it. */
  async log(id: string): Promise<Array<{ seq: number; event: ConversationEvent }>> {
    const { rows } = await this.owner.query<{ seq: string; event: ConversationEvent }>(
      'SELECT seq, event FROM app.event WHERE conversation_id = $1 ORDER BY seq',
      [id],
    );
    return rows.map(({ seq, event }) => ({ seq: Number(seq), event }));
  }
}

/** An event that says nothing of the conversation's status. */
export function thought(text: string, id: string = randomUUID()): ConversationEvent {
  return {
    id,
    kind: 'MessageEvent',
    timestamp: new Date().toISOString(),
    source: 'agent',
    llm_message: { role: 'assistant', content: [{ type: 'text', text }] },
  };
}

export function executionStatus(value: string): ConversationEvent {
  return {
    id: randomUUID(),
    kind: 'ConversationStateUpdateEvent',
    timestamp: new Date().toISOString(),
    source: 'environment',
    key: 'execution_status',
    value,
  };
}

/** A command of the agent that a user has to approve or reject. */
export function riskyCommand(id: string = randomUUID()): ConversationEvent {
  return {
    id,
    timestamp: new Date().toISOString(),
    source: 'agent',
    kind: 'ActionEvent',
    thought: [],
    action: { kind: 'TerminalAction', command: 'npm publish' },
    tool_name: 'terminal',
    tool_call_id: `call-${id}`,
    tool_call: { id: `call-${id}`, name: 'terminal', arguments: '{}' },
    llm_response_id: 'r',
    security_risk: 'HIGH',
  };
}

interface FakeSandbox {
  readonly url: string;
  readonly key: string;
  /** `METHOD /path` of each request so far. */
  readonly asked: string[];
  close(): Promise<void>;
}

/** Stands where agent-server would: a process of another program, of which only the answers matter here. */
async function startSandbox(
  answer: (request: IncomingMessage, body: string) => { status: number; body?: string } | 'hang',
): Promise<FakeSandbox> {
  const asked: string[] = [];
  const key = 'session-key-of-the-sandbox';
  const server = createServer(async (request, response) => {
    asked.push(`${request.method} ${request.url}${request.headers['x-session-api-key'] === key ? '' : ' without key'}`);
    const body = await text(request);
    const given = answer(request, body);
    if (given === 'hang') return;
    response
      .writeHead(given.status, { 'content-type': 'application/json' })
      .end(given.body ?? (request.method === 'PUT' ? applied(body) : '{"success":true}'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    key,
    asked,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** As agent-server answers settings that it applies. */
function applied(request: string): string {
  return JSON.stringify({
    version: ApplySettings.parse(JSON.parse(request)).version,
    refused: [],
  } satisfies AppliedSettings);
}

/**
 * Asks again as long as the answer is that the service is away, as clients do: more requests at once than a busy
 * machine has connections for.
 */
export function insisted<A extends { readonly status: number }>(ask: () => Promise<A>): Promise<A> {
  return until(
    'an answer other than 503',
    async () => {
      const answer = await ask();
      return answer.status === 503 ? null : answer;
    },
    60_000,
  ) as Promise<A>;
}

/** Answer of a gateway without data; `null` for what is no route of ours. */
function internalAnswer(url: string): { status: number; body: object } | null {
  if (!url.startsWith('/internal/')) return null;
  if (/^\/internal\/deployments\/.+\/test$/.test(url)) return { status: 404, body: { code: 'resource.not-found' } };
  if (url === '/internal/prompt-log') return { status: 200, body: { mode: 'by-policy' } };
  if (url.startsWith('/internal/calls/')) return { status: 200, body: { calls: [], more: false } };
  return { status: 200, body: { data: [], next: null } };
}
