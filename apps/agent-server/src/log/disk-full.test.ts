import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { startModelServer, until } from '@slipway/testing';
import { skipTest } from '@slipway/testing/jest';
import { TestSandbox } from '../testing/sandbox.js';
import { TestApp } from '../testing/test-app.js';

describe('a full disk in the sandbox', () => {
  it('stops the run with its code, answers messages with 507, loses nothing acknowledged, and goes on when there is room', async () => {
    const sandbox = await TestSandbox.create();
    await mkdir(sandbox.stateDir, { recursive: true });
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=512k', 'tmpfs', sandbox.stateDir], { stdio: 'pipe' });
    } catch {
      await sandbox.close();
      return skipTest('a small file system can only be mounted by root');
    }
    const app = await new TestApp().start();
    const model = await startModelServer({
      script: [
        { toolCalls: [{ name: 'terminal', arguments: { command: 'seq 1 4000' } }], delayMs: 300 },
        { text: 'There is room again.' },
      ],
    });
    const ballast = path.join(sandbox.stateDir, 'ballast');
    const say = (text: string): Promise<{ status: number; body: { code?: string } }> =>
      sandbox.call('POST', `/api/conversations/${id}/events`, {
        role: 'user',
        content: [{ type: 'text', text }],
        run: true,
      });
    let id = '';
    try {
      await sandbox.startActionServer();
      await sandbox.startAgentServer();
      await sandbox.activate({});
      const { body } = await sandbox.call<{ id: string }>('POST', '/api/conversations', {
        conversation_id: randomUUID(),
        agent: { llm: { model: 'm', base_url: model.url } },
        workspace: { working_dir: sandbox.workspace },
        slipway: { epoch: 1, ingestUrl: app.url, ingestToken: 'token', head: 0, resumeRun: false },
      });
      id = body.id;
      expect((await say('count')).status).toBe(200);
      await writeFile(ballast, Buffer.alloc(512 * 1024)).catch(() => {});
      const failure = await until('the reason', () =>
        app.events.find((event) => event.kind === 'ConversationErrorEvent'),
      );
      expect(failure).toMatchObject({ code: 'sandbox.disk-full' });
      const refused = await say('x'.repeat(100_000));
      expect([refused.status, refused.body.code]).toEqual([507, 'sandbox.disk-full']);
      await unlink(ballast);
      expect((await say('go on')).status).toBe(200);
      await until('the end', () =>
        app.events.some((event) => event.kind === 'ConversationStateUpdateEvent' && event.value === 'finished'),
      );
      const { body: page } = await sandbox.call<{ items: Array<{ id: string }> }>(
        'GET',
        `/api/conversations/${id}/events/search`,
      );
      expect(page.items.map((event) => event.id)).toEqual(app.events.map((event) => event.id));
    } finally {
      await sandbox.kill('agentServer');
      await sandbox.kill('actionServer');
      execFileSync('umount', [sandbox.stateDir]);
      await sandbox.close();
      await app.close();
      await model.close();
    }
  });
});
