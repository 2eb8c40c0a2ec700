import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import type { SqlPool } from '@slipway/db/sql';
import pg from 'pg';
import { FakeAgents, problem } from './fake-agents.js';
import type { FakeSession } from './fake-session.js';

/** One request to a fake, as the log of a test shows it: `runtime POST /start`. */
export type OnRequest = (request: string, moment: 'before' | 'after') => void | Promise<void>;

type Handler = (
  method: string,
  path: string,
  body: Record<string, unknown>,
) => Promise<{ status: number; body: unknown }>;

/** JSON, or a file with the path that it is for. */
function bodyOf({ headers }: IncomingMessage, url: URL, text: string): Record<string, unknown> {
  if (headers['content-type'] === 'application/octet-stream') return { path: url.searchParams.get('path'), file: text };
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
}

/**
 * Small real HTTP servers in the place of runtime-api, agent-server and llm-gateway: sandboxes with a port, a key and a
 * directory each, whose shell is real and whose events go through the real `app.append_events` with their epoch. Counts
 * what a test wants to know.
 */
export class FakePeers {
  readonly sessions = new Map<string, FakeSession>();
  readonly requests: string[] = [];
  onRequest: OnRequest = () => {};
  /** How many sandboxes were ever claimed for a session. */
  readonly claims = new Map<string, number>();
  /** Answers `POST /start` with a problem while it is set. */
  refuseStart: { status: number; code: string; detail: string; extensions?: Record<string, unknown> } | null = null;
  /** Bodies of requests for a virtual key. */
  readonly keyRequests: Array<Record<string, unknown>> = [];
  /** Spenders and limits that the gateway got for the conversation, and how many messages its sandbox had by then. */
  readonly spendings: Array<{ user: unknown; limitUsd: unknown; messages: number }> = [];
  readonly passes: unknown[] = [];
  gatewayAway = false;
  private readonly agents: FakeAgents;
  private readonly servers: Server[] = [];
  runtimeUrl = '';
  gatewayUrl = '';

  private constructor(
    private readonly pool: SqlPool,
    private readonly root: string,
  ) {
    this.agents = new FakeAgents(pool);
  }

  static async open(databaseUrl: string): Promise<FakePeers> {
    const pool = new pg.Pool({ connectionString: databaseUrl, max: 4 });
    pool.on('error', () => {});
    const own = new FakePeers(pool, await mkdtemp(path.join(os.tmpdir(), 'slipway-worker-')));
    own.runtimeUrl = (await own.serve('runtime', (...call) => own.runtime(...call))).url;
    own.gatewayUrl = (
      await own.serve('gateway', async (_method, where, body) => {
        if (where === '/key/generate') own.keyRequests.push(body);
        if (where === '/internal/charge-passes') {
          if (own.gatewayAway) return { status: 503, body: {} };
          own.passes.push(body);
        }
        if (where.startsWith('/internal/spending/')) {
          if (own.gatewayAway) return { status: 503, body: {} };
          own.spendings.push({
            user: body['user'],
            limitUsd: body['limitUsd'],
            messages: own.messagesOf(where.split('/').at(-1) ?? '').length,
          });
        }
        return {
          status: 200,
          body: { key: `sk-${randomUUID()}`, key_id: randomUUID(), expires: new Date().toISOString() },
        };
      })
    ).url;
    return own;
  }

  /** The sandbox's process dies; its workspace stays and runtime-api does not know yet. */
  loseSandbox(sessionId: string): void {
    const sandbox = this.sessions.get(sessionId)?.sandbox;
    sandbox?.server.closeAllConnections();
    sandbox?.server.close();
  }

  /** The sandbox ends with its workspace, as runtime-api has seen. */
  async endSandbox(sessionId: string, detail: string): Promise<void> {
    this.loseSandbox(sessionId);
    const session = this.sessions.get(sessionId);
    if (session === undefined) throw new Error(`there is no session ${sessionId}`);
    session.sandbox = null;
    session.status = 'error';
    session.detail = detail;
    await rm(session.directory, { recursive: true });
  }

  /** Messages as the newest sandbox of the conversation received them. */
  messagesOf(sessionId: string): readonly string[] {
    return this.sessions.get(sessionId)?.sandbox?.messages ?? [];
  }

  async close(): Promise<void> {
    for (const server of this.servers) {
      server.closeAllConnections();
      server.close();
    }
    await this.pool.end();
    await rm(this.root, { recursive: true, force: true });
  }

  private async serve(name: string, handler: Handler): Promise<{ server: Server; url: string }> {
    const server = createServer((request, response) => void this.answer(name, handler, request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    this.servers.push(server);
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    return { server, url: `http://127.0.0.1:${address.port}` };
  }

  private async answer(
    name: string,
    handler: Handler,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://fake');
    const label = `${name} ${request.method} ${url.pathname.replaceAll(/[0-9a-f-]{36}/g, ':id')}`;
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const text = Buffer.concat(chunks).toString('utf8');
      this.requests.push(label);
      await this.onRequest(label, 'before');
      const { status, body } = await handler(request.method ?? 'GET', url.pathname, bodyOf(request, url, text));
      await this.onRequest(label, 'after');
      if (typeof body === 'string') response.writeHead(status, { 'content-type': 'text/plain' }).end(body);
      else response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    } catch {
      response.destroy();
    }
  }

  private async runtime(
    method: string,
    where: string,
    body: Record<string, unknown>,
  ): Promise<{ status: number; body: unknown }> {
    if (method === 'GET') {
      const id = where.split('/').at(-1) ?? '';
      const session = this.sessions.get(id);
      return session === undefined
        ? problem(404, 'resource.not-found', 'No such session.')
        : { status: 200, body: runtimeOf(id, session) };
    }
    if (where === '/start') {
      if (this.refuseStart !== null)
        return problem(
          this.refuseStart.status,
          this.refuseStart.code,
          this.refuseStart.detail,
          this.refuseStart.extensions,
        );
      const id = String(body['session_id']);
      const session = this.sessions.get(id) ?? {
        directory: path.join(this.root, id),
        orgId: 'org_test',
        status: 'paused' as const,
        sandbox: null,
        claiming: null,
      };
      this.sessions.set(id, session);
      if (session.sandbox === null) {
        session.claiming ??= this.claim(id, session).finally(() => {
          session.claiming = null;
        });
        await session.claiming;
      }
      return { status: 200, body: runtimeOf(id, session) };
    }
    const entry = [...this.sessions].find(([, session]) => session.sandbox?.runtimeId === body['runtime_id']);
    if (entry === undefined) return problem(404, 'resource.not-found', 'No such runtime.');
    const [id, session] = entry;
    this.loseSandbox(id);
    session.sandbox = null;
    session.status = 'paused';
    if (where === '/stop') this.sessions.delete(id);
    return { status: 200, body: {} };
  }

  private async claim(id: string, session: FakeSession): Promise<void> {
    await mkdir(session.directory, { recursive: true });
    this.claims.set(id, (this.claims.get(id) ?? 0) + 1);
    const key = randomUUID();
    const { server, url } = await this.serve('agent', (...call) => this.agents.answer(id, session, ...call));
    session.sandbox = {
      runtimeId: randomUUID(),
      key,
      server,
      url,
      secrets: null,
      conversation: null,
      llm: null,
      startSettings: null,
      settings: [],
      earlier: [],
      mcpServers: null,
      orgConfirmation: null,
      files: new Map(),
      handedOver: [],
      messages: [],
    };
    session.status = 'running';
  }
}

function runtimeOf(id: string, session: FakeSession): Record<string, unknown> {
  return {
    runtime_id: session.sandbox?.runtimeId ?? 'none',
    session_id: id,
    url: session.sandbox?.url ?? 'http://127.0.0.1:1',
    session_api_key: session.sandbox?.key ?? 'none',
    status: session.status,
    ...(session.status === 'error' ? { status_detail: session.detail } : {}),
    ...(session.status === 'running' || session.workspace === undefined ? {} : { workspace: session.workspace }),
    pod_status: session.status === 'running' ? 'ready' : 'not found',
    restart_count: 0,
    restart_reasons: [],
    working_dir: session.directory,
    work_hosts: {},
  };
}
