import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { openGoProgram } from './go-program.ts';

const run = promisify(execFile);

/** Prometheus' own checker of rules. @returns why there is none, in a sentence. */
export const openPromtool = (): ReturnType<typeof openGoProgram> => openGoProgram('promtool');

/** @throws Error with what promtool said, when it does not agree. */
export async function promtool(program: string, ...args: string[]): Promise<string> {
  try {
    return (await run(program, args, { timeout: 60_000 })).stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`promtool ${args.join(' ')}:\n${stdout}${stderr}`, { cause: error });
  }
}
