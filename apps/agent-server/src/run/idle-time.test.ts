import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ModelServer, startModelServer, until } from '@slipway/testing';
import { TestSandbox } from '../testing/sandbox.js';
import { TestApp } from '../testing/test-app.js';

describe('the idle time that agent-server reports without a key', () => {
  let sandbox: TestSandbox;
  let model: ModelServer;
  let app: TestApp;
  beforeAll(async () => {
    sandbox = await TestSandbox.start();
    model = await startModelServer({ script: [{ fault: 'hang' }] });
    app = await new TestApp().start();
  });
  afterAll(async () => {
    await sandbox?.close();
    await model?.close();
    await app?.close();
  });
  const info = async (): Promise<{ uptime: number; idle_time: number }> =>
    (await (await fetch(`${sandbox.url}/server_info`)).json()) as { uptime: number; idle_time: number };

  it('grows while there is no work, and restarts with a request that has the key', async () => {
    await until('it is idle', async () => (await info()).idle_time >= 1);
    await sandbox.call('GET', '/api/conversations/count');
    expect((await info()).idle_time).toBe(0);
  });

  it('is nothing while an agent works, however long that takes', async () => {
    const { body } = await sandbox.call<{ id: string }>('POST', '/api/conversations', {
      conversation_id: randomUUID(),
      agent: { llm: { model: 'openai/scripted', base_url: model.url, api_key: 'sk-very-secret-key', num_retries: 2 } },
      workspace: { working_dir: sandbox.workspace, kind: 'LocalWorkspace' },
      slipway: {
        epoch: app.epoch,
        ingestUrl: app.url,
        ingestToken: 'ingest-token-very-secret',
        head: 0,
        resumeRun: false,
      },
    });
    await sandbox.call('POST', `/api/conversations/${body.id}/events`, {
      role: 'user',
      content: [{ type: 'text', text: 'work' }],
      run: true,
    });
    await until('it works', () =>
      app.events.some((event) => event.kind === 'ConversationStateUpdateEvent' && event.value === 'running'),
    );
    const begun = (await info()).uptime;
    const later = await until('time passes', async () => {
      const now = await info();
      return now.uptime >= begun + 2 && now;
    });
    expect(later.idle_time).toBe(0);
  });
});
