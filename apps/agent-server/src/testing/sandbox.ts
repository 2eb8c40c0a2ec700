import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, randomUUID, sign } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { CALLER_KEY_HEADER, CALLER_USER_HEADER, type CallerUser, callerUserHeader } from '@slipway/contracts/agent';
import { THROUGH_GATEWAY_HEADER } from '@slipway/contracts/sandboxes';
import { until } from '@slipway/testing';

const APPS = fileURLToPath(new URL('../../../', import.meta.url));

/** A sandbox as a machine runs it: both processes, real, with their own directories. */
export class TestSandbox {
  readonly slotId = `slot-${randomUUID()}`;
  readonly podUid = randomUUID();
  readonly sessionKey = randomBytes(24).toString('hex');
  readonly token = randomBytes(24).toString('hex');
  /** What the app and sandbox-gateway show beside the session key. */
  readonly appKey = randomBytes(24).toString('hex');
  readonly gatewayKey = randomBytes(24).toString('hex');
  agentServer: ChildProcess | undefined;
  actionServer: ChildProcess | undefined;
  url = '';
  private actionPort = 0;
  private readonly keys = generateKeyPairSync('ed25519');
  readonly lines: string[] = [];
  /** Goes into the environment of both processes when they are started. */
  env: Record<string, string> = {};
  /** Makes the command of a process another one, such as one in a container. */
  wrap: (which: 'agentServer' | 'actionServer', command: readonly string[]) => readonly string[] = (_which, command) =>
    command;

  private constructor(readonly directory: string) {}

  static async create(from?: TestSandbox): Promise<TestSandbox> {
    const sandbox = new TestSandbox(from?.directory ?? (await mkdtemp(path.join(os.tmpdir(), 'slipway-sandbox-'))));
    for (const directory of [sandbox.workspace, sandbox.home]) await mkdir(directory, { recursive: true });
    if (from !== undefined) await rm(path.join(sandbox.stateDir, 'activation.json'), { force: true });
    return sandbox;
  }

  /** Both processes, activated. */
  static async start(from?: TestSandbox): Promise<TestSandbox> {
    const sandbox = await TestSandbox.create(from);
    await sandbox.startActionServer();
    await sandbox.startAgentServer();
    const answer = await sandbox.activate({});
    if (answer.status !== 200) throw new Error(`activation: ${answer.status} ${await answer.text()}`);
    return sandbox;
  }

  /** As its environment has it: SPKI DER, base64. */
  get publicKey(): string {
    return this.keys.publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
  }

  get workspace(): string {
    return path.join(this.directory, 'workspace');
  }

  get stateDir(): string {
    return path.join(this.directory, 'state');
  }

  get home(): string {
    return path.join(this.directory, 'home');
  }

  async startActionServer(): Promise<void> {
    const state = path.join(this.directory, 'action-state');
    await rm(path.join(state, 'action-server.json'), { force: true });
    const entry = path.join(APPS, 'action-server', 'dist', 'main.js');
    if (!existsSync(entry)) throw new Error('build apps/action-server first');
    this.actionServer = this.spawn('actionServer', entry, {
      PORT: String(this.actionPort),
      WORKSPACE_DIR: this.workspace,
      HOME_DIR: this.home,
      STATE_DIR: state,
      ACTION_SERVER_TOKEN: this.token,
    });
    this.actionPort = await portOf(path.join(state, 'action-server.json'));
  }

  async startAgentServer(): Promise<void> {
    await rm(path.join(this.stateDir, 'listening.json'), { force: true });
    this.agentServer = this.spawn('agentServer', path.join(APPS, 'agent-server', 'dist', 'main.js'), {
      SLOT_ID: this.slotId,
      POD_UID: this.podUid,
      STATE_DIR: this.stateDir,
      WORKSPACE_DIR: this.workspace,
      ACTIVATION_PUBLIC_KEY: this.publicKey,
      ACTION_SERVER_URL: `http://127.0.0.1:${this.actionPort}`,
      ACTION_SERVER_TOKEN: this.token,
    });
    this.url = `http://127.0.0.1:${await portOf(path.join(this.stateDir, 'listening.json'))}`;
  }

  activate(change: {
    claim?: Record<string, unknown>;
    body?: Record<string, unknown>;
    key?: KeyObject;
  }): Promise<Response> {
    const body = JSON.stringify({
      session_api_keys: [this.sessionKey],
      env: { GREETING: 'hello from the claim' },
      ...change.body,
    });
    const claims = {
      aud: 'slipway-activation',
      iat: Math.floor(Date.now() / 1000),
      slot_id: this.slotId,
      pod_uid: this.podUid,
      claim_id: 'clm_1',
      epoch: 1,
      org: 'org_1',
      body_sha256: createHash('sha256').update(body).digest('base64url'),
      app_key_sha256: createHash('sha256').update(this.appKey).digest('base64url'),
      gateway_key_sha256: createHash('sha256').update(this.gatewayKey).digest('base64url'),
      ...change.claim,
    };
    return fetch(`${this.url}/api/init`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${signJwt(claims, change.key ?? this.keys.privateKey)}`,
      },
      body,
    });
  }

  /** The archive routes, with a token for this sandbox. */
  archive(
    op: 'read' | 'write',
    part: string,
    more: RequestInit & { readonly claim?: Record<string, unknown>; readonly key?: KeyObject } = {},
  ): Promise<Response> {
    const { claim, key = this.keys.privateKey, ...init } = more;
    const claims = {
      aud: 'slipway-archive',
      slot_id: this.slotId,
      pod_uid: this.podUid,
      op,
      part,
      exp: Math.floor(Date.now() / 1000) + 50,
      ...claim,
    };
    return fetch(`${this.url}/api/archive/${part}`, {
      method: op === 'read' ? 'GET' : 'PUT',
      headers: { authorization: `Bearer ${signJwt(claims, key)}` },
      // A body that is a stream is sent as it comes.
      ...({ duplex: 'half' } as object),
      ...init,
    });
  }

  /** The routes of checkpoints, with a token for this sandbox. */
  checkpoint(
    op: 'read' | 'write',
    conversation: string,
    {
      query,
      claim,
      body,
    }: { readonly query?: Record<string, string>; readonly claim?: object; readonly body?: ReadableStream },
  ): Promise<Response> {
    const claims = {
      aud: 'slipway-checkpoint',
      slot_id: this.slotId,
      pod_uid: this.podUid,
      conversation,
      op,
      exp: Math.floor(Date.now() / 1000) + 50,
      ...claim,
    };
    return fetch(`${this.url}/api/checkpoints/${conversation}?${new URLSearchParams(query)}`, {
      method: op === 'read' ? 'GET' : 'PUT',
      headers: { authorization: `Bearer ${signJwt(claims, this.keys.privateKey)}` },
      ...({ duplex: 'half' } as object),
      ...(body === undefined ? {} : { body }),
    });
  }

  /** As the app shows itself, unless `headers` says otherwise. */
  get asApp(): Record<string, string> {
    return { 'x-session-api-key': this.sessionKey, [CALLER_KEY_HEADER]: this.appKey };
  }

  /** As sandbox-gateway hands on what this user sends. */
  asUser(user: CallerUser): Record<string, string> {
    return {
      'x-session-api-key': this.sessionKey,
      [THROUGH_GATEWAY_HEADER]: 'sandbox-gateway',
      [CALLER_KEY_HEADER]: this.gatewayKey,
      [CALLER_USER_HEADER]: callerUserHeader(user),
    };
  }

  /** JSON in and out, as the app. */
  async call<T = unknown>(
    method: string,
    route: string,
    body?: unknown,
    headers = this.asApp,
  ): Promise<{ status: number; body: T }> {
    const response = await fetch(`${this.url}${route}`, {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: (text === '' ? null : JSON.parse(text)) as T };
  }

  /** Ends both processes, at once. The directory stays unless `remove`. */
  async kill(which: 'agentServer' | 'actionServer', signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this[which];
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await exited;
  }

  async close(): Promise<void> {
    await this.kill('agentServer');
    await this.kill('actionServer', 'SIGTERM');
    // A browser that was killed may be writing its last.
    await rm(this.directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }

  private spawn(which: 'agentServer' | 'actionServer', entry: string, env: Record<string, string>): ChildProcess {
    const [command = '', ...argv] = this.wrap(which, [process.execPath, entry]);
    const child = spawn(command, argv, {
      env: { PATH: process.env['PATH'], HOME: this.directory, LOG_LEVEL: 'info', ...this.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout?.on('data', (chunk: Buffer) => void this.lines.push(...chunk.toString().split('\n').filter(Boolean)));
    child.stderr?.on('data', (chunk: Buffer) => void this.lines.push(...chunk.toString().split('\n').filter(Boolean)));
    return child;
  }
}

export function signJwt(claims: object, key: KeyObject): string {
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const head = `${encode({ alg: 'EdDSA', typ: 'JWT' })}.${encode(claims)}`;
  return `${head}.${sign(null, Buffer.from(head), key).toString('base64url')}`;
}

async function portOf(file: string): Promise<number> {
  const { port } = await until(file, async () => JSON.parse(await readFile(file, 'utf8')) as { port: number }, 15_000);
  return port;
}
