import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { McpServersUpdate } from '@slipway/contracts/agent';
import { type ConversationEvent, type EventOf } from '@slipway/contracts/events';
import {
  byAnswersSoFar,
  type ModelRequest,
  type ModelScript,
  type ModelServer,
  startModelServer,
  textOfMessage,
  until,
} from '@slipway/testing';
import { TestSandbox } from '../testing/sandbox.js';
import { TestApp } from '../testing/test-app.js';

/** Real servers, made with the protocol's own library; they belong to action-server's tests. */
const program = (name: string): string =>
  fileURLToPath(new URL(`../../../action-server/dist/testing/${name}.js`, import.meta.url));
const HONEST = { command: process.execPath, args: [program('mcp-stdio-server')] };
const DEAD = { command: 'no-such-program-anywhere' };
const KEY = 'key-of-the-tool-server-4711';

const call = (name: string, args: object = {}) => ({ toolCalls: [{ name, arguments: { ...args } }] });
/** Steps that take a while and are never alike. */
const idle = (count: number) =>
  Array.from({ length: count }, (_, n) => call('terminal', { command: `sleep 0.3; echo ${n}` }));
const finish = call('finish', { message: 'done' });
const offered = ({ body }: ModelRequest): string[] =>
  ((body['tools'] ?? []) as Array<{ function: { name: string } }>).map((tool) => tool.function.name);
const textOf = ({ observation }: EventOf<'ObservationEvent'>): string =>
  observation.content.map((part) => (part.type === 'text' ? part.text : '')).join('');

describe('an agent with MCP servers', () => {
  let sandbox: TestSandbox;
  let model: ModelServer;
  beforeAll(async () => {
    [sandbox, model] = await Promise.all([TestSandbox.start(), startModelServer({ script: [] })]);
  });
  afterAll(async () => {
    await sandbox.close();
    await model.close();
  });

  async function start(script: ModelScript, servers: object, agent: object = {}, more: object = {}): Promise<string> {
    model.use(script);
    const { status, body } = await sandbox.call<{ id: string }>('POST', '/api/conversations', {
      conversation_id: randomUUID(),
      agent: {
        llm: { model: 'openai/scripted', base_url: model.url, num_retries: 0 },
        mcp_config: { mcpServers: servers },
        ...agent,
      },
      workspace: { working_dir: sandbox.workspace, kind: 'LocalWorkspace' },
      ...more,
    });
    expect(status).toBe(201);
    await until(
      'every server is there or is not',
      async () =>
        (await updates(body.id)).some((update) => update.servers.every(({ state }) => state !== 'connecting')),
      30_000,
    );
    return body.id;
  }
  const events = async (id: string): Promise<ConversationEvent[]> =>
    (await sandbox.call<{ items: ConversationEvent[] }>('GET', `/api/conversations/${id}/events/search?limit=100`)).body
      .items;
  const say = (id: string, text: string) =>
    sandbox.call('POST', `/api/conversations/${id}/events`, {
      role: 'user',
      content: [{ type: 'text', text }],
      run: true,
    });
  const isOver = (id: string, wanted = 'finished'): Promise<unknown> =>
    until(
      `status ${wanted}`,
      async () =>
        (await sandbox.call<{ execution_status: string }>('GET', `/api/conversations/${id}`)).body.execution_status ===
        wanted,
      20_000,
    );
  const answers = async (id: string): Promise<Array<EventOf<'ObservationEvent'>>> =>
    (await events(id)).filter((event) => event.kind === 'ObservationEvent');
  const updates = async (id: string): Promise<McpServersUpdate[]> =>
    (await events(id)).flatMap((event) =>
      event.kind === 'ConversationStateUpdateEvent' && event.key === 'mcp_servers'
        ? [McpServersUpdate.parse(event.value)]
        : [],
    );

  it('calls their tools with what it has no other name for, and reveals none of their credentials', async () => {
    const from = model.requests.length;
    const id = await start(
      [
        call('helper_describe', { kind: 'Pod', of: null, security_risk: 'LOW', summary: 'Look' }),
        call('helper_told'),
        call('helper_refuse'),
        finish,
      ],
      { helper: { ...HONEST, env: { TOKEN: KEY } } },
    );
    await say(id, 'Ask the helper.');
    await isOver(id);
    expect(offered(model.requests[from] as ModelRequest)).toEqual(
      expect.arrayContaining(['terminal', 'helper_echo', 'helper_describe']),
    );
    const [action] = (await events(id)).filter((event) => event.kind === 'ActionEvent');
    expect(action).toMatchObject({
      tool_name: 'helper_describe',
      security_risk: 'LOW',
      summary: 'Look',
      action: { kind: 'MCPToolAction', data: { kind: 'Pod', of: null } },
    });
    const [described, environment, refused] = await answers(id);
    expect(described && textOf(described)).toBe('{"kind":"Pod","of":null}');
    expect(described?.observation).toMatchObject({
      kind: 'MCPToolObservation',
      tool_name: 'helper_describe',
      is_error: false,
    });
    expect(environment && textOf(environment)).toBe('token <secret-hidden>, other undefined');
    expect(refused?.observation.is_error).toBe(true);
    const everything = JSON.stringify([
      await events(id),
      (await sandbox.call('GET', `/api/conversations/${id}`)).body,
      sandbox.lines,
    ]);
    expect(everything).not.toContain(KEY);
    expect(readFileSync(path.join(sandbox.stateDir, 'conversations', id, 'meta.json'), 'utf8')).not.toContain(KEY);
  });

  it('starts without an unreachable server, reports it once, and reports tools that come later', async () => {
    const turns = [call('terminal', { command: 'true' }), call('helper_grow'), call('think', { thought: 'Not yet.' })];
    const id = await start(
      (request) =>
        JSON.stringify(request.body.messages).includes('helper_grown')
          ? finish
          : byAnswersSoFar([...turns, ...idle(20)])(request),
      { dead: DEAD, helper: HONEST },
    );
    const [first] = await updates(id);
    expect(first?.told).toMatch(
      /^The MCP server "dead" is not available, and its tools are missing\. There is no program no-such-program-anywhere in the sandbox\. Install it/,
    );
    await say(id, 'Go.');
    await isOver(id);
    const prompt = (model.requests.at(-1)?.body.messages ?? []).map(textOfMessage).join('\n');
    expect(prompt).toContain('The MCP server "dead" is not available');
    expect(prompt).toContain('has more tools now: helper_grown');
    expect((await updates(id)).filter(({ told: environment }) => environment.includes('"dead"'))).toHaveLength(1);
  });

  it('says in its log at each step which tools its model had, once for each change, and not again in another run', async () => {
    const from = model.requests.length;
    const turns = [call('terminal', { command: 'true' }), call('helper_grow'), call('think', { thought: 'Not yet.' })];
    const id = await start(
      (request) =>
        offered(request).includes('helper_grown') ? finish : byAnswersSoFar([...turns, ...idle(20)])(request),
      {
        helper: HONEST,
      },
    );
    await say(id, 'Go.');
    await isOver(id);
    const environment = async (): Promise<string[]> =>
      (await events(id)).flatMap((event) =>
        event.kind === 'SystemPromptEvent'
          ? [JSON.stringify((event.tools as Array<{ title: string }>).map(({ title }) => title))]
          : [],
      );
    const had = model.requests.slice(from).map((request) => JSON.stringify(offered(request)));
    const changes = had.filter((tools, index) => tools !== had[index - 1]);
    expect(changes).toHaveLength(2);
    // The first was written at the start, when no server was there yet.
    expect((await environment()).slice(1)).toEqual(changes);
    model.use([finish]);
    await say(id, 'Again.');
    await until(
      'the second end',
      async () => (await answers(id)).filter(({ tool_name: tool }) => tool === 'finish').length === 2,
    );
    expect(await environment()).toHaveLength(3);
  });

  it('shows a server’s progress of a long call while it goes on, without its secrets, and keeps nothing of it', async () => {
    const app = await new TestApp().start();
    const file = path.join(sandbox.workspace, 'the-steps-are-over');
    const id = await start(
      [call('helper_steps', { file, told: `step with ${KEY}` }), finish],
      { helper: { ...HONEST, env: { TOKEN: KEY } } },
      {},
      { slipway: { epoch: app.epoch, ingestUrl: app.url, ingestToken: 'token', head: 0, resumeRun: false } },
    );
    await say(id, 'Take steps.');
    const shown = (): string =>
      app.deltas.flatMap((delta) => (delta.channel === 'progress' ? [delta.text] : [])).join('');
    await until('three lines of progress', () => shown().split('\n').length > 3);
    const [action] = (await events(id)).filter((event) => event.kind === 'ActionEvent');
    writeFileSync(file, '');
    await isOver(id);
    const deltas = app.deltas.filter(({ channel }) => channel === 'progress');
    expect(new Set(deltas.map(({ responseId }) => responseId))).toEqual(new Set([action?.id]));
    let length = 0;
    for (const { offset, text } of deltas) {
      expect(offset).toBe(length);
      length += text.length;
    }
    expect(shown()).toMatch(/^step with <secret-hidden> \(\d+ of 1000\)\n/);
    expect(JSON.stringify(await events(id))).not.toContain(' of 1000');
    await app.close();
  });

  it('is interrupted in a call, and the server is notified', async () => {
    const file = path.join(sandbox.stateDir, 'a-call-that-waits');
    const id = await start([call('helper_wait', { file }), finish], { helper: HONEST });
    await say(id, 'Wait.');
    await until('the call is under way', () => existsSync(file));
    await sandbox.call('POST', `/api/conversations/${id}/interrupt`);
    await isOver(id, 'paused');
    await until('the server received the cancellation', () => readFileSync(file, 'utf8') === 'cancelled');
  });

  it('goes on when the tool process is another one: its servers are started again', async () => {
    const id = await start([call('helper_echo', { text: 'before' }), finish], { helper: HONEST });
    await say(id, 'Before.');
    await isOver(id);
    await sandbox.kill('actionServer');
    await sandbox.startActionServer();
    model.use(({ body }) => {
      const last = body.messages?.at(-1);
      const again = /after$/.test(String(last?.content));
      return again ? finish : call('helper_echo', { text: 'after' });
    });
    await say(id, 'Again.');
    await until(
      'an answer of the new one',
      async () => (await answers(id)).some((event) => textOf(event) === 'after'),
      30_000,
    );
    await isOver(id);
  });

  it('asks first as for every action, and trusts no claim that a tool of theirs is harmless', async () => {
    const id = await start(
      [call('helper_echo', { text: 'x', security_risk: 'LOW' }), finish],
      { helper: HONEST },
      {},
      {
        confirmation_policy: { kind: 'ConfirmRisky', threshold: 'HIGH', confirm_unknown: true },
        security_analyzer: { kind: 'LLMSecurityAnalyzer' },
      },
    );
    await say(id, 'Echo.');
    await isOver(id, 'waiting_for_confirmation');
    await sandbox.call('POST', `/api/conversations/${id}/events/respond_to_confirmation`, { accept: true, reason: '' });
    await isOver(id);
    expect((await answers(id)).map(textOf)).toContain('x');
  });

  it('has only the tools whose names the filter of its start lets through', async () => {
    const from = model.requests.length;
    const id = await start([finish], { helper: HONEST }, { filter_tools_regex: '^(?!helper)(term.*)|^helper_a.*$' });
    await say(id, 'Which?');
    await isOver(id);
    expect(offered(model.requests[from] as ModelRequest).sort()).toEqual(['finish', 'helper_add', 'terminal', 'think']);
    const refused = await sandbox.call('POST', '/api/conversations', {
      agent: { llm: { model: 'openai/scripted', base_url: model.url }, filter_tools_regex: '(' },
      workspace: { working_dir: sandbox.workspace, kind: 'LocalWorkspace' },
    });
    expect(refused.status).toBe(400);
  });

  it('has its servers tried as an OpenHands client asks for it', async () => {
    const test = async (server: object) =>
      (await sandbox.call('POST', '/api/mcp/test', { server, timeout: 20, tool_call: { name: 'told' } })).body;
    expect(await test({ type: 'stdio', ...HONEST, env: { TOKEN: `another-${KEY}` } })).toMatchObject({
      ok: true,
      tools: expect.arrayContaining(['echo']),
      tool_result: { is_error: false, text: 'token <secret-hidden>, other undefined' },
    });
    expect(await test({ type: 'stdio', ...DEAD })).toMatchObject({ ok: false, error_kind: 'connection' });
  });
});
