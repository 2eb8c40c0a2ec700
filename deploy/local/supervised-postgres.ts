import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type RunningPostgres, startPostgresServer } from '@slipway/db/embedded';
import { endOrphansOfPostgres } from './leftovers.ts';

/**
 * Pause before a server that ended is started again, doubling from the first to the second; from the start again after
 * a minute of running. Milliseconds.
 */
const RESTART_MIN_MS = 100;
const RESTART_MAX_MS = 5_000;
const STEADY_MS = 60_000;

/**
 * The embedded Postgres, kept running like the services: one that ends is started again on the same data and port, and
 * recovers what was committed.
 */
export class SupervisedPostgres {
  private server: RunningPostgres;
  private stopping = false;
  private restarts = 0;
  private readonly minding: Promise<void>;

  private readonly folder: string;
  private readonly port: number;
  private readonly log: (line: string) => void;

  private constructor(folder: string, port: number, log: (line: string) => void, server: RunningPostgres) {
    this.folder = folder;
    this.port = port;
    this.log = log;
    this.server = server;
    this.minding = this.mind();
  }

  /** @throws Error when the first start fails; later ones are repeated. */
  static async start(folder: string, port: number, log: (line: string) => void): Promise<SupervisedPostgres> {
    return new SupervisedPostgres(folder, port, log, await startPostgresServer(folder, port));
  }

  get url(): string {
    return this.server.url;
  }

  status(): { readonly name: 'postgres'; readonly pid: number; readonly restarts: number } {
    return { name: 'postgres', pid: this.server.pid, restarts: this.restarts };
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await this.server.stop();
    await this.minding;
  }

  private async mind(): Promise<void> {
    for (let delayMs = RESTART_MIN_MS; ; delayMs = Math.min(delayMs * 2, RESTART_MAX_MS)) {
      const began = performance.now();
      const how = await this.server.ended;
      if (this.stopping) return;
      if (performance.now() - began > STEADY_MS) delayMs = RESTART_MIN_MS;
      this.log(`postgres ended (${how}), restarting; its log is ${path.join(this.folder, 'server.log')}`);
      const ended = performance.now();
      if (!(await this.startAgain(delayMs))) return;
      this.restarts += 1;
      this.log(`postgres ready again after ${((performance.now() - ended) / 1000).toFixed(1)} s`);
      if (this.stopping) await this.server.stop();
    }
  }

  /** Tries until it runs. False: it is not wanted any more. */
  private async startAgain(firstDelayMs: number): Promise<boolean> {
    for (let delayMs = firstDelayMs; ; delayMs = Math.min(delayMs * 2, RESTART_MAX_MS)) {
      await wait(delayMs);
      if (this.stopping) return false;
      try {
        await endOrphansOfPostgres(this.folder);
        this.server = await startPostgresServer(this.folder, this.port);
        return true;
      } catch (error) {
        this.log(`failed to start postgres, will retry: ${(error as Error).message}`);
      }
    }
  }
}
