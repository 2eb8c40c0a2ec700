import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { type AppliedSettings, ApplySettings, type LlmSettings, SandboxSecrets } from '@slipway/contracts/agent';
import type { SqlPool } from '@slipway/db/sql';
import { inOrg } from '@slipway/db/sql';
import pg from 'pg';

/** One request to a fake, as the log of a test shows it: `runtime POST /start`. */
export type OnRequest = (request: string, moment: 'before' | 'after') => void | Promise<void>;

type Handler = (
  method: string,
  path: string,
  body: Record<string, unknown>,
) => Promise<{ status: number; body: unknown }>;

interface Sandbox {
  readonly runtimeId: string;
  readonly key: string;
  readonly server: Server;
  readonly url: string;
  /** What was handed over last; `null` when nothing was. */
  secrets: SandboxSecrets | null;
  conversation: {
    epoch: number;
    head: number;
    resumeRun: boolean;
    produced: number;
    suffix: string;
    notice: string | null;
  } | null;
  /** The model that the agent was given last. */
  llm: LlmSettings | null;
  /** Run settings of the start, in OpenHands' fields. */
  startSettings: object | null;
  /** Bodies of the settings that it was sent since. */
  readonly settings: ApplySettings[];
  /** Requests on the settings routes of the release before, with their bodies. */
  readonly earlier: Array<{ route: string; body: Record<string, unknown> }>;
  /** What the start brought of tool servers. */
  mcpServers: unknown;
  /** The organization's confirmation policy at the start. */
  orgConfirmation: unknown;
  /** Ids of messages in the order in which this sandbox took them in. */
  readonly messages: string[];
}

interface Session {
  readonly directory: string;
  readonly orgId: string;
  status: 'running' | 'paused' | 'error';
  /** Why it ended; with `error` only. */
  detail?: string;
  sandbox: Sandbox | null;
  /** What runtime-api says of its files while it has no sandbox. */
  workspace?: { state: 'saving' | 'kept' | 'not-kept' | 'lost'; detail?: string };
  /** Whether its agent refuses another agent type, as one at work does. */
  refusesAgentType?: boolean;
  /** Whether its agent answers no settings. */
  refusesSettings?: boolean;
  /** Whether its agent-server is of the release before, without the route for settings. */
  isEarlier?: boolean;
  /** Since a user was last active in the sandbox itself. Seconds. */
  userIdleSeconds?: number;
  /** Since anybody asked it for anything. Seconds. */
  idleSeconds?: number;
  /** The claim under way: a second start of the session waits for it. */
  claiming: Promise<void> | null;
}

/**
 * Small real HTTP servers in the place of runtime-api, agent-server and llm-gateway: sandboxes with a port, a key and a
 * directory each, whose shell is real and whose events go through the real `app.append_events` with their epoch. Counts
 * what a test wants to know.
 */
export class FakePeers {
  readonly sessions = new Map<string, Session>();
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
  private readonly servers: Server[] = [];
  runtimeUrl = '';
  gatewayUrl = '';

  private constructor(
    private readonly pool: SqlPool,
    private readonly root: string,
  ) {}

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
      const { status, body } = await handler(
        request.method ?? 'GET',
        url.pathname,
        text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
      );
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

  private async claim(id: string, session: Session): Promise<void> {
    await mkdir(session.directory, { recursive: true });
    this.claims.set(id, (this.claims.get(id) ?? 0) + 1);
    const key = randomUUID();
    const { server, url } = await this.serve('agent', (...call) => this.agent(id, session, ...call));
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
      messages: [],
    };
    session.status = 'running';
  }

  private async agent(
    id: string,
    session: Session,
    method: string,
    where: string,
    body: Record<string, unknown>,
  ): Promise<{ status: number; body: unknown }> {
    const sandbox = session.sandbox;
    if (sandbox === null) return problem(503, 'sandbox.dormant', 'Not activated.');
    if (where === '/server_info')
      return {
        status: 200,
        body: { person_idle_time: session.userIdleSeconds ?? null, idle_time: session.idleSeconds ?? 0 },
      };
    if (where === '/api/slipway/secrets') {
      sandbox.secrets = SandboxSecrets.parse(body);
      return { status: 200, body: { success: true } };
    }
    if (where === '/api/bash/execute_bash_command') {
      const timeout = Number(body['timeout'] ?? 300);
      return {
        status: 200,
        body: await bash(
          String(body['command']),
          session.directory,
          timeout,
          body['cwd'],
          sandbox.secrets?.variables ?? {},
        ),
      };
    }
    if (where === '/api/git/changes')
      return { status: 200, body: [{ status: 'ADDED', path: 'made.txt', additions: 1, deletions: 0 }] };
    if (where === '/api/git/patch') return { status: 200, body: 'diff --git a/made.txt b/made.txt\n' };
    if (where === '/api/conversations') {
      const slipway = body['slipway'] as {
        epoch: number;
        head: number;
        resumeRun: boolean;
        systemMessageSuffix: string;
        notice?: string;
        orgConfirmation: unknown;
      };
      if (sandbox.conversation === null || sandbox.conversation.epoch < slipway.epoch) {
        const { epoch, head, resumeRun, systemMessageSuffix: suffix, notice = null } = slipway;
        const agent = body['agent'] as { llm: LlmSettings; mcp_config?: unknown };
        sandbox.llm = agent.llm;
        const { agent_type = 'default', max_iterations, max_budget_per_task = null } = body;
        sandbox.startSettings = { agent_type, max_iterations, max_budget_per_task };
        sandbox.mcpServers = agent.mcp_config ?? null;
        sandbox.orgConfirmation = slipway.orgConfirmation;
        sandbox.conversation = {
          epoch,
          head,
          resumeRun,
          produced: await this.acked(id, session.orgId, epoch),
          suffix,
          notice,
        };
      }
      return { status: 201, body: info(id, session) };
    }
    if (sandbox.conversation === null) return problem(404, 'resource.not-found', 'No such conversation.');
    if (where.endsWith('/settings') && session.isEarlier !== true)
      return this.settings(session, sandbox, ApplySettings.parse(body));
    if (where.endsWith('/settings')) return problem(404, 'resource.not-found', 'No such route.');
    const earlier = ['terms', 'brake', 'switch_llm'].find(
      (route) => session.isEarlier === true && where.endsWith(`/${route}`),
    );
    if (earlier !== undefined) {
      if (session.refusesAgentType === true && body['agent_type'] === 'plan')
        return problem(409, 'conversation.busy', 'The agent is at work.');
      sandbox.earlier.push({ route: earlier, body });
    }
    if (where.endsWith('/switch_llm')) {
      sandbox.llm = { ...(body['llm'] as LlmSettings) };
      return { status: 200, body: { success: true } };
    }
    if (where.endsWith('/events')) {
      await this.takeIn(id, session, sandbox, body);
      return { status: 200, body: { success: true } };
    }
    return { status: 200, body: method === 'GET' ? info(id, session) : { success: true } };
  }

  private settings(session: Session, sandbox: Sandbox, request: ApplySettings): { status: number; body: unknown } {
    if (session.refusesSettings === true) return problem(503, 'service.unavailable', 'Not now.');
    sandbox.settings.push(request);
    if (request.settings.model !== undefined) sandbox.llm = request.settings.model;
    const busy = { setting: 'agentType', code: 'conversation.busy', detail: 'The agent is at work.' } as const;
    const refused = session.refusesAgentType === true && request.settings.agentType === 'plan' ? [busy] : [];
    return { status: 200, body: { version: request.version, refused } satisfies AppliedSettings };
  }

  /** As agent-server asks for it: a sandbox before this one may have written in the same epoch. */
  private async acked(id: string, orgId: string, epoch: number): Promise<number> {
    const { rows } = await inOrg(this.pool, orgId, (client) =>
      client.query<{ acked: string }>('SELECT acked FROM app.conversation WHERE id = $1 AND epoch = $2', [id, epoch]),
    );
    return Number(rows[0]?.acked ?? 0);
  }

  /** A message into the sandbox's own list, once an id, and then through the real ingest function. */
  private async takeIn(id: string, session: Session, sandbox: Sandbox, body: Record<string, unknown>): Promise<void> {
    const eventId = String(body['event_id']);
    const conversation = sandbox.conversation;
    if (conversation === null || sandbox.messages.includes(eventId)) return;
    sandbox.messages.push(eventId);
    conversation.produced += 1;
    const event = {
      id: eventId,
      timestamp: new Date().toISOString(),
      source: 'user',
      kind: 'MessageEvent',
      llm_message: { role: 'user', content: body['content'] },
    };
    await inOrg(this.pool, session.orgId, (client) =>
      client.query(`SELECT outcome FROM app.append_events($1, $2, $3, 10000, $4, $5, $6, $7, '{}')`, [
        session.orgId,
        id,
        conversation.epoch,
        [conversation.produced],
        [eventId],
        ['MessageEvent'],
        [JSON.stringify(event)],
      ]),
    );
  }
}

function runtimeOf(id: string, session: Session): Record<string, unknown> {
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

function info(id: string, session: Session): Record<string, unknown> {
  const now = new Date().toISOString();
  return {
    id,
    execution_status: 'idle',
    workspace: { working_dir: session.directory, kind: 'LocalWorkspace' },
    stats: {},
    title: null,
    tags: {},
    created_at: now,
    updated_at: now,
  };
}

function problem(
  status: number,
  code: string,
  detail: string,
  extensions: Record<string, unknown> = {},
): { status: number; body: unknown } {
  return { status, body: { type: 'about:blank', title: code, status, detail, code, retry: 'later', ...extensions } };
}

function bash(
  command: string,
  directory: string,
  timeoutSeconds: number,
  cwd: unknown,
  variables: Readonly<Record<string, string>>,
): Promise<Record<string, unknown>> {
  return new Promise((resolve) => {
    const options = {
      cwd: typeof cwd === 'string' ? cwd : directory,
      env: { ...process.env, ...variables },
      timeout: timeoutSeconds * 1000,
      killSignal: 'SIGKILL' as const,
      maxBuffer: 8 * 1024 * 1024,
    };
    // Node's pipe is a socket, which bash outside of another shell takes for a login over the network: it would read
    // this machine's ~/.bashrc.
    const child = execFile('bash', ['--norc', '-c', command], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : child.killed ? -1 : typeof error.code === 'number' ? error.code : 1;
      resolve({
        id: randomUUID(),
        kind: 'BashOutput',
        command_id: randomUUID(),
        order: 0,
        exit_code: code,
        stdout,
        stderr,
        timestamp: new Date().toISOString(),
      });
    });
  });
}
