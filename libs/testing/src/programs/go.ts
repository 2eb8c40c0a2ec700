import { spawn } from 'node:child_process';
import { findProgram } from '../cluster/find-program.js';
import { run } from './run.js';

export interface GoCompile {
  readonly go: string;
  /** For the message of a failure. */
  readonly what: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Where `go install` puts programs [Go's own place]. */
  readonly into?: string;
  readonly signal?: AbortSignal | undefined;
}

/** Also where its own installer puts it, when it is not on the PATH. */
export const findGo = (): string | null => findProgram('go', ['/usr/local/go/bin']);

/** Whether this Go is at least `oldest`. */
export async function isGoFrom(
  go: string,
  oldest: readonly [major: number, minor: number, patch: number],
): Promise<boolean> {
  const { output } = await run(go, ['env', 'GOVERSION'], { timeoutMs: 20_000, cwd: '/' });
  const found = /go(\d+)\.(\d+)(?:\.(\d+))?/
    .exec(output)
    ?.slice(1)
    .map((part) => Number(part ?? 0)) ?? [0];
  const differs = oldest.findIndex((part, at) => found[at] !== part);
  return differs < 0 || (found[differs] ?? 0) > (oldest[differs] ?? 0);
}

/** One call of Go's compiler, without C. @throws Error with its last words when it fails, or the reason of `signal`. */
export async function compileGo({ go, what, args, cwd, into, signal }: GoCompile): Promise<void> {
  const env = {
    ...process.env,
    GOFLAGS: '-buildvcs=false',
    CGO_ENABLED: '0',
    GOWORK: 'off',
    ...(into === undefined ? {} : { GOBIN: into }),
  };
  const child = spawn(go, args, {
    cwd,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(signal === undefined ? {} : { signal }),
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-4_000);
  });
  const code = await new Promise<number | null>((resolve, reject) =>
    child.once('error', reject).once('close', resolve),
  );
  if (code !== 0) throw new Error(`Building ${what} failed (go ended with ${code}): ${said.trim()}`);
}
