import { generateKeyPairSync } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { itUnless } from '@slipway/testing/jest';
import { readActivation } from '../../activation.js';
import { sandboxRequest } from '../../sandbox-request.js';
import { describeSandboxBackend } from '../../testing/sandbox-backend.contract.js';
import { endAllSandboxes, ProcessBackend, type ProcessBackendConfig } from './process-backend.js';

const TEST_SERVER = fileURLToPath(new URL('../../testing/test-server.js', import.meta.url));
const publicKeyOf = (): string =>
  generateKeyPairSync('ed25519').publicKey.export({ format: 'der', type: 'spki' }).toString('base64');

async function openConfig(publicKey: string): Promise<ProcessBackendConfig> {
  return {
    directory: await mkdtemp(path.join(os.tmpdir(), 'slipway-backend-')),
    agentServerCommand: [process.execPath, TEST_SERVER, 'agent-server'],
    actionServerCommand: [process.execPath, TEST_SERVER, 'action-server'],
    activationPublicKey: publicKey,
    nodeEnv: 'test',
    logLevel: 'silent',
    hostEnvironment: { ...process.env, DATABASE_URL: 'postgresql://secret' },
  };
}

async function close(config: ProcessBackendConfig): Promise<void> {
  await endAllSandboxes(config, AbortSignal.timeout(30_000));
  await rm(config.directory, { recursive: true, force: true });
}

const recordOf = async (
  config: ProcessBackendConfig,
  name: string,
): Promise<{
  token: string;
  agentServer: { pid: number; port: number };
  actionServer: { pid: number; port: number };
  restarts: { count: number; reasons: string[] };
}> => JSON.parse(await readFile(path.join(config.directory, 'sandboxes', name, 'sandbox.json'), 'utf8'));

describeSandboxBackend('process', async (publicKey) => {
  const config = await openConfig(publicKey);
  return {
    backend: new ProcessBackend(config),
    killAgentServer: async (name) => void process.kill((await recordOf(config, name)).agentServer.pid, 'SIGKILL'),
    close: () => close(config),
  };
});

describe('the process backend', () => {
  const signal = AbortSignal.timeout(120_000);
  let config: ProcessBackendConfig;
  let backend: ProcessBackend;
  beforeAll(async () => {
    config = await openConfig(publicKeyOf());
    backend = new ProcessBackend(config);
  });
  afterAll(() => close(config));

  const start = async (name: string) => {
    await backend.ensure({ name, slotId: name.slice(3), image: 'any' }, signal);
    return recordOf(config, name);
  };
  const askTools = async (name: string, url: string) => {
    const { actionServer, token } = await recordOf(config, name);
    return JSON.parse(
      (
        await sandboxRequest(`http://127.0.0.1:${actionServer.port}${url}`, {
          method: 'GET',
          headers: { 'x-session-api-key': token },
          signal,
        })
      ).body,
    );
  };

  it('refuses production', () => {
    expect(() => new ProcessBackend({ ...config, nodeEnv: 'production' })).toThrow('without isolation');
  });

  it('gives a sandbox no variable of the platform', async () => {
    await start('sb-env');
    const environment = await askTools('sb-env', '/environment');
    expect(Object.keys(environment).sort()).toEqual(
      expect.arrayContaining(['ACTION_SERVER_TOKEN', 'HOME', 'PATH', 'PORT', 'SLOT_ID', 'STATE_DIR', 'WORKSPACE_DIR']),
    );
    expect(environment.DATABASE_URL).toBeUndefined();
    expect(environment.HOME).toBe(path.join(config.directory, 'workspaces', 'sb-env', 'home'));
  });

  it('starts a killed action-server again within a second, on the same port with the same token, and counts it', async () => {
    const before = await start('sb-tools');
    process.kill(before.actionServer.pid, 'SIGKILL');
    await until(
      'restarted',
      async () => {
        await backend.tend(signal);
        return (await recordOf(config, 'sb-tools')).restarts.count === 1;
      },
      2_000,
    );
    const record = await recordOf(config, 'sb-tools');
    expect(record).toMatchObject({
      token: before.token,
      agentServer: before.agentServer,
      actionServer: { port: before.actionServer.port },
    });
    expect(record.restarts.reasons[0]).toContain('action-server was killed (SIGKILL)');
    expect(await askTools('sb-tools', '/environment')).toMatchObject({ SLOT_ID: 'tools' });
  });

  itUnless(process.platform === 'linux' ? false : 'daemons are found by /proc')(
    'leaves nothing running after removal, not even a daemon in a session of its own',
    async () => {
      await start('sb-daemon');
      await askTools('sb-daemon', '/daemonise');
      const marked = async (): Promise<string[]> => {
        const environments = await Promise.all(
          (await readdir('/proc'))
            .filter((pid) => /^\d+$/.test(pid))
            .map((pid) => readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')),
        );
        return environments.filter((environment) => environment.includes('SLOT_ID=daemon\0'));
      };
      await until('the daemon runs', async () => (await marked()).length >= 3);
      const observation = await backend.observe('sb-daemon', signal);
      if (observation.state !== 'running') throw new Error(observation.state);
      await backend.remove('sb-daemon', observation.uid, signal);
      expect(await marked()).toEqual([]);
      expect(existsSync(path.join(config.directory, 'sandboxes', 'sb-daemon'))).toBe(false);
    },
  );

  it('is taken over by another backend on the same folder: the same processes, the same address', async () => {
    const record = await start('sb-takeover');
    const other = new ProcessBackend(config);
    await other.ensure({ name: 'sb-takeover', slotId: 'takeover', image: 'any' }, signal);
    await other.tend(signal);
    expect(await other.observe('sb-takeover', signal)).toMatchObject({
      state: 'running',
      address: `http://127.0.0.1:${record.agentServer.port}`,
    });
    expect(await recordOf(config, 'sb-takeover')).toEqual(record);
  });

  it('is not fooled by another process that got the pid of a dead one', async () => {
    const record = await start('sb-reuse');
    const file = path.join(config.directory, 'sandboxes', 'sb-reuse', 'sandbox.json');
    await writeFile(file, JSON.stringify({ ...record, agentServer: { ...record.agentServer, pid: process.pid } }));
    expect(await backend.observe('sb-reuse', signal)).toMatchObject({ state: 'ended' });
    await writeFile(file, JSON.stringify(record));
  });

  it('keeps files, home and address of a session through its restarts', async () => {
    await start('sb-one');
    const observation = await backend.observe('sb-one', signal);
    if (observation.state !== 'running') throw new Error(observation.state);
    const directory = (await readActivation(observation.address, signal))?.working_dir ?? '';
    await writeFile(path.join(directory, 'kept.txt'), 'kept');
    await writeFile(path.join(config.directory, 'sandboxes', 'sb-one', 'state', 'conversations', 'log'), 'line');
    await backend.remove('sb-one', observation.uid, signal);
    await start('sb-two');
    await backend.attachWorkspace('sb-two', 'sb-one', signal);
    expect(await backend.observe('sb-two', signal)).toMatchObject({ state: 'running', address: observation.address });
    expect(await askTools('sb-two', '/environment')).toMatchObject({ WORKSPACE_DIR: directory });
    expect(await readFile(path.join(directory, 'kept.txt'), 'utf8')).toBe('kept');
    expect(
      await readFile(path.join(config.directory, 'sandboxes', 'sb-two', 'state', 'conversations', 'log'), 'utf8'),
    ).toBe('line');
  });

  it('says what a server printed when it cannot start, and leaves nothing of the attempt running', async () => {
    const broken = new ProcessBackend({
      ...config,
      agentServerCommand: [process.execPath, '-e', 'console.error("no such wind"); process.exit(3)'],
    });
    const attempt = broken.ensure({ name: 'sb-broken', slotId: 'broken', image: 'any' }, signal);
    await expect(attempt).rejects.toMatchObject({
      code: 'sandbox.start-failed',
      detail: 'agent-server ended with code 3; its last line: no such wind',
    });
    expect(await broken.observe('sb-broken', signal)).toMatchObject({
      state: 'ended',
      reason: expect.stringContaining('no such wind'),
    });
  });

  it('finishes a sandbox that a killed runtime-api left half-started', async () => {
    const record = await start('sb-half');
    await writeFile(
      path.join(config.directory, 'sandboxes', 'sb-half', 'sandbox.json'),
      JSON.stringify({ ...record, phase: 'starting', agentServer: null, actionServer: null }),
    );
    const again = await start('sb-half');
    expect(again.agentServer.pid).not.toBe(record.agentServer.pid);
    expect(() => process.kill(record.agentServer.pid, 0)).toThrow();
  });
});
