import { after, before, describe, it } from 'node:test';
import type { StartStep } from '@slipway/contracts';
import { inOrg } from '@slipway/db/sql';
import { until } from '@slipway/testing';
import { expect } from 'expect';
import { ORG, openScene, type Scene } from '../testing/scene.js';

describe('start saga', () => {
  let scene: Scene;
  before(async () => {
    scene = await openScene();
  });
  after(() => scene.close());
  const stepsOf = async (id: string): Promise<StartStep[]> =>
    (await scene.log(id)).filter((event) => event.key === 'start_task').map((event) => event.value as StartStep);

  it('ends with one sandbox, the message handed over once, all steps in the log without a gap, and no outbox job left', async () => {
    const { id, message } = await scene.create();
    await scene.start(id);
    const row = await scene.row(id);
    expect({ start: row.startStatus, sandbox: row.sandboxStatus, status: row.status, attempt: row.attempt, epoch: row.epoch, lease: row.leaseFresh }).toEqual({
      start: 'READY',
      sandbox: 'RUNNING',
      status: 'waiting',
      attempt: 1,
      epoch: 1,
      lease: true,
    });
    expect(scene.peers.messagesOf(id)).toEqual([message]);
    expect(scene.peers.claims.get(id)).toBe(1);
    expect(row.baseCommit).toMatch(/^[0-9a-f]{40}$/);
    const log = await scene.log(id);
    expect(log.map((event) => event.seq)).toEqual(log.map((_, index) => index + 1));
    const done = (await stepsOf(id)).filter((step) => step.state !== 'running').map((step) => step.status);
    expect(done).toEqual([
      'WORKING',
      'WAITING_FOR_SANDBOX',
      'PREPARING_REPOSITORY',
      'RUNNING_SETUP_SCRIPT',
      'SETTING_UP_GIT_HOOKS',
      'SETTING_UP_SKILLS',
      'STARTING_CONVERSATION',
      'READY',
    ]);
    expect(row.steps.map((step) => step.status)).toEqual(done);
    expect(await scene.jobs(id)).toEqual([]);
  });

  it('run again on a running conversation it hands over what is new, and nothing twice', async () => {
    const { id, message } = await scene.create();
    await scene.start(id);
    const second = await scene.send(id, 'and this');
    const third = await scene.send(id, 'and that');
    await scene.start(id);
    await scene.start(id);
    expect(scene.peers.messagesOf(id)).toEqual([message, second, third]);
    expect((await scene.row(id)).attempt).toBe(1);
  });

  it('two at once work one after the other', async () => {
    const { id, message } = await scene.create();
    await Promise.all([scene.start(id), scene.start(id)]);
    expect(scene.peers.messagesOf(id)).toEqual([message]);
    expect(scene.peers.claims.get(id)).toBe(1);
    expect((await scene.row(id)).attempt).toBe(1);
  });

  it('a sandbox that was lost is replaced under a new epoch, and what it had not written is handed over again', async () => {
    const { id, message } = await scene.create();
    await scene.start(id);
    scene.peers.loseSandbox(id);
    const second = await scene.send(id, 'after the loss');
    await scene.start(id);
    const row = await scene.row(id);
    expect({ attempt: row.attempt, epoch: row.epoch, start: row.startStatus }).toEqual({ attempt: 2, epoch: 2, start: 'READY' });
    expect(scene.peers.messagesOf(id)).toEqual([second]);
    const taken = (await scene.log(id)).filter((event) => event.kind === 'MessageEvent').map((event) => event.id);
    expect(taken).toEqual([message, second]);
  });

  it('a sandbox that ended with its workspace is replaced: the person reads why, the agent reads that its files are gone', async () => {
    const { id } = await scene.create();
    await scene.start(id);
    expect(scene.peers.sessions.get(id)?.sandbox?.conversation?.notice).toBeNull();
    await scene.peers.endSandbox(id, 'the sandbox ended: agent-server was killed (SIGKILL)');
    await scene.expireLease(id);
    await scene.send(id, 'after the end');
    await scene.start(id);
    const taken = (await stepsOf(id)).find((step) => step.attempt === 2 && step.status === 'WORKING');
    expect(taken).toMatchObject({ state: 'done', detail: 'The sandbox ended: agent-server was killed (SIGKILL).' });
    expect(scene.peers.sessions.get(id)?.sandbox?.conversation?.notice).toMatch(/all work that was not pushed.*is an empty git repository again/);
  });

  it('a sandbox that was fenced off is given up even while it answers', async () => {
    const { id, message } = await scene.create();
    await scene.start(id);
    await scene.fence(id);
    const second = await scene.send(id, 'after the fence');
    await scene.start(id);
    const row = await scene.row(id);
    expect({ attempt: row.attempt, epoch: row.epoch, start: row.startStatus }).toEqual({ attempt: 2, epoch: 3, start: 'READY' });
    expect((await scene.log(id)).filter((event) => event.kind === 'MessageEvent').map((event) => event.id)).toEqual([message, second]);
  });

  it('a run that was lost at work goes on by itself', async () => {
    const { id } = await scene.create();
    await scene.start(id);
    await scene.execution(id, 'running');
    scene.peers.loseSandbox(id);
    await scene.expireLease(id);
    await scene.start(id);
    expect(scene.peers.sessions.get(id)?.sandbox?.conversation).toMatchObject({ epoch: 2, resumeRun: true });
  });

  for (const execution of ['finished', 'idle', 'paused', 'stuck', 'error', 'waiting_for_confirmation'] as const)
    it(`a sandbox lost under a conversation that is ${execution} is not replaced until the next message`, async () => {
      const { id } = await scene.create();
      await scene.start(id);
      await scene.execution(id, execution);
      await scene.peers.endSandbox(id, 'the sandbox ended: its pod was deleted');
      await scene.expireLease(id);
      // A change of settings wants to reach the agent; it is told at the next start.
      await scene.addJob('conversation-deliver', id);
      await scene.start(id);
      expect(scene.peers.claims.get(id)).toBe(1);
      expect(await scene.row(id)).toMatchObject({ desired: 'rest', attempt: 1 });
      expect(await scene.jobs(id)).toEqual(['conversation-pause']);
      await scene.rest(id);
      expect(await scene.row(id)).toMatchObject({ sandboxStatus: 'PAUSED', executionStatus: execution });
      expect(await scene.jobs(id)).toEqual([]);
      const message = await scene.send(id, 'go on');
      await scene.desire(id, 'run');
      await scene.addJob('conversation-start', id);
      await scene.start(id);
      expect(scene.peers.claims.get(id)).toBe(2);
      expect(scene.peers.messagesOf(id)).toContain(message);
    });

  it('a sandbox lost under a client with an agent of its own is replaced: no message would ever ask for it', async () => {
    const { id } = await scene.create();
    await inOrg(scene.pool, ORG, (client) => client.query('DELETE FROM app.inbox_message WHERE conversation_id = $1', [id]));
    await scene.start(id);
    scene.peers.loseSandbox(id);
    await scene.expireLease(id);
    await scene.start(id);
    expect((await scene.row(id)).attempt).toBe(2);
  });

  it('a run that a person resumes goes on, also when its sandbox has just died and its lease does not say so', async () => {
    const { id } = await scene.create();
    await scene.start(id);
    await scene.execution(id, 'paused');
    await scene.addJob('conversation-start', id);
    await scene.start(id);
    expect(scene.peers.requests.filter((request) => request === 'agent POST /api/conversations/:id/run')).toHaveLength(1);
    scene.peers.loseSandbox(id);
    await scene.addJob('conversation-start', id);
    await scene.start(id);
    expect((await scene.row(id)).leaseFresh).toBe(true);
    expect(scene.peers.sessions.get(id)?.sandbox?.conversation).toMatchObject({ epoch: 2, resumeRun: true });
  });

  it('a full pool is waited for, with its reason on the running step, until nobody wants the sandbox', async () => {
    const { id } = await scene.create();
    scene.peers.refuseStart = { status: 409, code: 'sandbox.quota', detail: 'The organization runs 10 of 10 sandboxes.' };
    await scene.start(id);
    await scene.start(id);
    const row = await scene.row(id);
    expect(row.startStatus).toBe('WAITING_FOR_SANDBOX');
    expect(row.steps.at(-1)).toMatchObject({ state: 'running', detail: expect.stringMatching(/^The organization runs 10 of 10 sandboxes\./) });
    expect((await stepsOf(id)).filter((step) => step.detail !== undefined)).toHaveLength(1);
    scene.peers.refuseStart = null;
    await scene.start(id);
    expect((await scene.row(id)).startStatus).toBe('READY');
    expect((await scene.row(id)).attempt).toBe(1);
  });

  it('a failed start says why, gives its sandbox back, and begins again only when somebody asks', async () => {
    const { id, message } = await scene.create({ repository: 'http://127.0.0.1:1/none.git' });
    for (let round = 0; round < 10; round += 1) await scene.start(id);
    const row = await scene.row(id);
    expect({ start: row.startStatus, status: row.status, attempt: row.attempt, runtime: row.runtimeId }).toEqual({
      start: 'ERROR',
      status: 'failed',
      attempt: 1,
      runtime: null,
    });
    expect(row.steps.at(-1)).toMatchObject({ status: 'ERROR', state: 'failed', code: 'repository.unreachable' });
    expect(scene.peers.sessions.has(id)).toBe(false);
    await scene.addJob('conversation-start', id);
    await scene.start(id);
    expect((await scene.row(id)).attempt).toBe(2);
    expect(scene.peers.messagesOf(id)).not.toContain(message);
  });

  it('ends at once when the conversation shall rest, in the middle of a step', async () => {
    const { id } = await scene.create();
    scene.peers.onRequest = async (request, moment) => {
      if (request.includes('bash') && moment === 'before')
        await scene.desire(id, 'rest').then(() => until('the step was ended', async () => (await scene.row(id)).startStatus === 'READY', 5_000));
    };
    const started = scene.start(id);
    await until('the sandbox is there', async () => (await scene.row(id)).startStatus === 'PREPARING_REPOSITORY');
    await started;
    scene.peers.onRequest = () => {};
    await scene.rest(id);
    const row = await scene.row(id);
    expect({ status: row.status, sandbox: row.sandboxStatus, start: row.startStatus }).toEqual({ status: 'paused', sandbox: 'PAUSED', start: 'READY' });
    expect(await scene.jobs(id)).toEqual([]);
  });

  it('rests with its changes kept, and comes back with the same workspace', async () => {
    const { id, message } = await scene.create();
    await scene.start(id);
    const before = await scene.row(id);
    await scene.desire(id, 'rest');
    await scene.addJob('conversation-pause', id);
    await scene.rest(id);
    expect((await scene.row(id)).sandboxStatus).toBe('PAUSED');
    expect(scene.peers.sessions.get(id)?.status).toBe('paused');
    const second = await scene.send(id, 'go on');
    await scene.desire(id, 'run');
    await scene.addJob('conversation-start', id);
    await scene.start(id);
    const row = await scene.row(id);
    expect({ attempt: row.attempt, base: row.baseCommit, start: row.startStatus }).toEqual({ attempt: 2, base: before.baseCommit, start: 'READY' });
    expect((await scene.log(id)).filter((event) => event.kind === 'MessageEvent').map((event) => event.id)).toEqual([message, second]);
    expect(await scene.jobs(id)).toEqual([]);
  });
});
