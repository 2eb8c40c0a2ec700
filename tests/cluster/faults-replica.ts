import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import path from 'node:path';
import { type RunningProcess, startProcess, waitForHttp } from '../../bench/measure/child-process.ts';

const MAIN = path.resolve(import.meta.dirname, '../../apps/runtime-api/bundle/main.js');
/** Longest start. Milliseconds; the machine is busy. */
const START_TIMEOUT_MS = 60_000;

/** One process of runtime-api, which can be made to fail and started again at its address. */
export class Replica {
  private running: ReturnType<typeof startProcess> | null = null;
  private before = '';

  readonly name: string;
  private readonly port: number;
  private readonly environment: Readonly<Record<string, string>>;

  private constructor(name: string, port: number, environment: Readonly<Record<string, string>>) {
    this.name = name;
    this.port = port;
    this.environment = environment;
  }

  static async start(name: string, environment: Readonly<Record<string, string>>): Promise<Replica> {
    const replica = new Replica(name, await lastingPort(), environment);
    await replica.start();
    return replica;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** The last of what its processes wrote. */
  get said(): string {
    return `${this.before}${this.running?.output() ?? ''}`;
  }

  get process(): RunningProcess {
    if (this.running === null) throw new Error(`${this.name} does not run`);
    return this.running;
  }

  async start(): Promise<void> {
    const environment = {
      ...this.environment,
      HOST: '127.0.0.1',
      PORT: String(this.port),
      METRICS_PORT: '0',
      REPLICA_ID: this.name,
      LOG_LEVEL: 'info',
    };
    this.running = startProcess(process.execPath, [MAIN], environment);
    await waitForHttp(`${this.url}/ready`, this.running, START_TIMEOUT_MS);
  }

  /** SIGKILL; returns when it is gone. */
  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  /** @returns the exit code, or the signal that ended it. */
  async end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null> {
    const { running } = this;
    if (running === null) return null;
    const { child } = running;
    if (child.exitCode === null && child.signalCode === null) {
      const gone = once(child, 'exit');
      child.kill(signal);
      await gone;
    }
    this.before = `${this.before}${running.output()}`.slice(-16_384);
    this.running = null;
    return child.exitCode ?? child.signalCode;
  }

  /** SIGSTOP: its connections stay open and nothing answers. */
  pause(): void {
    this.process.kill('SIGSTOP');
  }

  /** SIGCONT. */
  resume(): void {
    this.process.kill('SIGCONT');
  }
}

/** Below those that a connection to somewhere else may get while the replica is dead. */
async function lastingPort(): Promise<number> {
  while (true) {
    const port = randomInt(21_000, 32_000);
    const server = net.createServer();
    const listening = once(server, 'listening');
    server.listen(port, '127.0.0.1');
    const free = await listening.then(
      () => true,
      () => false,
    );
    server.close();
    if (free) return port;
  }
}
