import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { endAllSandboxes } from '@slipway/sandbox/adapters/process';
import { createTestDatabase, freePort, type TestDatabase, until } from '@slipway/testing';

const APPS = path.join(import.meta.dirname, '../../apps');
/** Of sandboxes on this machine, whatever the client calls it. */
const IMAGE = 'slipway-sandbox';

/** A real runtime-api, with sandboxes that are processes of this machine. */
export class SdkRuntimeApi {
  readonly args: { readonly url: string; readonly key: string; readonly image: string };
  private readonly child: ChildProcess;
  private readonly directory: string;
  private readonly database: TestDatabase;

  private constructor(args: SdkRuntimeApi['args'], child: ChildProcess, directory: string, database: TestDatabase) {
    this.args = args;
    this.child = child;
    this.directory = directory;
    this.database = database;
  }

  static async start(): Promise<SdkRuntimeApi> {
    const [database, directory, port] = [
      await createTestDatabase(),
      await mkdtemp(path.join(os.tmpdir(), 'slipway-sdk-runtime-')),
      await freePort(),
    ];
    const key = randomBytes(24).toString('hex');
    const command = (app: string): string => JSON.stringify([process.execPath, path.join(APPS, app, 'dist/main.js')]);
    const child = spawn(process.execPath, [path.join(APPS, 'runtime-api/bundle/main.js')], {
      env: {
        PATH: process.env['PATH'],
        LOG_LEVEL: 'warn',
        PORT: String(port),
        METRICS_PORT: '0',
        DATABASE_URL: database.urls.runtime,
        RUNTIME_API_KEY: key,
        ENCRYPTION_KEY: randomBytes(32).toString('hex'),
        ACTIVATION_PRIVATE_KEY: generateKeyPairSync('ed25519')
          .privateKey.export({ format: 'der', type: 'pkcs8' })
          .toString('base64'),
        SANDBOX_BACKEND: 'process',
        PROCESS_BACKEND_DIR: directory,
        AGENT_SERVER_COMMAND: command('agent-server'),
        ACTION_SERVER_COMMAND: command('action-server'),
        POOL_TARGET: '2',
      },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    const url = `http://127.0.0.1:${port}`;
    const api = new SdkRuntimeApi({ url, key, image: IMAGE }, child, directory, database);
    await until('runtime-api is ready', async () => (await fetch(`${url}/ready`)).ok, 60_000);
    return api;
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    if (this.child.exitCode === null) {
      this.child.kill('SIGKILL');
      await ended;
    }
    const nothing = {
      agentServerCommand: ['x'],
      actionServerCommand: ['x'],
      activationPublicKey: '',
      nodeEnv: 'test',
      logLevel: 'silent',
      hostEnvironment: {},
    } as const;
    await endAllSandboxes({ directory: this.directory, ...nothing }, AbortSignal.timeout(20_000));
    await rm(this.directory, { recursive: true, force: true });
    await this.database.close();
  }
}
