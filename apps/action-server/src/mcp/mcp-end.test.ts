import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { allProcesses } from '../process/process-table.js';
import { ShellEnvironment } from '../terminal/shell-environment.js';
import { startActionServer } from '../testing/running-server.js';
import { McpSets } from './mcp-sets.js';
import { MARK, markOf } from './server-spec.js';

/** It ignores SIGTERM, and so do its two children, of which one has left its session. */
const STUBBORN = {
  command: process.execPath,
  args: [fileURLToPath(new URL('../testing/mcp-hostile-server.js', import.meta.url)), 'forks'],
  enabled: true,
};

/** Longer than a busy machine lets a question wait. Milliseconds. */
const ABANDONED_MS = 3_000;

function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    return '';
  }
}
const ofSandbox = (stateDirectory: string): number =>
  allProcesses().filter(({ pid }) => environmentOf(pid).includes(`${MARK}=${markOf(stateDirectory)}`)).length;

describe('MCP servers that do not want to end', () => {
  const set = async (
    server: { send: (method: string, route: string, body?: string) => Promise<Response> },
    cwd: string,
    servers: object,
  ): Promise<void> => {
    expect((await server.send('PUT', '/mcp/servers?set=one', JSON.stringify({ servers, cwd }))).status).toBe(200);
  };

  it('end with their conversation, and with action-server when it stops, with everything that they started', async () => {
    const server = await startActionServer();
    await set(server, server.workspace, { stubborn: STUBBORN });
    await until('the server and its two children', () => ofSandbox(server.stateDirectory) === 3);
    await set(server, server.workspace, {});
    await until('none of them', () => ofSandbox(server.stateDirectory) === 0);
    await set(server, server.workspace, { stubborn: STUBBORN });
    await until('all of them again', () => ofSandbox(server.stateDirectory) === 3);
    await server.close();
    await until('none of them again', () => ofSandbox(server.stateDirectory) === 0);
  });

  it('end when the next tool process of the sandbox starts, where the last was killed, and those of another sandbox run on', async () => {
    const [killed, other] = await Promise.all([startActionServer(), startActionServer()]);
    await Promise.all([killed, other].map((server) => set(server, server.workspace, { stubborn: STUBBORN })));
    await until('both with theirs', () =>
      [killed, other].every(({ stateDirectory }) => ofSandbox(stateDirectory) === 3),
    );
    const exited = once(killed.process, 'exit');
    killed.process.kill('SIGKILL');
    await exited;
    expect(ofSandbox(killed.stateDirectory)).toBeGreaterThan(0);
    const next = await startActionServer(undefined, path.dirname(killed.stateDirectory));
    await until('none of those of before', () => ofSandbox(killed.stateDirectory) === 0);
    expect(ofSandbox(other.stateDirectory)).toBe(3);
    await Promise.all([next.close(), other.close()]);
  });

  it('end after a time without requests, and not before', async () => {
    const directory = await mkdtemp(path.join(os.tmpdir(), 'slipway-mcp-'));
    const environment = new ShellEnvironment({ HOME: directory, PATH: process.env['PATH'] });
    const sets = new McpSets({ environment, outputDirectory: directory, stateDirectory: directory }, ABANDONED_MS);
    sets.use('one', { servers: { stubborn: STUBBORN as never }, cwd: directory });
    await until('them', () => ofSandbox(directory) === 3);
    const began = performance.now();
    while (performance.now() - began < 1.5 * ABANDONED_MS) {
      // As agent-server does: one question after the other, some of which are kept open for long.
      await sets.tools('one', -1, AbortSignal.timeout(5_000));
      const { revision } = await sets.tools('one', -1, AbortSignal.timeout(5_000));
      await sets.tools('one', revision, AbortSignal.timeout(300)).catch(() => {});
      expect(ofSandbox(directory)).toBe(3);
    }
    await until('none of them', () => ofSandbox(directory) === 0, 30_000);
    await expect(sets.tools('one', -1, AbortSignal.timeout(1_000))).rejects.toMatchObject({
      code: 'resource.not-found',
    });
    sets.close();
    await rm(directory, { recursive: true });
  });
});
