import { randomUUID } from 'node:crypto';
import { access, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type {
  AgentSettings,
  AgentType,
  AppliedSettings,
  ApplySettings,
  ConversationInfo,
  RunLimits,
} from '@slipway/contracts/agent';
import type { ConversationEvent } from '@slipway/contracts/events';
import { settingsOfMode } from '@slipway/domain';
import { type ModelScript, type ModelServer, startModelServer, until } from '@slipway/testing';
import { TestSandbox } from '../testing/sandbox.js';
import { TestApp } from '../testing/test-app.js';

const finish = { toolCalls: [{ name: 'finish', arguments: { message: 'done' } }] };
const terminal = (command: string) => ({ toolCalls: [{ name: 'terminal', arguments: { command } }] });

describe('the run settings of an agent', () => {
  let sandbox: TestSandbox;
  let model: ModelServer;
  let app: TestApp;
  beforeAll(async () => {
    [sandbox, model, app] = await Promise.all([
      TestSandbox.start(),
      startModelServer({ script: [] }),
      new TestApp().start(),
    ]);
  });
  afterAll(() => Promise.all([sandbox.close(), model.close(), app.close()]));

  async function start(script: ModelScript, more: object = {}, slipway: object = {}): Promise<string> {
    await app.close();
    app = await new TestApp().start();
    model.use(script);
    const { status, body } = await sandbox.call<{ id: string }>('POST', '/api/conversations', {
      conversation_id: randomUUID(),
      agent: { llm: { model: 'openai/scripted', base_url: model.url, num_retries: 0 } },
      workspace: { working_dir: sandbox.workspace, kind: 'LocalWorkspace' },
      slipway: { epoch: app.epoch, ingestUrl: app.url, ingestToken: 'token', head: 0, resumeRun: false, ...slipway },
      ...more,
    });
    expect(status).toBe(201);
    return body.id;
  }
  const post = (id: string, route: string, body: object = {}) =>
    sandbox.call<{ code?: string; detail?: string }>('POST', `${route.replace('ID', id)}`, body);
  type Change = Partial<RunLimits> & { readonly agentType?: AgentType };
  type Envelope = Partial<Pick<ApplySettings, 'version' | 'epoch' | 'dryRun'>>;
  const put = (
    id: string,
    { agentType = 'default', ...limits }: Change,
    { version = 0, epoch = app.epoch, dryRun = false }: Envelope = {},
  ) => {
    const settings: AgentSettings = {
      agentType,
      limits: { maxIterations: null, maxBudgetUsd: null, ...limits },
      confirmation: { ...settingsOfMode('never'), organization: { floor: 'never', fourEyes: false } },
    };
    return sandbox.call<AppliedSettings & { code?: string }>('PUT', `/api/slipway/conversations/${id}/settings`, {
      settings,
      version,
      epoch,
      dryRun,
    });
  };
  const say = (id: string, text: string) =>
    post(id, '/api/conversations/ID/events', { role: 'user', content: [{ type: 'text', text }], run: true });
  const isOver = (id: string, status: string) =>
    until(
      `status ${status}`,
      async () =>
        (await sandbox.call<ConversationInfo>('GET', `/api/conversations/${id}`)).body.execution_status === status
          ? true
          : null,
      30_000,
    );
  const log = async (id: string): Promise<ConversationEvent[]> =>
    (await sandbox.call<{ items: ConversationEvent[] }>('GET', `/api/conversations/${id}/events/search?limit=100`)).body
      .items;
  const toolsOffered = (): string[] =>
    ((model.requests.at(-1)?.body.tools ?? []) as Array<{ function: { name: string } }>).map(
      (tool) => tool.function.name,
    );

  it('lets one that planned work with all its tools and another prompt, in the same conversation', async () => {
    const plan = path.join(sandbox.workspace, 'PLAN.md');
    const write = {
      toolCalls: [
        { name: 'planning_file_editor', arguments: { command: 'create', path: plan, file_text: '1. make it' } },
      ],
    };
    const id = await start([write, finish], { agent_type: 'plan' });
    await say(id, 'plan it');
    await isOver(id, 'finished');
    expect(await readFile(plan, 'utf8')).toBe('1. make it');
    expect(toolsOffered()).not.toContain('terminal');
    for (let time = 0; time < 2; time += 1)
      expect(await put(id, { agentType: 'default' })).toMatchObject({ status: 200, body: { refused: [] } });
    model.use([terminal('touch made'), finish]);
    await say(id, 'carry it out');
    await until(
      'what it made',
      async () =>
        access(path.join(sandbox.workspace, 'made'))
          .then(() => true)
          .catch(() => null),
      30_000,
    );
    await isOver(id, 'finished');
    expect(toolsOffered()).toEqual(expect.arrayContaining(['terminal', 'file_editor']));
    const [system, ...rest] = model.requests.at(-1)?.body.messages ?? [];
    expect(String(system?.content)).not.toContain('You are planning');
    expect(rest.some(({ role }) => role === 'system')).toBe(false);
    expect((await log(id)).filter((event) => event.kind === 'SystemPromptEvent')).toHaveLength(2);
  });

  it('does not change what an agent is while it works', async () => {
    const id = await start([terminal('sleep 86452'), finish]);
    await say(id, 'wait');
    await until(
      'its command',
      async () => (await log(id)).some((event) => event.kind === 'ActionEvent') || null,
      30_000,
    );
    for (const dryRun of [false, true])
      expect(await put(id, { agentType: 'plan', maxIterations: 33 }, { dryRun })).toMatchObject({
        status: 200,
        body: { refused: [{ setting: 'agentType', code: 'conversation.busy' }] },
      });
    // The refusal of one setting keeps none of the others.
    expect((await sandbox.call<ConversationInfo>('GET', `/api/conversations/${id}`)).body['max_iterations']).toBe(33);
    expect((await post(id, '/api/conversations/ID/interrupt')).status).toBe(200);
  });

  it('goes on after its steps were raised, never above what the installation allows', async () => {
    const id = await start(({ number }) => terminal(`echo ${number}`), { max_iterations: 1 }, { iterationCeiling: 6 });
    await say(id, 'count');
    await isOver(id, 'paused');
    expect(await put(id, { maxIterations: 7 })).toMatchObject({
      status: 200,
      body: { refused: [{ setting: 'maxIterations', code: 'request.invalid', detail: 'must be at most 6 here' }] },
    });
    expect(await put(id, { maxBudgetUsd: 1000 })).toMatchObject({ status: 200, body: { refused: [] } });
    model.use([terminal('true'), terminal('false'), finish]);
    expect((await post(id, '/api/conversations/ID/run')).status).toBe(200);
    await isOver(id, 'finished');
  });

  it('takes the last settings however late an earlier message comes, none that is meant for another start, and changes nothing in a dry run', async () => {
    const id = await start([finish], { max_iterations: 1 }, { iterationCeiling: 60 });
    const steps = async (): Promise<number> =>
      Number((await sandbox.call<ConversationInfo>('GET', `/api/conversations/${id}`)).body['max_iterations']);
    const numbers = [7, 2, 12, 1, 9, 4, 11, 3, 8, 5, 10, 6];
    const answers = await Promise.all(numbers.map((version) => put(id, { maxIterations: 10 + version }, { version })));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await steps()).toBe(22);
    expect([(await put(id, { maxIterations: 30 }, { version: 11 })).body, await steps()]).toEqual([
      { version: 12, refused: [] },
      22,
    ]);
    expect([(await put(id, { maxIterations: 23 }, { version: 12 })).status, await steps()]).toEqual([200, 23]);
    expect([await put(id, { maxIterations: 40 }, { version: 13, epoch: app.epoch + 1 }), await steps()]).toMatchObject([
      { status: 409, body: { code: 'ingest.stale-epoch' } },
      23,
    ]);
    const check = async (change: Change) =>
      (await put(id, change, { version: 1, dryRun: true })).body.refused.map(({ setting }) => setting);
    expect([
      await check({ maxIterations: 50, agentType: 'plan' }),
      await check({ maxIterations: 61 }),
      await steps(),
    ]).toEqual([[], ['maxIterations'], 23]);
    expect((await log(id)).filter((event) => event.kind === 'SystemPromptEvent')).toHaveLength(1);
    expect((await put(id, { maxIterations: 24 }, { version: 13 })).status).toBe(200);
    expect(await steps()).toBe(24);
  });

  it('ends where it halted on a user’s request, once', async () => {
    const id = await start(({ number }) => terminal(`echo ${number}`), { max_iterations: 1 });
    await say(id, 'count');
    await isOver(id, 'paused');
    for (let time = 0; time < 2; time += 1)
      expect((await post(id, '/api/conversations/ID/interrupt')).status).toBe(200);
    expect((await log(id)).filter((event) => event.kind === 'InterruptEvent')).toHaveLength(1);
  });

  it('asks again for what was allowed once that is revoked', async () => {
    const id = await start([terminal('echo once'), terminal('echo twice'), finish], {
      confirmation_policy: { kind: 'AlwaysConfirm' },
    });
    await say(id, 'echo');
    await isOver(id, 'waiting_for_confirmation');
    const rule = { tool_name: 'terminal', match: 'prefix', value: 'echo' };
    const yes = (more: object) =>
      post(id, '/api/conversations/ID/events/respond_to_confirmation', {
        accept: true,
        slipway: { by: 'Ada', run: true, ...more },
      });
    expect((await yes({ rule })).status).toBe(200);
    // The second echo is not asked for; finishing is.
    await until(
      'the second',
      async () => (await log(id)).filter((event) => event.kind === 'ObservationEvent').length >= 2 || null,
      30_000,
    );
    expect((await post(id, '/api/slipway/conversations/ID/revoke_rule', rule)).status).toBe(200);
    const rules = (): unknown => {
      const said = app.events.findLast(
        (event) => event.kind === 'ConversationStateUpdateEvent' && event.key === 'confirmation_settings',
      );
      return said?.kind === 'ConversationStateUpdateEvent' ? (said.value as { rules: unknown[] }).rules.length : null;
    };
    await until('the app to know that nothing is allowed', () => (rules() === 0 ? true : null), 30_000);
  });
});
