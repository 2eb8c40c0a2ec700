import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { type AppliedSettings, ApplySettings, type LlmSettings, SandboxSecrets } from '@slipway/contracts/agent';
import type { SqlPool } from '@slipway/db/sql';
import { inOrg } from '@slipway/db/sql';
import type { FakeSandbox, FakeSession } from './fake-session.js';

/** The agents in the sandboxes: their shell is real, and their events go through the real `app.append_events`. */
export class FakeAgents {
  constructor(private readonly pool: SqlPool) {}

  /** One request to the agent of the session. */
  async answer(
    id: string,
    session: FakeSession,
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
    if (where === '/api/file/upload') {
      const file = String(body['path']);
      sandbox.files.set(file, { content: String(body['file']), times: (sandbox.files.get(file)?.times ?? 0) + 1 });
      return { status: 200, body: { success: true, path: file } };
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

  private settings(
    session: FakeSession,
    sandbox: FakeSandbox,
    request: ApplySettings,
  ): { status: number; body: unknown } {
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
  private async takeIn(
    id: string,
    session: FakeSession,
    sandbox: FakeSandbox,
    body: Record<string, unknown>,
  ): Promise<void> {
    sandbox.handedOver.push(body);
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

function info(id: string, session: FakeSession): Record<string, unknown> {
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

export function problem(
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
