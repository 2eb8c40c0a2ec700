import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AgentSettings, ConversationInfo } from '@slipway/contracts/agent';
import type { ConfirmationMode } from '@slipway/contracts/conversations';
import { settingsOfMode } from '@slipway/domain';
import { TestSandbox } from '../testing/sandbox.js';
import { TestApp } from '../testing/test-app.js';

/** What an app-server or worker of the release before sends. Goes in 0.2.0 with the aliases. */
describe('settings of the release before', () => {
  let sandbox: TestSandbox;
  let app: TestApp;
  let id: string;
  beforeAll(async () => {
    [sandbox, app] = await Promise.all([TestSandbox.start(), new TestApp().start()]);
  });
  afterAll(() => Promise.all([sandbox?.close(), app?.close()]));

  async function start(): Promise<void> {
    await app.close();
    app = await new TestApp().start();
    id = randomUUID();
    const { status } = await sandbox.call('POST', '/api/conversations', {
      conversation_id: id,
      agent: { llm: { model: 'openai/scripted', base_url: 'http://127.0.0.1:9' } },
      workspace: { working_dir: sandbox.workspace, kind: 'LocalWorkspace' },
      max_iterations: 1,
      slipway: {
        ...{
          epoch: app.epoch,
          ingestUrl: app.url,
          ingestToken: 'token',
          head: 0,
          resumeRun: false,
          iterationCeiling: 60,
        },
        brake: { floor: 'never', fourEyes: false },
      },
    });
    expect(status).toBe(201);
  }
  const post = async (route: string, body: object) => {
    const answer = await sandbox.call<{ code?: string; fields?: unknown }>(
      'POST',
      `/api/slipway/conversations/${id}/${route}`,
      body,
    );
    return {
      status: answer.status,
      ...(answer.body.code === undefined ? {} : { code: answer.body.code, fields: answer.body.fields }),
    };
  };
  const terms = (steps: number, version?: number) =>
    post('terms', { max_iterations: steps, ...(version === undefined ? {} : { version, epoch: app.epoch }) });
  const brake = (mode: ConfirmationMode, version: number, epoch = app.epoch) =>
    post('brake', { ...settingsOfMode(mode), brake: { floor: mode, fourEyes: mode === 'always' }, version, epoch });
  const put = (
    mode: ConfirmationMode,
    maxIterations: number,
    version: number,
    earlierVersions: { runSettings: number; confirmation: number },
  ) => {
    const settings: AgentSettings = {
      agentType: 'default',
      limits: { maxIterations, maxBudgetUsd: null },
      confirmation: { ...settingsOfMode(mode), organization: { floor: mode, fourEyes: mode === 'always' } },
    };
    return sandbox.call('PUT', `/api/slipway/conversations/${id}/settings`, {
      settings,
      version,
      epoch: app.epoch,
      earlierVersions,
    });
  };
  const holds = async (): Promise<[unknown, unknown]> => {
    const { body } = await sandbox.call<ConversationInfo>('GET', `/api/conversations/${id}`);
    return [body['max_iterations'], (body['confirmation_policy'] as { kind: string }).kind];
  };

  it('are applied in the order of their versions, refused beyond the ceiling, and checked without a change', async () => {
    await start();
    expect(await terms(61)).toEqual({
      status: 400,
      code: 'request.invalid',
      fields: [{ path: 'max_iterations', message: 'must be at most 60 here' }],
    });
    expect([
      await terms(7, 3),
      await terms(5, 2),
      await post('terms/check', { max_iterations: 50 }),
      await holds(),
    ]).toEqual([{ status: 200 }, { status: 200 }, { status: 200 }, [7, 'NeverConfirm']]);
    expect(await terms(8)).toEqual({ status: 200 });
    expect([await brake('always', 4), await brake('never', 3), await holds()]).toEqual([
      { status: 200 },
      { status: 200 },
      [8, 'AlwaysConfirm'],
    ]);
    expect(await brake('never', 9, app.epoch + 1)).toMatchObject({ status: 409, code: 'ingest.stale-epoch' });
    expect(await holds()).toEqual([8, 'AlwaysConfirm']);
  });

  it('never undo what the new route applied after them, nor the other way round', async () => {
    await start();
    expect((await put('always', 20, 9, { runSettings: 4, confirmation: 5 })).status).toBe(200);
    await terms(10, 3);
    await brake('never', 4);
    expect(await holds()).toEqual([20, 'AlwaysConfirm']);
    await terms(11, 5);
    expect(await holds()).toEqual([11, 'AlwaysConfirm']);
    // The same message once more: its run settings are older by now.
    await put('always', 20, 9, { runSettings: 4, confirmation: 5 });
    expect(await holds()).toEqual([11, 'AlwaysConfirm']);
    await brake('risky', 6);
    await put('never', 12, 10, { runSettings: 6, confirmation: 5 });
    expect(await holds()).toEqual([12, 'ConfirmRisky']);
  });
});
