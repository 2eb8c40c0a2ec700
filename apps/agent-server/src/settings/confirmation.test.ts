import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { ConversationInfo } from '@slipway/contracts/agent';
import type { ConversationEvent } from '@slipway/contracts/events';
import { type ModelScript, type ModelServer, startModelServer, until } from '@slipway/testing';
import { TestSandbox } from '../testing/sandbox.js';

const touch = (name: string) => ({ toolCalls: [{ name: 'terminal', arguments: { command: `touch ${name}` } }] });
const FINISH = { toolCalls: [{ name: 'finish', arguments: { message: 'done' } }] };

describe('an agent that asks first', () => {
  let sandbox: TestSandbox;
  let models: ModelServer[] = [];
  beforeAll(async () => {
    sandbox = await TestSandbox.start();
  });
  afterEach(async () => {
    await Promise.all(models.map((model) => model.close()));
    models = [];
  });
  afterAll(() => sandbox.close());

  async function waiting(script: ModelScript) {
    const model = await startModelServer({ script });
    models.push(model);
    const id = randomUUID();
    const at = `/api/conversations/${id}`;
    await sandbox.call('POST', '/api/conversations', {
      conversation_id: id,
      agent: { llm: { model: 'openai/scripted', base_url: model.url } },
      workspace: { working_dir: sandbox.workspace, kind: 'LocalWorkspace' },
      confirmation_policy: { kind: 'AlwaysConfirm' },
    });
    const say = (text: string, run = true) =>
      sandbox.call('POST', `${at}/events`, { role: 'user', content: [{ type: 'text', text }], run });
    const status = (wanted: string) =>
      until(`it is ${wanted}`, async () => {
        const { body } = await sandbox.call<ConversationInfo>('GET', at);
        return body.execution_status === wanted ? body : null;
      });
    const events = async () =>
      (await sandbox.call<{ items: ConversationEvent[] }>('GET', `${at}/events/search?limit=100`)).body.items;
    await say('work');
    await status('waiting_for_confirmation');
    const respond = (body: object) =>
      sandbox.call<{ code?: string }>('POST', `${at}/events/respond_to_confirmation`, body);
    return {
      at,
      model,
      say,
      status,
      events,
      respond,
      made: (name: string) => existsSync(path.join(sandbox.workspace, name)),
    };
  }

  it('does nothing before it is approved, and then does it', async () => {
    const { respond, status, made, events } = await waiting([touch('allowed'), FINISH]);
    expect(made('allowed')).toBe(false);
    expect((await respond({ accept: true })).status).toBe(200);
    await status('finished');
    expect(made('allowed')).toBe(true);
    expect((await events()).some((event) => event.kind === 'UserRejectObservation')).toBe(false);
  });

  it('takes a rejection with its reason, and goes on when it is started again', async () => {
    const { respond, status, made, events, at, model } = await waiting([touch('refused'), FINISH]);
    expect((await respond({ accept: false, reason: 'not there' })).status).toBe(200);
    await status('idle');
    expect((await events()).find((event) => event.kind === 'UserRejectObservation')).toMatchObject({
      rejection_reason: 'not there',
      rejection_source: 'user',
    });
    await sandbox.call('POST', `${at}/run`);
    await status('finished');
    expect([made('refused'), JSON.stringify(model.requests.at(-1)?.body).includes('not there')]).toEqual([false, true]);
  });

  it('lets the first of two answers count, and refuses an answer to something else', async () => {
    const { respond, status } = await waiting([touch('once'), FINISH]);
    const other = await respond({ accept: true, slipway: { by: 'Ada', action_ids: [randomUUID()] } });
    expect([other.status, other.body.code]).toEqual([409, 'conversation.nothing-to-confirm']);
    const answers = await Promise.all([respond({ accept: true }), respond({ accept: false })]);
    expect(answers.map(({ status }) => status)).toEqual([200, 409]);
    await status('finished');
    expect((await respond({ accept: true })).status).toBe(409);
  });

  it('carries out the approved actions of an answer alone, and gives the agent the reasons for the others', async () => {
    const calls = ['first', 'second', 'third'].flatMap((name) => touch(name).toolCalls);
    const { respond, status, made, events, model } = await waiting([{ toolCalls: calls }, FINISH]);
    const ids = (await events()).filter((event) => event.kind === 'ActionEvent').map(({ id }) => id);
    expect(ids).toHaveLength(3);
    const [first, second, third] = ids;
    const stranger = await respond({ accept: true, slipway: { action_ids: ids, rejections: [{ id: randomUUID() }] } });
    // An agent-server of before sees only what is approved, and must refuse it: it would carry out the others.
    const half = await respond({ accept: true, slipway: { action_ids: [first, third] } });
    expect([stranger.status, half.status]).toEqual([409, 409]);
    const answer = {
      accept: true,
      slipway: {
        by: 'Ada',
        action_ids: [first, third],
        rejections: [{ id: second, reason: 'the second is not ours' }],
      },
    };
    expect((await respond(answer)).status).toBe(200);
    await status('finished');
    expect(['first', 'second', 'third'].map(made)).toEqual([true, false, true]);
    const said = (await events()).find(
      (event) => event.kind === 'ConversationStateUpdateEvent' && event.key === 'confirmation',
    );
    expect(said).toMatchObject({ value: { accepted: true, action_ids: [first, third], by: 'Ada' } });
    const prompt = JSON.stringify(model.requests.at(-1)?.body);
    expect([prompt.includes('the second is not ours'), prompt.includes('undefined')]).toEqual([true, false]);
  });

  it('takes reasons of their own for actions that are all rejected', async () => {
    const { respond, status, made, events } = await waiting([touch('none'), FINISH]);
    const [id] = (await events()).filter((event) => event.kind === 'ActionEvent').map((event) => event.id);
    expect((await respond({ accept: true, slipway: { rejections: [{ id, reason: 'not this one' }] } })).status).toBe(
      200,
    );
    await status('idle');
    expect(made('none')).toBe(false);
    expect((await events()).find((event) => event.kind === 'UserRejectObservation')).toMatchObject({
      rejection_reason: 'not this one',
    });
  });

  it('reads a message as a no, and a stop, too', async () => {
    const first = await waiting([touch('instead'), FINISH]);
    await first.say('do something else');
    await first.status('finished');
    const second = await waiting([touch('halted')]);
    await sandbox.call('POST', `${second.at}/interrupt`);
    await second.status('paused');
    expect([first.made('instead'), second.made('halted')]).toEqual([false, false]);
    for (const { events } of [first, second])
      expect((await events()).filter((event) => event.kind === 'UserRejectObservation')).toHaveLength(1);
  });

  it('keeps waiting in the next sandbox', async () => {
    const { status, respond, made, at, model } = await waiting([touch('later'), FINISH]);
    await sandbox.kill('agentServer');
    await sandbox.startAgentServer();
    await sandbox.call('POST', '/api/conversations', {
      conversation_id: at.split('/').at(-1),
      agent: { llm: { model: 'openai/scripted', base_url: model.url } },
      workspace: { working_dir: sandbox.workspace, kind: 'LocalWorkspace' },
      confirmation_policy: { kind: 'AlwaysConfirm' },
    });
    await status('waiting_for_confirmation');
    await respond({ accept: true });
    await status('finished');
    expect(made('later')).toBe(true);
  });

  it('asks no more for what was allowed for the remainder of the conversation', async () => {
    const { respond, status, made } = await waiting([touch('a'), touch('b'), FINISH]);
    await respond({
      accept: true,
      slipway: { by: 'Ada', rule: { tool_name: 'terminal', match: 'prefix', value: 'touch' } },
    });
    await status('finished');
    expect(made('b')).toBe(true);
  });

  it('takes another policy and another analyzer at once, says which hold, and refuses what it does not know', async () => {
    const { at, status } = await waiting([touch('c')]);
    const post = (path: string, body: object) => sandbox.call('POST', `${at}${path}`, body);
    expect((await post('/security_analyzer', { security_analyzer: { kind: 'GraySwanAnalyzer' } })).status).toBe(400);
    expect((await post('/confirmation_policy', { policy: { kind: 'Sometimes' } })).status).toBe(400);
    await post('/security_analyzer', { security_analyzer: { kind: 'PatternSecurityAnalyzer' } });
    await post('/confirmation_policy', { policy: { kind: 'ConfirmRisky' } });
    expect(await status('waiting_for_confirmation')).toMatchObject({
      confirmation_policy: { kind: 'ConfirmRisky', threshold: 'HIGH', confirm_unknown: true },
      security_analyzer: { kind: 'PatternSecurityAnalyzer' },
    });
  });
});
