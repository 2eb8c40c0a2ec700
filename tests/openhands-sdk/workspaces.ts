import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SdkRuntimeApi } from './runtime-api.ts';
import { missing, sdk, world } from './sdk-setup.ts';

/** What the SDK does in the workspace of a sandbox, its own and one of runtime-api. */
export function workspaces(): void {
  describe('with a workspace', () => {
    it('runs commands, has their output, and stops them', async () => {
      const result = await sdk.run<
        Record<'result' | 'late' | 'stopped' | 'info', Record<string, unknown>> & { alive: boolean }
      >('commands', {
        sandbox: world.playing([]),
      });
      expect(result.result).toMatchObject({
        exit_code: 3,
        stdout: `out\n${world.sandbox.workspace}\n`,
        stderr: 'err\n',
        timeout_occurred: false,
      });
      expect(result.late).toMatchObject({ exit_code: -1 });
      expect(result.stopped).toMatchObject({ kind: 'BashOutput', exit_code: -1, stderr: 'stopped' });
      expect(result.alive).toBe(true);
      expect(result.info).toMatchObject({
        title: expect.any(String),
        version: expect.any(String),
        uptime: expect.any(Number),
      });
    });

    it('brings 100 MB in and out', async () => {
      const result = await sdk.run<{ up: object; down: object; same: boolean; missing: boolean }>('files', {
        sandbox: world.playing([]),
        megabytes: 100,
      });
      expect(result).toMatchObject({
        up: { success: true, file_size: 100 * 1024 * 1024 },
        down: { success: true, file_size: 100 * 1024 * 1024 },
        same: true,
        missing: false,
      });
    });

    it('sees what changed in a repository', async () => {
      const result = await sdk.run<{ made: number; changes: string[][]; diff: object }>('git', {
        sandbox: world.playing([]),
      });
      expect(result.made).toBe(0);
      expect(result.changes).toEqual([
        ['ADDED', 'new.txt'],
        ['DELETED', 'gone.txt'],
        ['UPDATED', 'kept.txt'],
      ]);
      expect(result.diff).toMatchObject({ original: 'one\n', modified: 'one\ntwo\n' });
    });

    it('asks it for a model and for secrets before it makes an agent: names, and references that only this sandbox resolves', async () => {
      const secret = 'a-value-that-nobody-may-read-1234';
      const result = await sdk.run<Record<string, unknown>>('own_agent', {
        sandbox: world.playing([]),
        names: { API_TOKEN: secret },
      });
      expect(result).toEqual({
        secrets: expect.arrayContaining(['API_TOKEN']),
        one: {},
        printed: expect.stringMatching(/^it is <secret:(ALSO_)?API_TOKEN>\n$/),
        profile: "LLM profile 'none' not found",
        value: null,
        model: 'openai/scripted',
      });
      expect(JSON.stringify(result)).not.toContain(secret);
    });

    it('works in one of a conversation, and without waiting', async () => {
      expect(await sdk.run('scoped', { sandbox: world.playing([]) })).toEqual({
        out: 'bytes',
        released: null,
        async: { exit: 3, moved: [true, true, true], changed: true, diff: 'new\n', alive: true, info: true },
      });
    });

    it('loads the skills of a project', async () => {
      await writeFile(path.join(world.sandbox.workspace, 'AGENTS.md'), 'Write tests first.\n');
      const result = await sdk.run<{ skills: Array<{ name: string; content: string }> }>('skills', {
        sandbox: world.playing([]),
      });
      expect(result.skills.map(({ content }) => content.trim())).toContain('Write tests first.');
    });
  });

  describe('with a workspace of runtime-api', () => {
    let api: SdkRuntimeApi | undefined;
    beforeAll(async () => {
      if (missing === null) api = await SdkRuntimeApi.start();
    });
    afterAll(() => api?.close());

    it('starts, pauses, resumes, attaches, leaves and stops a session', async () => {
      type Place = { url: string; key: string; runtime: string };
      const result = await sdk.run<
        { first: Place; same: Place; after: string; kept: string } & Record<
          'paused' | 'running' | 'still' | 'left' | 'stopped',
          string[]
        >
      >('lifecycle', { api: api?.args, session: 'a-session-of-the-sdk' });
      expect(result.paused).toEqual(['paused', 'not found']);
      expect(result.after).toBe('kept\n');
      expect(result.running).toEqual(['running', 'ready']);
      expect(result.same).toEqual(result.first);
      expect(result.still).toEqual(['running', 'ready']);
      expect(result.left).toEqual(['paused', 'not found']);
      expect(result.kept).toBe('kept\n');
      expect(result.stopped[0]).toBe('stopped');
    });

    it('gets an error when its key is wrong', async () => {
      expect(await sdk.run('refused', { api: api?.args, session: 'another-session' })).toEqual({
        error: 'HTTPStatusError',
        status: 401,
      });
    });
  });
}
