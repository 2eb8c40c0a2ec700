import { randomUUID } from 'node:crypto';
import { access, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CHARGE_PASS_HEADER, type ConversationInfo } from '@slipway/contracts/agent';
import { type ConversationEvent } from '@slipway/contracts/events';
import { type ModelRequest, type ModelScript, type ModelServer, startModelServer, until } from '@slipway/testing';
import { TestSandbox } from '../testing/sandbox.js';
import { TestApp } from '../testing/test-app.js';

const terminal = (command: string) => ({ toolCalls: [{ name: 'terminal', arguments: { command } }] });
const finish = { toolCalls: [{ name: 'finish', arguments: { message: 'done' } }] };
const purpose = ({ headers }: ModelRequest): unknown => headers['x-slipway-purpose'];

describe('the loop of an agent in its sandbox', () => {
  let sandbox: TestSandbox;
  let model: ModelServer;
  let app: TestApp;
  beforeAll(async () => {
    sandbox = await TestSandbox.start();
    model = await startModelServer({ script: [] });
    app = await new TestApp().start();
  });
  afterAll(async () => {
    await sandbox.close();
    await model.close();
    await app.close();
  });

  async function write(file: string, text: string): Promise<void> {
    const target = path.join(sandbox.workspace, file);
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, text);
  }
  async function start(script: ModelScript, more: object = {}): Promise<string> {
    await app.close();
    app = await new TestApp().start();
    model.use(script);
    const { status, body } = await sandbox.call<{ id: string }>('POST', '/api/conversations', {
      conversation_id: randomUUID(),
      agent: { llm: { model: 'openai/scripted', base_url: model.url, num_retries: 0 } },
      workspace: { working_dir: sandbox.workspace, kind: 'LocalWorkspace' },
      slipway: {
        epoch: app.epoch,
        ingestUrl: app.url,
        ingestToken: 'token',
        head: 0,
        resumeRun: false,
        systemMessageSuffix: 'The repository.',
      },
      ...more,
    });
    expect(status).toBe(201);
    return body.id;
  }
  async function say(id: string, text: string): Promise<void> {
    const { status } = await sandbox.call('POST', `/api/conversations/${id}/events`, {
      role: 'user',
      content: [{ type: 'text', text }],
      run: true,
    });
    expect(status).toBe(200);
  }
  const info = async (id: string): Promise<ConversationInfo> =>
    (await sandbox.call<ConversationInfo>('GET', `/api/conversations/${id}`)).body;
  const isOver = (id: string, status: string): Promise<ConversationInfo> =>
    until(
      `status ${status}`,
      async () => {
        const now = await info(id);
        return now.execution_status === status ? now : null;
      },
      20_000,
    );
  const events = async (id: string): Promise<ConversationEvent[]> =>
    (await sandbox.call<{ items: ConversationEvent[] }>('GET', `/api/conversations/${id}/events/search?limit=100`)).body
      .items;

  it('gets the skills of the workspace: what always counts at once, a triggered one with the message that asks for it, a listed one when it reads it', async () => {
    await write('.openhands/skills/docker.md', '---\nname: docker\ntriggers: [docker]\n---\nUse buildx.');
    await write('.openhands/skills/style.md', 'Two spaces.');
    await write('.agents/skills/pdf/SKILL.md', '---\nname: pdf\ndescription: Reads PDF\n---\nRun pdftotext.');
    await write('.openhands/skills/huge.md', `---\ntriggers: [docker]\n---\n${'x'.repeat(100_000)}`);
    await symlink('/etc/passwd', path.join(sandbox.workspace, '.openhands/skills/passwd.md'));
    const from = model.requests.length;
    const id = await start([{ toolCalls: [{ name: 'invoke_skill', arguments: { name: 'pdf' } }] }, finish]);
    await say(id, 'Why is the docker image so large?');
    await isOver(id, 'finished');
    const [first, second] = model.requests.slice(from).map(({ body }) => body.messages ?? []);
    const system = String(first?.[0]?.content);
    expect(system).toContain('The repository.');
    expect(system).toContain('Two spaces.');
    expect(system).toContain('- pdf: Reads PDF');
    for (const absent of ['buildx', 'pdftotext', 'root:', 'xxxx']) expect(system).not.toContain(absent);
    expect(first?.[1]?.content).toContain('Use buildx.');
    expect(second?.at(-1)?.content).toContain('Run pdftotext.');
    const message = (await events(id)).find((event) => event.kind === 'MessageEvent');
    expect(message?.kind === 'MessageEvent' && message.activated_skills).toEqual(['docker']);
  });

  it('is condensed when idle and answers beside the task, each counted by itself, and remembers by its summary', async () => {
    const id = await start((request) => {
      if (purpose(request) === 'condenser') return { text: 'It listed files.' };
      if (purpose(request) === 'ask-agent') return { text: 'I am done.' };
      return request.body.messages?.some(({ role }) => role === 'tool') === true ? finish : terminal('ls');
    });
    await say(id, 'look around');
    await isOver(id, 'finished');
    expect((await sandbox.call('POST', `/api/conversations/${id}/condense`)).status).toBe(200);
    expect(
      (await sandbox.call('POST', `/api/conversations/${id}/ask_agent`, { question: 'Are you done?' })).body,
    ).toEqual({ response: 'I am done.' });
    const log = await events(id);
    expect(log.slice(-4).map(({ kind }) => kind)).toEqual([
      'CondensationRequest',
      'ConversationStateUpdateEvent',
      'Condensation',
      'ConversationStateUpdateEvent',
    ]);
    const { stats, execution_status: status } = await info(id);
    expect(status).toBe('finished');
    expect(Object.keys(stats.usage_to_metrics ?? {}).sort()).toEqual(['agent', 'ask-agent', 'condenser']);
    expect(stats['service_to_metrics']).toEqual(stats.usage_to_metrics);
    model.use((request) => ({
      text:
        request.body.messages?.some(({ content }) => String(content).includes('It listed files.')) === true
          ? 'I remember.'
          : 'I forgot.',
    }));
    await say(id, 'What did you do?');
    const answer = await until('the answer', async () =>
      (await events(id)).find((event) => event.kind === 'MessageEvent' && event.source === 'agent'),
    );
    expect(answer.kind === 'MessageEvent' && answer.llm_message.content[0]?.text).toBe('I remember.');
  });

  it('shows the pass of who asks beside the task with the calls that they ask for, while it works too, and with no others', async () => {
    const pass = (request: ModelRequest): string => `${purpose(request)} ${request.headers[CHARGE_PASS_HEADER] ?? '-'}`;
    const from = model.requests.length;
    let asked = (): void => {};
    const going = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const id = await start(async (request) => {
      if (purpose(request) !== 'agent') return { text: 'Short.' };
      if (model.requests.slice(from).filter((each) => purpose(each) === 'agent').length > 1) return finish;
      await going;
      return terminal('ls');
    });
    const beside = (what: string, name: string) =>
      sandbox.call(
        'POST',
        `/api/conversations/${id}/${what}`,
        { question: 'Why?' },
        { ...sandbox.asApp, [CHARGE_PASS_HEADER]: name },
      );
    await say(id, 'look around');
    await until('the agent works', () => model.requests.length > from);
    expect([(await beside('ask_agent', 'bob')).status, (await beside('condense', 'carol')).status]).toEqual([200, 200]);
    asked();
    await isOver(id, 'finished');
    expect((await beside('condense', 'dora')).status).toBe(200);
    const made = model.requests.slice(from).map(pass);
    expect(made.filter((each) => !each.startsWith('agent'))).toEqual([
      'ask-agent bob',
      'condenser carol',
      'condenser dora',
    ]);
    expect(new Set(made.filter((each) => each.startsWith('agent')))).toEqual(new Set(['agent -']));
  });

  it('stops at its own limits and goes on when it is run again', async () => {
    const id = await start(({ number }) => terminal(`echo ${number}`), { max_iterations: 2 });
    await say(id, 'count');
    await isOver(id, 'paused');
    model.use([finish]);
    expect((await sandbox.call('POST', `/api/conversations/${id}/run`)).status).toBe(200);
    await isOver(id, 'finished');
    expect((await events(id)).find((event) => event.kind === 'ConversationErrorEvent')).toMatchObject({
      code: 'agent.iteration-limit',
    });
  });

  it('hands a task to another agent, whose steps reach the app and not its own prompt', async () => {
    const id = await start((request) => {
      const answered = request.body.messages?.some(({ role }) => role === 'tool') === true;
      if (purpose(request) === 'sub-agent')
        return answered
          ? { toolCalls: [{ name: 'finish', arguments: { message: 'It is here.' } }] }
          : terminal('echo inner');
      return answered ? finish : { toolCalls: [{ name: 'task', arguments: { prompt: 'find it' } }] };
    });
    await say(id, 'search');
    await isOver(id, 'finished');
    const inner = await until('the steps in the app', () => {
      const found = app.events.filter(
        (event) => event.kind === 'ConversationStateUpdateEvent' && event.key === 'sub_agent',
      );
      return found.some((event) => JSON.stringify(event).includes('It is here.')) ? found : null;
    });
    expect(JSON.stringify(inner)).toContain('echo inner');
    expect(JSON.stringify(model.requests.at(-1)?.body.messages)).not.toContain('echo inner');
    expect((await info(id)).stats.usage_to_metrics).toHaveProperty(['task:general-purpose']);
  });

  it('asks the hooks of the workspace and of the start, in the sandbox, with what they want to know', async () => {
    await write(
      '.openhands/hooks.json',
      JSON.stringify({
        hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: 'sh guard.sh' }] }] },
      }),
    );
    await write('guard.sh', 'if grep -q forbidden; then echo "not in $OPENHANDS_PROJECT_DIR" >&2; exit 2; fi');
    const started = { matcher: '*', hooks: [{ command: 'cat > started.json' }] };
    const ended = { matcher: '*', hooks: [{ command: 'touch ended' }] };
    const id = await start([terminal('echo forbidden > made'), terminal('cat started.json'), finish], {
      hook_config: { session_start: [started], session_end: [ended] },
    });
    await say(id, 'try it');
    await isOver(id, 'finished');
    const log = await events(id);
    expect(log.find((event) => event.kind === 'UserRejectObservation')).toMatchObject({
      rejection_reason: `not in ${sandbox.workspace}`,
    });
    const shown = log.find((event) => event.kind === 'ObservationEvent');
    expect(JSON.stringify(shown)).toContain('SessionStart');
    await expect(access(path.join(sandbox.workspace, 'made'))).rejects.toThrow('ENOENT');
    expect((await sandbox.call('DELETE', `/api/conversations/${id}`)).status).toBe(200);
    await until('the last hook', () =>
      access(path.join(sandbox.workspace, 'ended')).then(
        () => true,
        () => false,
      ),
    );
  });

  it('has a read-only agent judge a call, where a hook of the workspace wants it', async () => {
    await write('RULES', 'Nobody pushes on Fridays.');
    const judged = [{ type: 'agent', prompt: 'Is it allowed? Read RULES.' }];
    await write(
      '.openhands/hooks.json',
      JSON.stringify({ hooks: { PreToolUse: [{ matcher: 'Bash', hooks: judged }] } }),
    );
    const view = {
      toolCalls: [{ name: 'file_editor', arguments: { command: 'view', path: path.join(sandbox.workspace, 'RULES') } }],
    };
    const id = await start((request) => {
      const said = JSON.stringify(request.body.messages?.filter(({ role }) => role === 'tool'));
      if (purpose(request) !== 'sub-agent') return said === '[]' ? terminal('touch pushed') : finish;
      const verdict = JSON.stringify({ ok: !said.includes('Nobody pushes on Fridays.'), reason: 'It is Friday.' });
      return said === '[]' ? view : { toolCalls: [{ name: 'finish', arguments: { message: verdict } }] };
    });
    await say(id, 'push it');
    await isOver(id, 'finished');
    expect((await events(id)).find((event) => event.kind === 'UserRejectObservation')).toMatchObject({
      rejection_reason: 'It is Friday.',
    });
    await expect(access(path.join(sandbox.workspace, 'pushed'))).rejects.toThrow('ENOENT');
    await write('.openhands/hooks.json', '{}');
  });

  it('plans without changing anything but its plan', async () => {
    const edit = (file: string) => ({
      toolCalls: [
        {
          name: 'file_editor',
          arguments: { command: 'create', path: path.join(sandbox.workspace, file), file_text: '1. Do it.' },
        },
      ],
    });
    const id = await start([edit('src.ts'), terminal('touch made-by-plan'), edit('PLAN.md'), finish], {
      agent_type: 'plan',
    });
    await say(id, 'plan it');
    await isOver(id, 'finished');
    expect(await readFile(path.join(sandbox.workspace, 'PLAN.md'), 'utf8')).toBe('1. Do it.');
    await expect(access(path.join(sandbox.workspace, 'src.ts'))).rejects.toThrow('ENOENT');
    const log = await until('the log in the app', () =>
      app.events.some((event) => event.kind === 'ObservationEvent' && event.observation.kind === 'FinishObservation')
        ? app.events
        : null,
    );
    expect(
      log.flatMap((event) =>
        event.kind === 'ObservationEvent' ? [[event.observation.kind, event.observation.is_error]] : [],
      ),
    ).toEqual([
      ['PlanningFileEditorObservation', true],
      ['PlanningFileEditorObservation', false],
      ['FinishObservation', false],
    ]);
    expect(log.find((event) => event.kind === 'AgentErrorEvent')).toMatchObject({
      error: expect.stringContaining('There is no tool "terminal"'),
    });
  });
});
