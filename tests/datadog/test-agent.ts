import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { freePort, until } from '@slipway/testing';
import { pythonEnvironment } from '@slipway/testing/programs';

const VERSION = '1.69.1';

/**
 * A span as an agent gets it. Ids are decimal; of a trace's id the lower half, whose upper half is in `_dd.p.tid` of
 * one of its spans.
 */
export interface Span {
  readonly service: string;
  readonly name: string;
  readonly resource: string;
  readonly trace_id: string;
  readonly span_id: string;
  readonly parent_id: string;
  readonly error: number;
  readonly meta: Readonly<Record<string, string>>;
  readonly metrics: Readonly<Record<string, number>>;
}

/** Datadog's own test agent, which reads the wire as the real one does. */
export class TestAgent {
  readonly url: string;
  private readonly process: ChildProcess;
  private readonly folder: string;

  private constructor(url: string, process: ChildProcess, folder: string) {
    this.url = url;
    this.process = process;
    this.folder = folder;
  }

  /** @returns why there is none here, in a sentence, without Python. */
  static async start(): Promise<TestAgent | { readonly missing: string }> {
    const python = await pythonEnvironment({
      name: `ddapm-test-agent/${VERSION}`,
      packages: [`ddapm-test-agent==${VERSION}`],
    });
    if ('missing' in python) return python;
    const [port, otlp, grpc] = await Promise.all([freePort(), freePort(), freePort()]);
    const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-test-agent-'));
    const ports = ['--port', String(port), '--otlp-http-port', String(otlp), '--otlp-grpc-port', String(grpc)];
    const args = [...ports, '--snapshot-dir', folder, '--disable-llmobs-data-forwarding'];
    const child = spawn(python.program('ddapm-test-agent'), args, { stdio: 'ignore', cwd: folder });
    const agent = new TestAgent(`http://127.0.0.1:${port}`, child, folder);
    try {
      await until('the test agent answers', async () => (await fetch(`${agent.url}/info`)).ok, 60_000);
    } catch (error) {
      agent.stop();
      throw error;
    }
    return agent;
  }

  async spans(): Promise<Span[]> {
    const text = await (await fetch(`${this.url}/test/session/traces`)).text();
    // Numbers of 64 bits.
    return (JSON.parse(text.replace(/"((?:trace|span|parent)_id)":\s*(\d+)/g, '"$1":"$2"')) as Span[][]).flat();
  }

  /** Of a trace by its 32 hex digits. */
  async spansOf(traceId: string): Promise<Span[]> {
    const low = BigInt(`0x${traceId.slice(16)}`).toString();
    return (await this.spans()).filter(({ trace_id }) => trace_id === low);
  }

  /** Every answer to a tracer comes this late. Seconds. */
  async delay(seconds: number): Promise<void> {
    await fetch(`${this.url}/test/settings`, {
      method: 'POST',
      body: JSON.stringify({ trace_request_delay: seconds }),
    });
  }

  stop(): void {
    // It may take its time with a SIGTERM.
    this.process.kill('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }
}
