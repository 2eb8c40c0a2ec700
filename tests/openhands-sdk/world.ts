import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { type PythonEnvironment, pythonEnvironment } from '@slipway/testing/programs';

const VERSION = '1.58.0';
/** What is there already answers sooner. Milliseconds. */
const SLOW_MS = 5_000;

/**
 * OpenHands' packages, each with what it needs at a fixed version. @returns them, or a sentence that says why they are
 * not here.
 */
export async function openhandsEnvironment(): Promise<PythonEnvironment | { readonly missing: string }> {
  const packages = readFileSync(path.join(import.meta.dirname, 'requirements.txt'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const word = setTimeout(
    () => console.log(`Waiting for OpenHands' packages ${VERSION} from PyPI: about a minute, once on a machine.`),
    SLOW_MS,
  );
  try {
    // What is listed is all there is to install: looking for versions that fit takes pip minutes.
    return await pythonEnvironment({
      name: `openhands-sdk/${VERSION}`,
      packages: ['--no-deps', '--no-compile', ...packages],
      oldest: [3, 12],
      installMs: 240_000,
    });
  } finally {
    clearTimeout(word);
  }
}

/** One Python process with OpenHands' SDK in it. */
export class Sdk {
  private readonly lines: AsyncIterator<string>;
  private turn: Promise<unknown> = Promise.resolve();
  private readonly errors: string[] = [];

  private readonly child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.child = child;
    child.stderr?.on('data', (chunk: Buffer) => void this.errors.push(chunk.toString()));
    this.lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  }

  /** Resolves when everything is imported, which takes the SDK seconds. */
  static async start(environment: PythonEnvironment): Promise<Sdk> {
    const child = spawn(environment.program('python'), ['-u', 'driver.py'], { cwd: import.meta.dirname });
    const sdk = new Sdk(child);
    await sdk.next();
    return sdk;
  }

  /** What the scenario gave back. Rejects with its traceback. Scenarios wait for each other. */
  run<T>(scenario: string, args: object): Promise<T> {
    const answer = this.turn.then(async () => {
      this.child.stdin?.write(`${JSON.stringify({ scenario, args })}\n`);
      const { value, error } = (await this.next()) as { value: T; error?: string };
      if (error !== undefined) throw new Error(`${error}\n${this.errors.join('').slice(-3_000)}`);
      return value;
    });
    this.turn = answer.catch(() => undefined);
    return answer;
  }

  async close(): Promise<void> {
    if (this.child.exitCode !== null) return;
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGKILL');
    await ended;
  }

  private async next(): Promise<unknown> {
    const { value, done } = await this.lines.next();
    if (done === true) throw new Error(`the SDK's process ended: ${this.errors.join('').slice(-3_000)}`);
    return JSON.parse(value);
  }
}
