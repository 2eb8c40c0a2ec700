import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** Longest call. Milliseconds. */
const TIMEOUT_MS = 60_000;

/**
 * @param cache where it keeps what it learnt of the server's API; for a server that will not be there tomorrow.
 * @returns standard output. @throws Error with the command and what it said on standard error, when it fails or is too
 * late.
 */
export async function kubectl(
  program: string,
  kubeconfig: string,
  args: readonly string[],
  input?: string,
  cache?: string,
): Promise<string> {
  const env = { ...process.env, KUBECONFIG: kubeconfig, ...(cache === undefined ? {} : { KUBECACHEDIR: cache }) };
  const promise = run(program, args, { env, timeout: TIMEOUT_MS, maxBuffer: 256 * 1024 * 1024 });
  promise.child.stdin?.on('error', () => {});
  promise.child.stdin?.end(input ?? '');
  try {
    return (await promise).stdout;
  } catch (error) {
    const { stderr = '', killed } = error as { stderr?: string; killed?: boolean };
    throw new Error(
      `kubectl ${args.join(' ')}: ${killed === true ? `no answer in ${TIMEOUT_MS} ms` : stderr.trim() || String(error)}`,
      { cause: error },
    );
  }
}
