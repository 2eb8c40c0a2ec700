import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { freePort } from '@slipway/db/embedded';
import { run } from '../programs/run.js';
import { until } from '../until.js';
import { prepareGitea } from './built-gitea.js';
import { giteaPages } from './gitea-pages.js';
import { type GiteaPlace, writeGiteaSettings } from './gitea-settings.js';

export interface StartGiteaOptions {
  /** At 127.0.0.1 [a free one]. */
  readonly port?: number;
  /** Kept when it is closed [a temporary folder, removed then]. */
  readonly home?: string;
  readonly say?: (line: string) => void;
  readonly signal?: AbortSignal;
}

/** Longest until it answers. Milliseconds: 2 s alone on two cores. */
const START_MS = 60_000;
/** Longest for it to end by itself, then it is killed. Milliseconds. */
const STOP_MS = 15_000;
const COMMAND_MS = 60_000;

/**
 * A real Gitea as a process of its own, at a port of 127.0.0.1. Ends with the process that started it, also when that
 * is killed.
 */
export class GiteaServer {
  private child: ChildProcess | undefined;
  private output = '';

  private constructor(
    private readonly place: GiteaPlace,
    private readonly temporary: boolean,
  ) {}

  /** Builds it when it is not built. @throws GiteaUnavailable; Error with its last words when it does not come up. */
  static async open({ port, home, say, signal }: StartGiteaOptions): Promise<GiteaServer> {
    const programs = await prepareGitea(say, signal);
    const folder = home ?? (await mkdtemp(path.join(os.tmpdir(), 'slipway-gitea-')));
    const place = { home: folder, programs, pages: await giteaPages(), port: port ?? (await freePort()) };
    const server = new GiteaServer(place, home === undefined);
    try {
      await server.start();
      return server;
    } catch (error) {
      await server.close();
      throw error;
    }
  }

  get url(): string {
    return `http://127.0.0.1:${this.place.port}`;
  }

  /** Where it keeps everything. */
  get home(): string {
    return this.place.home;
  }

  get pid(): number | undefined {
    return this.child?.pid;
  }

  /** What it printed since it was opened, the last 200,000 characters. */
  log(): string {
    return this.output;
  }

  /** Starts it, and waits until it serves. After `stop` or `kill`: the same again, on the same data and port. */
  async start(): Promise<void> {
    const settings = await writeGiteaSettings(this.place);
    const child = spawn(this.program, ['web', '--config', settings], {
      cwd: this.place.home,
      env: this.environment(),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.child = child;
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        this.output = (this.output + chunk.toString()).slice(-200_000);
      });
    // One that could not be started at all has no exit.
    child.once('error', (error) => {
      this.output += `\n${error.message}`;
    });
    const serves = async (): Promise<boolean> =>
      (await fetch(`${this.url}/api/healthz`, { signal: AbortSignal.timeout(5_000) })).ok;
    await until('Gitea answers', () => ended(child) || serves(), START_MS).catch((error: unknown) => {
      throw new Error(`Gitea did not come up: ${this.output.slice(-2_000)}`, { cause: error });
    });
    if (ended(child)) throw new Error(`Gitea ended: ${this.output.slice(-2_000)}`);
  }

  /** An account that may do everything. @throws Error when there is one of that name. */
  async createAdmin(login: string, password: string): Promise<void> {
    const account = ['--username', login, '--password', password, '--email', `${login}@example.test`];
    await this.command(['admin', 'user', 'create', '--admin', '--must-change-password=false', ...account]);
  }

  /** A command of its own program beside it. @returns what it printed. @throws Error with that when it fails. */
  async command(args: readonly string[]): Promise<string> {
    const { code, output } = await run(this.program, [...args, '--config', path.join(this.place.home, 'app.ini')], {
      timeoutMs: COMMAND_MS,
      cwd: this.place.home,
      env: this.environment(),
    });
    if (code !== 0) throw new Error(`gitea ${args.slice(0, 3).join(' ')} ended with ${code}: ${output.slice(-2_000)}`);
    return output;
  }

  /** Resolves when its process has ended, for whatever reason. */
  async whenEnded(): Promise<void> {
    if (this.child !== undefined && !ended(this.child)) await once(this.child, 'exit');
  }

  /** As an operator stops it: what it has begun to answer is answered. */
  stop(): Promise<void> {
    return this.end('SIGTERM');
  }

  /** As a machine that fails. */
  kill(): Promise<void> {
    return this.end('SIGKILL');
  }

  /** Stops it and removes what it had, unless its folder was given. */
  async close(): Promise<void> {
    await (this.temporary ? this.kill() : this.stop());
    if (this.temporary) await rm(this.place.home, { recursive: true, force: true, maxRetries: 3 });
  }

  private get program(): string {
    return path.join(this.place.programs, 'gitea');
  }

  private async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const child = this.child;
    if (child === undefined || child.pid === undefined || ended(child)) return;
    const over = once(child, 'exit');
    child.kill(signal);
    const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await over;
    clearTimeout(late);
  }

  /** Nothing of the settings, of git or of Gitea that this machine's user has. */
  private environment(): Record<string, string | undefined> {
    const { home, pages } = this.place;
    const gitea = { GITEA_WORK_DIR: home, GITEA_CUSTOM: pages ?? path.join(home, 'custom') };
    return { PATH: process.env['PATH'], HOME: home, USER: os.userInfo().username, GIT_CONFIG_NOSYSTEM: '1', ...gitea };
  }
}

function ended(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}
