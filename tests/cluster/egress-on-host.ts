import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { freePort, until } from '@slipway/testing';
import { ROOT } from '../../deploy/images/image-parts.ts';

const SECRET = 'egress-secret-of-tests-0123456789abcdef';

/** egress-proxy as a process of this machine, beside a cluster whose pods reach it at the machine's address. */
export class EgressOnHost {
  /** Its lines on who went where. */
  readonly lines: Record<string, unknown>[] = [];
  private child: ChildProcess | undefined;
  private rest = '';

  private readonly port: number;
  private readonly healthPort: number;

  private constructor(port: number, healthPort: number) {
    this.port = port;
    this.healthPort = healthPort;
  }

  static async prepare(): Promise<EgressOnHost> {
    return new EgressOnHost(await freePort(), await freePort());
  }

  /** For runtime-api, which may say where it is before it is there. */
  env(hostAddress: string): Record<string, string> {
    return { EGRESS_PROXY_URL: `http://${hostAddress}:${this.port}`, EGRESS_SECRET: SECRET };
  }

  /** @param packageHosts what class `packages` reaches. */
  async start(hostAddress: string, packageHosts: readonly string[]): Promise<void> {
    const env = {
      HOST: hostAddress,
      PORT: String(this.healthPort),
      METRICS_PORT: '0',
      EGRESS_PORT: String(this.port),
      EGRESS_SECRET: SECRET,
      EGRESS_RULES: JSON.stringify({ packageHosts }),
      // What pods reach of this machine is at an address of its own network.
      EGRESS_PERMITTED_RANGES: hostAddress,
    };
    this.child = spawn(process.execPath, [path.join(ROOT, 'apps/egress-proxy/bundle/main.js')], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.child.stdout?.on('data', (chunk: Buffer) => this.read(chunk.toString()));
    await until(
      'egress-proxy is ready',
      async () => (await fetch(`http://${hostAddress}:${this.healthPort}/ready`)).ok,
      30_000,
    );
  }

  async close(): Promise<void> {
    if (this.child === undefined || this.child.exitCode !== null) return;
    this.child.kill('SIGKILL');
    await once(this.child, 'exit');
  }

  private read(text: string): void {
    const whole = (this.rest + text).split('\n');
    this.rest = whole.pop() ?? '';
    for (const line of whole) {
      const parsed = JSON.parse(line) as Record<string, unknown>;
      if (parsed['message'] === 'egress') this.lines.push(parsed);
    }
  }
}
