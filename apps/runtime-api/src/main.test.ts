import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Runtime } from '@slipway/contracts/sandboxes';
import { readActivation } from '@slipway/sandbox';
import { endAllSandboxes } from '@slipway/sandbox/adapters/process';
import { createTestDatabase, freePort, type TestDatabase, until } from '@slipway/testing';
import pg from 'pg';

const MAIN = fileURLToPath(new URL('./main.js', import.meta.url));
const TEST_SERVER = path.join(
  path.dirname(fileURLToPath(import.meta.resolve('@slipway/sandbox/testing'))),
  'test-server.js',
);
const API_KEY = 'test-runtime-api-key-0123456789abcdef';
const keys = generateKeyPairSync('ed25519');

describe('runtime-api as a process, with sandboxes as processes', () => {
  let database: TestDatabase;
  let directory: string;
  const replicas: ChildProcess[] = [];
  beforeAll(async () => {
    database = await createTestDatabase();
    directory = await mkdtemp(path.join(os.tmpdir(), 'slipway-runtime-'));
  });
  afterAll(async () => {
    for (const replica of replicas) replica.kill('SIGKILL');
    const config = {
      directory,
      agentServerCommand: ['x'],
      actionServerCommand: ['x'],
      activationPublicKey: '',
      nodeEnv: 'test',
      logLevel: 'silent',
      hostEnvironment: {},
    } as const;
    await endAllSandboxes(config, AbortSignal.timeout(20_000));
    await rm(directory, { recursive: true, force: true });
    await database.close();
  });

  const environment = (port: number): Record<string, string> => ({
    PATH: process.env['PATH'] ?? '',
    LOG_LEVEL: 'warn',
    PORT: String(port),
    METRICS_PORT: '0',
    DATABASE_URL: database.urls.runtime,
    RUNTIME_API_KEY: API_KEY,
    ENCRYPTION_KEY: 'an encryption key of the test, long enough',
    ACTIVATION_PRIVATE_KEY: keys.privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
    SANDBOX_BACKEND: 'process',
    PROCESS_BACKEND_DIR: directory,
    AGENT_SERVER_COMMAND: JSON.stringify([process.execPath, TEST_SERVER, 'agent-server']),
    ACTION_SERVER_COMMAND: JSON.stringify([process.execPath, TEST_SERVER, 'action-server']),
    POOL_TARGET: '1',
  });
  const launch = async (): Promise<{ url: string; process: ChildProcess; kill: () => Promise<void> }> => {
    const port = await freePort();
    const child = spawn(process.execPath, [MAIN], { env: environment(port), stdio: 'inherit' });
    replicas.push(child);
    const url = `http://127.0.0.1:${port}`;
    await until('it is ready', async () => (await fetch(`${url}/ready`)).ok, 20_000);
    const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    return {
      url,
      process: child,
      kill: () => {
        child.kill('SIGKILL');
        return gone;
      },
    };
  };
  const call = async (url: string, route: string, body?: unknown): Promise<Runtime> => {
    const answer = await fetch(`${url}${route}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'x-api-key': API_KEY, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(20_000),
    });
    if (answer.status !== 200) throw new Error(`${route}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Runtime;
  };
  const slots = async (): Promise<Array<{ slot_id: string; pod_name: string; state: string }>> => {
    const client = new pg.Client({ connectionString: database.ownerUrl });
    await client.connect();
    try {
      return (
        await client.query(`SELECT slot_id, pod_name, state FROM runtime.slot WHERE state <> 'gone' ORDER BY slot_id`)
      ).rows;
    } finally {
      await client.end();
    }
  };
  const isFull = async (): Promise<boolean> => {
    const states = (await slots()).map((slot) => slot.state);
    return states.includes('ready') && !states.includes('provisioning');
  };
  const recordOf = async (
    name: string,
  ): Promise<{ agentServer: { pid: number }; actionServer: { pid: number }; restarts: { count: number } }> =>
    JSON.parse(await readFile(path.join(directory, 'sandboxes', name, 'sandbox.json'), 'utf8'));

  it('killed: its sandboxes go on, and the next one takes them over, the warm ones too', async () => {
    const first = await launch();
    // Whoever waits is made a sandbox beyond the size of the pool.
    await until('the pool is full', isFull, 15_000);
    const runtime = await call(first.url, '/start', { session_id: 'survivor' });
    await until('the pool is full again', isFull, 15_000);
    const before = await slots();
    const name = before.find((slot) => slot.state === 'active')?.pod_name ?? '';
    const record = await recordOf(name);
    await first.kill();
    expect((await readActivation(runtime.url, AbortSignal.timeout(20_000)))?.state).toBe('ready');

    const second = await launch();
    expect(await call(second.url, '/sessions/survivor')).toEqual(runtime);
    expect(await call(second.url, '/start', { session_id: 'survivor' })).toEqual(runtime);
    // It leads within seconds, and then it is the one who starts a dead tool process again.
    process.kill(record.actionServer.pid, 'SIGKILL');
    await until('the tools are back', async () => (await recordOf(name)).restarts.count === 1, 15_000);
    await until(
      'the restart is counted',
      async () => (await call(second.url, '/sessions/survivor')).restart_count === 1,
      10_000,
    );
    expect((await recordOf(name)).agentServer).toEqual(record.agentServer);
    expect(await slots()).toEqual(before);
    expect((await readdir(path.join(directory, 'sandboxes'))).sort()).toEqual(
      before.map((slot) => slot.pod_name).sort(),
    );
    await second.kill();
  });

  it('sees after its restart that a sandbox died meanwhile, and starts the session again with its workspace', async () => {
    const [active] = (await slots()).filter((slot) => slot.state === 'active');
    const { agentServer } = await recordOf(active?.pod_name ?? '');
    process.kill(agentServer.pid, 'SIGKILL');
    const third = await launch();
    const lost = await until(
      'the loss is seen',
      async () => {
        const runtime = await call(third.url, '/sessions/survivor');
        return runtime.status === 'error' && runtime;
      },
      15_000,
    );
    expect(lost.status_detail).toMatch(/^the sandbox ended: agent-server /);
    expect(await call(third.url, '/start', { session_id: 'survivor' })).toMatchObject({
      status: 'running',
      working_dir: lost.working_dir,
      session_api_key: lost.session_api_key,
    });
    await third.kill();
  });

  it('leads alone: with two replicas the pool keeps its size, and the other goes on when one is killed', async () => {
    const [one, two] = [await launch(), await launch()];
    await until('the pool is full', isFull, 15_000);
    await call(two.url, '/start', { session_id: 'at-two' });
    await one.kill();
    await until('the other fills the pool', isFull, 20_000);
    await call(two.url, '/start', { session_id: 'after-one' });
    await until(
      'the other fills the pool',
      async () => {
        const states = (await slots()).map((slot) => slot.state).sort();
        return states.join() === 'active,active,active,ready';
      },
      20_000,
    );
    await two.kill();
  });

  it('refuses to start with a configuration that is wrong, naming every variable and no value', async () => {
    const wrong = {
      ...environment(0),
      NODE_ENV: 'production',
      RUNTIME_API_KEY: 'hunter2',
      AGENT_SERVER_COMMAND: 'node agent.js',
      ACTIVATION_PRIVATE_KEY: 'AAAA',
    };
    const child = spawn(process.execPath, [MAIN], { env: wrong, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const code = await new Promise((resolve) => child.once('exit', resolve));
    expect(code).not.toBe(0);
    for (const name of ['RUNTIME_API_KEY', 'AGENT_SERVER_COMMAND', 'ACTIVATION_PRIVATE_KEY'])
      expect(output).toContain(name);
    expect(output).not.toMatch(/hunter2|AAAA/);
  });

  it('says which port is taken', async () => {
    const child = spawn(process.execPath, [MAIN], {
      env: { ...environment(Number(new URL(database.ownerUrl).port)), POOL_TARGET: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(1);
    expect(output).toContain('is in use by another process; set PORT');
  });
});
