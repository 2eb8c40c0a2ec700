import { type ChildProcess, spawn } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { freePort, until } from '@slipway/testing';
import type { ServicePlan } from '../../deploy/local/services.ts';
import { ROOT } from '../../deploy/local/settings.ts';

/** How one replica has ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** From the signal to the end. Milliseconds. */
  readonly afterMs: number;
}

/** Longest that a replica may take to end. Milliseconds. */
const END_MS = 60_000;

/** One process of a deployment, on a port of its own. */
export class Replica {
  readonly name: string;
  readonly port: number;
  readonly logFile: string;
  private late = false;
  private readonly child: ChildProcess;
  private readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;

  private constructor(name: string, port: number, logFile: string, child: ChildProcess) {
    this.name = name;
    this.port = port;
    this.logFile = logFile;
    this.child = child;
    this.exited = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
  }

  /** @param name of this replica alone, as a pod's. */
  static async start(
    plan: ServicePlan,
    name: string,
    folder: string,
    env: Readonly<Record<string, string>>,
  ): Promise<Replica> {
    const port = await freePort();
    const logFile = path.join(folder, `${name}.log`);
    const log = openSync(logFile, 'a');
    const own = {
      PORT: String(port),
      METRICS_PORT: '0',
      REPLICA_ID: name,
      ...(plan.name === 'llm-gateway' ? { DATA_DIR: path.join(folder, name) } : {}),
    };
    const child = spawn(process.execPath, [plan.entry], {
      cwd: ROOT,
      env: { ...plan.env, ...env, ...own },
      stdio: ['ignore', log, log],
    });
    return new Replica(name, port, logFile, child);
  }

  get runs(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  async ready(timeoutMs = 60_000): Promise<void> {
    await until(
      `${this.name} is ready`,
      async () => {
        if (!this.runs) throw new Error(`${this.name} has ended: ${readFileSync(this.logFile, 'utf8').slice(-2_000)}`);
        return (
          (await fetch(`http://127.0.0.1:${this.port}/ready`, { signal: AbortSignal.timeout(2_000) })).status === 200
        );
      },
      timeoutMs,
    );
  }

  /**
   * Sends the signal and waits for the end. @throws Error with the end of its log when it does not come within a
   * minute, which is twice what a pod has; the process is killed then.
   */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<Exit> {
    const began = performance.now();
    this.child.kill(signal);
    const timer = setTimeout(() => {
      this.late = true;
      this.child.kill('SIGKILL');
    }, END_MS);
    const exit = await this.exited;
    clearTimeout(timer);
    if (this.late)
      throw new Error(`${this.name} did not end after ${signal}: ${readFileSync(this.logFile, 'utf8').slice(-2_000)}`);
    return { ...exit, afterMs: performance.now() - began };
  }
}
