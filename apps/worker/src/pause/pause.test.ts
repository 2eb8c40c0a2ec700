import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { INITIAL_STATUS, runtimeState } from '@slipway/domain';
import { type Harness, openHarness } from '../testing/harness.js';

const NO_BUCKET = 'The store of workspaces, bucket missing, answered with 404 (NoSuchBucket).';

describe('a conversation that is paused', () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await openHarness();
  });
  afterAll(() => harness.close());

  const paused = async (workspace: {
    state: 'saving' | 'kept' | 'not-kept' | 'lost';
    detail?: string;
  }): Promise<string> => {
    const { id } = await harness.create();
    await harness.start(id);
    await harness.execution(id, 'finished');
    say(id, workspace);
    await harness.desire(id, 'rest');
    await harness.addJob('conversation-pause', id);
    await harness.rest(id);
    return id;
  };
  const say = (id: string, workspace: { state: 'saving' | 'kept' | 'not-kept' | 'lost'; detail?: string }): void => {
    const session = harness.peers.sessions.get(id);
    if (session === undefined) throw new Error('it has no session');
    session.workspace = workspace;
  };
  /** As a client of the API reads it. */
  const workspaceStates = async (id: string) => {
    const { startStatus, steps, sandboxStatus, statusState } = await harness.row(id);
    return runtimeState({ state: { ...INITIAL_STATUS, ...statusState }, startStatus, steps, sandboxStatus });
  };
  const saidInLog = async (id: string): Promise<unknown[]> =>
    (await harness.log(id))
      .filter((event) => event.key === 'workspace' || event.kind === 'ConversationErrorEvent')
      .map((event) => event.value ?? event);

  it('says that its files are kept when they are', async () => {
    const id = await paused({ state: 'kept' });
    expect(await workspaceStates(id)).toMatchObject({
      status: 'STOPPED',
      cause: 'The sandbox is paused; its workspace is kept.',
    });
    expect(await harness.jobs(id)).toEqual([]);
  });

  it('does not say so while they are on their way, and polls until they are there', async () => {
    const id = await paused({ state: 'saving' });
    expect(await workspaceStates(id)).toMatchObject({ cause: 'The sandbox is paused; its workspace is being saved.' });
    expect(await harness.jobs(id)).toEqual(['conversation-pause']);
    say(id, { state: 'kept' });
    await harness.rest(id);
    expect(await workspaceStates(id)).toMatchObject({ cause: 'The sandbox is paused; its workspace is kept.' });
    expect(await harness.jobs(id)).toEqual([]);
  });

  it('says why files are not kept and what to do, in the log and to clients, once for each reason, until they are', async () => {
    const id = await paused({ state: 'not-kept', detail: NO_BUCKET });
    await harness.rest(id);
    expect(await workspaceStates(id)).toMatchObject({
      code: 'sandbox.workspace-not-kept',
      cause: expect.stringContaining(NO_BUCKET),
      nextStep: expect.stringContaining('Nothing is lost: the sandbox keeps them'),
    });
    expect(await saidInLog(id)).toMatchObject([
      { state: 'not-kept', detail: NO_BUCKET },
      { kind: 'ConversationErrorEvent', code: 'sandbox.workspace-not-kept', detail: NO_BUCKET },
    ]);
    expect(await harness.jobs(id)).toEqual(['conversation-pause']);
    say(id, { state: 'kept' });
    await harness.rest(id);
    expect(await workspaceStates(id)).toMatchObject({ cause: 'The sandbox is paused; its workspace is kept.' });
  });

  it('says that files were lost when the sandbox went without them', async () => {
    const id = await paused({ state: 'not-kept', detail: NO_BUCKET });
    say(id, { state: 'lost', detail: NO_BUCKET });
    await harness.rest(id);
    expect(await workspaceStates(id)).toMatchObject({
      code: 'sandbox.workspace-lost',
      cause: expect.stringContaining(NO_BUCKET),
    });
    expect(await harness.jobs(id)).toEqual([]);
  });

  it('starts at once for a message, whatever became of its files, and forgets what was said of them', async () => {
    const id = await paused({ state: 'not-kept', detail: NO_BUCKET });
    await harness.send(id, 'go on');
    await harness.desire(id, 'run');
    await harness.addJob('conversation-start', id);
    await harness.rest(id);
    expect(await harness.jobs(id)).toEqual(['conversation-start']);
    await harness.start(id);
    expect(await workspaceStates(id)).toMatchObject({ status: 'READY' });
    expect((await harness.row(id)).statusState.workspace).toBeNull();
  });
});
