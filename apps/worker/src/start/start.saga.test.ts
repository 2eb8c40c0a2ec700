import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { StartStep } from '@slipway/contracts/conversations';
import { inOrg } from '@slipway/db/sql';
import { until } from '@slipway/testing';
import { type Harness, ORG, openHarness } from '../testing/harness.js';

describe('start saga', () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await openHarness();
  });
  afterAll(() => harness.close());
  const stepsOf = async (id: string): Promise<StartStep[]> =>
    (await harness.log(id)).filter((event) => event.key === 'start_task').map((event) => event.value as StartStep);

  it('ends with one sandbox, the message handed over once, all steps in the log without a gap, and no outbox job left', async () => {
    const { id, message } = await harness.create();
    await harness.start(id);
    const row = await harness.row(id);
    expect({
      start: row.startStatus,
      sandbox: row.sandboxStatus,
      status: row.status,
      attempt: row.attempt,
      epoch: row.epoch,
      lease: row.leaseFresh,
    }).toEqual({
      start: 'READY',
      sandbox: 'RUNNING',
      status: 'waiting',
      attempt: 1,
      epoch: 1,
      lease: true,
    });
    expect(harness.peers.messagesOf(id)).toEqual([message]);
    expect(harness.peers.claims.get(id)).toBe(1);
    expect(row.baseCommit).toMatch(/^[0-9a-f]{40}$/);
    const log = await harness.log(id);
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
    expect(await harness.jobs(id)).toEqual([]);
  });

  it('run again on a running conversation it hands over what is new, and nothing twice', async () => {
    const { id, message } = await harness.create();
    await harness.start(id);
    const second = await harness.send(id, 'and this');
    const third = await harness.send(id, 'and that');
    await harness.start(id);
    await harness.start(id);
    expect(harness.peers.messagesOf(id)).toEqual([message, second, third]);
    expect((await harness.row(id)).attempt).toBe(1);
  });

  it('two at once work one after the other', async () => {
    const { id, message } = await harness.create();
    await Promise.all([harness.start(id), harness.start(id)]);
    expect(harness.peers.messagesOf(id)).toEqual([message]);
    expect(harness.peers.claims.get(id)).toBe(1);
    expect((await harness.row(id)).attempt).toBe(1);
  });

  it('a sandbox that was lost is replaced under a new epoch, and what it had not written is handed over again', async () => {
    const { id, message } = await harness.create();
    await harness.start(id);
    harness.peers.loseSandbox(id);
    const second = await harness.send(id, 'after the loss');
    await harness.start(id);
    const row = await harness.row(id);
    expect({ attempt: row.attempt, epoch: row.epoch, start: row.startStatus }).toEqual({
      attempt: 2,
      epoch: 2,
      start: 'READY',
    });
    expect(harness.peers.messagesOf(id)).toEqual([second]);
    const taken = (await harness.log(id)).filter((event) => event.kind === 'MessageEvent').map((event) => event.id);
    expect(taken).toEqual([message, second]);
  });

  it('a sandbox that ended with its workspace is replaced: the user reads why, the agent reads that its files are gone', async () => {
    const { id } = await harness.create();
    await harness.start(id);
    expect(harness.peers.sessions.get(id)?.sandbox?.conversation?.notice).toBeNull();
    await harness.peers.endSandbox(id, 'the sandbox ended: agent-server was killed (SIGKILL)');
    await harness.expireLease(id);
    await harness.send(id, 'after the end');
    await harness.start(id);
    const taken = (await stepsOf(id)).find((step) => step.attempt === 2 && step.status === 'WORKING');
    expect(taken).toMatchObject({ state: 'done', detail: 'The sandbox ended: agent-server was killed (SIGKILL).' });
    expect(harness.peers.sessions.get(id)?.sandbox?.conversation?.notice).toMatch(
      /all work that was not pushed.*is an empty git repository again/,
    );
  });

  it('a sandbox that was fenced off is given up even while it answers', async () => {
    const { id, message } = await harness.create();
    await harness.start(id);
    await harness.fence(id);
    const second = await harness.send(id, 'after the fence');
    await harness.start(id);
    const row = await harness.row(id);
    expect({ attempt: row.attempt, epoch: row.epoch, start: row.startStatus }).toEqual({
      attempt: 2,
      epoch: 3,
      start: 'READY',
    });
    expect((await harness.log(id)).filter((event) => event.kind === 'MessageEvent').map((event) => event.id)).toEqual([
      message,
      second,
    ]);
  });

  it('a run that was lost at work goes on by itself', async () => {
    const { id } = await harness.create();
    await harness.start(id);
    await harness.execution(id, 'running');
    harness.peers.loseSandbox(id);
    await harness.expireLease(id);
    await harness.start(id);
    expect(harness.peers.sessions.get(id)?.sandbox?.conversation).toMatchObject({ epoch: 2, resumeRun: true });
  });

  for (const execution of ['finished', 'idle', 'paused', 'stuck', 'error', 'waiting_for_confirmation'] as const)
    it(`a sandbox lost under a conversation that is ${execution} is not replaced until the next message`, async () => {
      const { id } = await harness.create();
      await harness.start(id);
      await harness.execution(id, execution);
      await harness.peers.endSandbox(id, 'the sandbox ended: its pod was deleted');
      await harness.expireLease(id);
      // A change of settings is pending; the agent gets it at the next start.
      await harness.addJob('conversation-deliver', id);
      await harness.start(id);
      expect(harness.peers.claims.get(id)).toBe(1);
      expect(await harness.row(id)).toMatchObject({ desired: 'rest', attempt: 1 });
      expect(await harness.jobs(id)).toEqual(['conversation-pause']);
      await harness.rest(id);
      expect(await harness.row(id)).toMatchObject({ sandboxStatus: 'PAUSED', executionStatus: execution });
      expect(await harness.jobs(id)).toEqual([]);
      const message = await harness.send(id, 'go on');
      await harness.desire(id, 'run');
      await harness.addJob('conversation-start', id);
      await harness.start(id);
      expect(harness.peers.claims.get(id)).toBe(2);
      expect(harness.peers.messagesOf(id)).toContain(message);
    });

  it('a sandbox lost under a client with an agent of its own is replaced: no message would ever ask for it', async () => {
    const { id } = await harness.create();
    await inOrg(harness.pool, ORG, (client) =>
      client.query('DELETE FROM app.inbox_message WHERE conversation_id = $1', [id]),
    );
    await harness.start(id);
    harness.peers.loseSandbox(id);
    await harness.expireLease(id);
    await harness.start(id);
    expect((await harness.row(id)).attempt).toBe(2);
  });

  it('a run that a user resumes goes on, also when its sandbox has just died and its lease does not say so', async () => {
    const { id } = await harness.create();
    await harness.start(id);
    await harness.execution(id, 'paused');
    await harness.addJob('conversation-start', id);
    await harness.start(id);
    expect(
      harness.peers.requests.filter((request) => request === 'agent POST /api/conversations/:id/run'),
    ).toHaveLength(1);
    harness.peers.loseSandbox(id);
    await harness.addJob('conversation-start', id);
    await harness.start(id);
    expect((await harness.row(id)).leaseFresh).toBe(true);
    expect(harness.peers.sessions.get(id)?.sandbox?.conversation).toMatchObject({ epoch: 2, resumeRun: true });
  });

  it('a full pool is waited for, with its reason on the running step, until the sandbox is not wanted any more', async () => {
    const { id } = await harness.create();
    harness.peers.refuseStart = {
      status: 409,
      code: 'sandbox.quota',
      detail: 'The organization runs 10 of 10 sandboxes.',
    };
    await harness.start(id);
    await harness.start(id);
    const row = await harness.row(id);
    expect(row.startStatus).toBe('WAITING_FOR_SANDBOX');
    expect(row.steps.at(-1)).toMatchObject({
      state: 'running',
      detail: expect.stringMatching(/^The organization runs 10 of 10 sandboxes\./),
    });
    expect((await stepsOf(id)).filter((step) => step.detail !== undefined)).toHaveLength(1);
    harness.peers.refuseStart = null;
    await harness.start(id);
    expect((await harness.row(id)).startStatus).toBe('READY');
    expect((await harness.row(id)).attempt).toBe(1);
  });

  it('a failed start says why, releases its sandbox, and starts again only on request', async () => {
    const { id, message } = await harness.create({ repository: 'http://127.0.0.1:1/none.git' });
    for (let round = 0; round < 4; round += 1) {
      await harness.start(id);
      // Each try is shown. Four, with pauses of 0.5, 1, 2 and 4 s: a host that takes no connections fails within 10 s.
      const step = (await harness.row(id)).steps.find(({ status }) => status === 'PREPARING_REPOSITORY');
      expect(step?.detail).toContain(`Trying again (${round + 1} of 4).`);
    }
    await harness.start(id);
    const row = await harness.row(id);
    expect({ start: row.startStatus, status: row.status, attempt: row.attempt, runtime: row.runtimeId }).toEqual({
      start: 'ERROR',
      status: 'failed',
      attempt: 1,
      runtime: null,
    });
    expect(row.steps.at(-1)).toMatchObject({ status: 'ERROR', state: 'failed', code: 'repository.unreachable' });
    expect(harness.peers.sessions.has(id)).toBe(false);
    await harness.addJob('conversation-start', id);
    await harness.start(id);
    expect((await harness.row(id)).attempt).toBe(2);
    expect(harness.peers.messagesOf(id)).not.toContain(message);
  });

  it('ends at once when the conversation is paused, in the middle of a step', async () => {
    const { id } = await harness.create();
    harness.peers.onRequest = async (request, moment) => {
      if (request.includes('bash') && moment === 'before')
        await harness
          .desire(id, 'rest')
          .then(() => until('the step was ended', async () => (await harness.row(id)).startStatus === 'READY', 5_000));
    };
    const started = harness.start(id);
    await until('the sandbox is there', async () => (await harness.row(id)).startStatus === 'PREPARING_REPOSITORY');
    await started;
    harness.peers.onRequest = () => {};
    await harness.rest(id);
    const row = await harness.row(id);
    expect({ status: row.status, sandbox: row.sandboxStatus, start: row.startStatus }).toEqual({
      status: 'paused',
      sandbox: 'PAUSED',
      start: 'READY',
    });
    expect(await harness.jobs(id)).toEqual([]);
  });

  it('is paused with its changes stored, and comes back with the same workspace', async () => {
    const { id, message } = await harness.create();
    await harness.start(id);
    const before = await harness.row(id);
    await harness.desire(id, 'rest');
    await harness.addJob('conversation-pause', id);
    await harness.rest(id);
    expect((await harness.row(id)).sandboxStatus).toBe('PAUSED');
    expect(harness.peers.sessions.get(id)?.status).toBe('paused');
    const second = await harness.send(id, 'go on');
    await harness.desire(id, 'run');
    await harness.addJob('conversation-start', id);
    await harness.start(id);
    const row = await harness.row(id);
    expect({ attempt: row.attempt, base: row.baseCommit, start: row.startStatus }).toEqual({
      attempt: 2,
      base: before.baseCommit,
      start: 'READY',
    });
    expect((await harness.log(id)).filter((event) => event.kind === 'MessageEvent').map((event) => event.id)).toEqual([
      message,
      second,
    ]);
    expect(await harness.jobs(id)).toEqual([]);
  });
});
