import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { until } from '../../until.js';
import type { ClusterComponent, ComponentUsage } from '../test-cluster.js';
import { enter, PLAIN_ENVIRONMENT } from './namespaces.js';
import { childOf, processUsage } from './process-table.js';

export interface ComponentSpec {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Put before the PATH of this program. */
  readonly path?: string;
  /** Rejects until it can be used; asked again and again. */
  ready(): Promise<void>;
}

/** Longest until a program can be used. Milliseconds: a busy machine with two cores. */
const START_TIMEOUT_MS = 90_000;

/**
 * One program inside of the cluster's namespaces. It runs below `nsenter`, which waits for it outside and has its exit
 * code.
 */
export class Component implements ClusterComponent {
  #outer: ChildProcess | null = null;
  #pid: number | null = null;

  constructor(
    private readonly spec: ComponentSpec,
    private readonly namespacePid: number,
    private readonly directory: string,
  ) {}

  get name(): string {
    return this.spec.name;
  }

  get #log(): string {
    return path.join(this.directory, 'logs', `${this.spec.name}.log`);
  }

  async start(): Promise<void> {
    if (this.#runs()) return;
    const log = openSync(this.#log, 'a');
    const [command, ...args] = [...enter(this.namespacePid), this.spec.command, ...this.spec.args];
    const env = { ...PLAIN_ENVIRONMENT, PATH: [this.spec.path, PLAIN_ENVIRONMENT.PATH].filter(Boolean).join(':') };
    const outer = spawn(command as string, args, { detached: true, stdio: ['ignore', log, log], env, cwd: '/' });
    closeSync(log);
    outer.once('error', () => {});
    outer.unref();
    this.#outer = outer;
    let failure: Error | null = null;
    await until(
      `${this.spec.name} of the test cluster`,
      async () => {
        if (!this.#runs()) {
          failure = new Error(
            `${this.spec.name} ended with ${outer.exitCode ?? outer.signalCode}: ${await this.lastWords()}`,
          );
          return true;
        }
        this.#pid = childOf(outer.pid as number);
        if (this.#pid === null) return false;
        await this.spec.ready();
        return true;
      },
      START_TIMEOUT_MS,
    ).catch(async (error: unknown) => {
      throw new Error(`${String(error)}; its log ends with: ${await this.lastWords()}`, { cause: error });
    });
    if (failure !== null) throw failure;
  }

  async stop(): Promise<void> {
    const outer = this.#outer;
    if (outer === null || !this.#runs()) return;
    const ended = new Promise<void>((resolve) => outer.once('exit', () => resolve()));
    outer.ref();
    this.#signal('SIGKILL');
    // nsenter stops with a child that is stopped, and would not see it end.
    outer.kill('SIGCONT');
    await ended;
    this.#outer = null;
    this.#pid = null;
  }

  async pause(): Promise<void> {
    this.#signal('SIGSTOP');
  }

  async resume(): Promise<void> {
    this.#outer?.kill('SIGCONT');
    this.#signal('SIGCONT');
  }

  usage(): ComponentUsage[] {
    const usage = this.#pid === null ? null : processUsage(this.#pid);
    return usage === null ? [] : [{ component: this.spec.name, ...usage }];
  }

  async lastWords(): Promise<string> {
    return (await readFile(this.#log, 'utf8').catch(() => '')).slice(-3_000).trim() || 'it said nothing';
  }

  #runs(): boolean {
    return (
      this.#outer !== null &&
      this.#outer.pid !== undefined &&
      this.#outer.exitCode === null &&
      this.#outer.signalCode === null
    );
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.#pid === null || !this.#runs()) throw new Error(`${this.spec.name} does not run`);
    process.kill(this.#pid, signal);
  }
}
