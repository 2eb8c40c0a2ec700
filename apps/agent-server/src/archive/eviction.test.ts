import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { TestSandbox } from '../testing/sandbox.js';

/** Longer than any of these tests: what ends before it, ended for its own reason. Seconds. */
const GRACE_SECONDS = '600';
const PARTS = ['workspace', 'conversations'] as const;

describe('a sandbox stopped by a drain', () => {
  const open: TestSandbox[] = [];
  afterAll(() => Promise.all(open.map((sandbox) => sandbox.close())));

  const started = async (activated: boolean): Promise<TestSandbox> => {
    const sandbox = await TestSandbox.create();
    open.push(sandbox);
    sandbox.env = { STOP_GRACE_SECONDS: GRACE_SECONDS };
    await sandbox.startActionServer();
    await sandbox.startAgentServer();
    if (activated) expect((await sandbox.activate({})).status).toBe(200);
    return sandbox;
  };
  const exitCode = (sandbox: TestSandbox): number | null | undefined => sandbox.agentServer?.exitCode;
  const ended = (sandbox: TestSandbox): Promise<number> => until('it ended', () => exitCode(sandbox) ?? null);

  it('answers for its workspace until it is saved, with the uncommitted file and the log in it, and ends without further requests', async () => {
    const sandbox = await started(true);
    writeFileSync(path.join(sandbox.workspace, 'uncommitted.txt'), 'work of an hour');
    const conversation = randomUUID();
    const agent = { llm: { model: 'm', base_url: 'http://127.0.0.1:9' } };
    await sandbox.call('POST', '/api/conversations', {
      conversation_id: conversation,
      agent,
      workspace: { working_dir: sandbox.workspace },
    });
    await sandbox.call('POST', `/api/conversations/${conversation}/events`, {
      role: 'user',
      content: [{ type: 'text', text: 'hello' }],
      run: false,
    });
    sandbox.agentServer?.kill('SIGTERM');
    await until('it has put its agents to rest', () =>
      sandbox.lines.some((line) => line.includes('waiting for the workspace to be saved')),
    );
    const archives = new Map<string, Buffer<ArrayBuffer>>();
    for (const part of PARTS) {
      const answer = await sandbox.archive('read', part);
      expect(answer.status).toBe(200);
      archives.set(part, Buffer.from(await answer.arrayBuffer()));
    }
    expect(exitCode(sandbox)).toBeNull();
    // No further read: it was saved.
    expect(await ended(sandbox)).toBe(143);

    const next = await started(false);
    for (const part of PARTS)
      expect((await next.archive('write', part, { body: archives.get(part) ?? null })).status).toBe(204);
    expect((await next.activate({})).status).toBe(200);
    const events = await next.call<{ items: Array<{ kind: string }> }>(
      'GET',
      `/api/conversations/${conversation}/events/search`,
    );
    expect(events.body.items.filter((event) => event.kind === 'MessageEvent')).toHaveLength(1);
    expect(
      (
        await next.call<{ stdout: string }>('POST', '/api/bash/execute_bash_command', {
          command: 'cat uncommitted.txt',
          cwd: next.workspace,
        })
      ).body.stdout,
    ).toBe('work of an hour');
  });

  it('ends at once when it was never claimed', async () => {
    const sandbox = await started(false);
    sandbox.agentServer?.kill('SIGTERM');
    expect(await ended(sandbox)).toBe(143);
  });

  it('ends at once when its workspace was read to the end just before, as by a pause', async () => {
    const sandbox = await started(true);
    for (const part of PARTS) await (await sandbox.archive('read', part)).arrayBuffer();
    sandbox.agentServer?.kill('SIGTERM');
    expect(await ended(sandbox)).toBe(143);
  });
});
