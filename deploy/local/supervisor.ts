import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, type WriteStream } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

export interface ServiceSpec {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Answers 200 when the service can work. */
  readonly readyUrl: string;
  readonly logFile: string;
}

export interface ServiceStatus {
  readonly name: string;
  readonly pid: number;
  readonly restarts: number;
}

/**
 * First wait before a crashed service is started again. Milliseconds; doubles to the maximum, and restarts after a
 * minute of running.
 */
const RESTART_MIN_MS = 100;
const RESTART_MAX_MS = 5_000;
/** Ends before it was ever ready, after which waiting is useless. */
const HOPELESS_RESTARTS = 3;
/** A service that has not ended this long after SIGTERM is killed. Milliseconds. */
const STOP_TIMEOUT_MS = 10_000;

/** Keeps one service running until it is stopped: what Kubernetes does elsewhere. */
export class Supervised {
  private child: ChildProcess | undefined;
  private readonly log: WriteStream;
  private stopping = false;
  private restarts = 0;
  private delayMs = RESTART_MIN_MS;
  private lastLine = '';
  private exited: Promise<void> = Promise.resolve();

  private readonly spec: ServiceSpec;
  private readonly onChange: (line: string) => void;

  constructor(spec: ServiceSpec, onChange: (line: string) => void) {
    this.spec = spec;
    this.onChange = onChange;
    this.log = createWriteStream(spec.logFile, { flags: 'a' });
  }

  start(): void {
    const [file, ...parameters] = this.spec.command;
    const began = performance.now();
    const child = spawn(file, parameters, {
      cwd: this.spec.cwd,
      env: this.spec.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child = child;
    for (const output of [child.stdout, child.stderr]) {
      output?.pipe(this.log, { end: false });
      output?.on('data', (chunk: Buffer) => this.remember(chunk.toString()));
    }
    this.exited = new Promise((resolve) => {
      child.once('error', (error) => {
        this.onChange(`${this.spec.name} could not be started: ${error.message}`);
        resolve();
      });
      child.once('exit', (code, signal) => {
        resolve();
        if (this.stopping) return;
        if (performance.now() - began > 60_000) this.delayMs = RESTART_MIN_MS;
        this.onChange(
          `${this.spec.name} ended (${signal ?? `exit ${code}`}) and is started again; its log is ${this.spec.logFile}`,
        );
        setTimeout(() => {
          if (this.stopping) return;
          this.restarts += 1;
          this.start();
          this.onChange('');
        }, this.delayMs);
        this.delayMs = Math.min(this.delayMs * 2, RESTART_MAX_MS);
      });
    });
  }

  /** @throws Error that names the service and its log when it is not ready in time. */
  async ready(timeoutMs: number, signal: AbortSignal): Promise<void> {
    const end = performance.now() + timeoutMs;
    let last = 'it did not answer';
    while (performance.now() < end) {
      signal.throwIfAborted();
      if (this.restarts >= HOPELESS_RESTARTS)
        throw new Error(`${this.spec.name} exits again and again: ${this.lastLine}\nIts log: ${this.spec.logFile}`);
      try {
        const response = await fetch(this.spec.readyUrl, { signal: AbortSignal.timeout(2_000), redirect: 'manual' });
        if (response.status < 400) return void (await response.arrayBuffer());
        last = (await response.text()).slice(0, 300);
      } catch (error) {
        last = (error as { cause?: Error }).cause?.message ?? (error as Error).message;
      }
      await wait(50);
    }
    throw new Error(
      `${this.spec.name} was not ready after ${Math.round(timeoutMs / 1000)} s (${last}). Its log: ${this.spec.logFile}`,
    );
  }

  /** The last thing that it said, in words: what it ends of. */
  private remember(chunk: string): void {
    const line =
      chunk
        .trimEnd()
        .split(/\n(?=\{)/)
        .at(-1) ?? '';
    if (line === '') return;
    try {
      const { message, err } = JSON.parse(line) as { message?: string; err?: { message?: string } };
      this.lastLine = err?.message ?? message ?? line;
    } catch {
      this.lastLine = line;
    }
  }

  async stop(): Promise<void> {
    this.stopping = true;
    const child = this.child;
    if (child?.pid !== undefined && child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      const killer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
      await this.exited;
      clearTimeout(killer);
    }
    this.log.end();
  }

  status(): ServiceStatus {
    return { name: this.spec.name, pid: this.child?.pid ?? 0, restarts: this.restarts };
  }
}
