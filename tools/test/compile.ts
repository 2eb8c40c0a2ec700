import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { run } from './run.ts';

/** Jest's `globalSetup`: compiles what has changed, in watch mode before each run. */
export default function compile(): void {
  if (run.built) return;
  const root = path.resolve(import.meta.dirname, '../..');
  const succeeds = (program: string, args: readonly string[]): boolean =>
    spawnSync(program, args, { cwd: root, stdio: 'inherit' }).status === 0;
  if (!succeeds(process.execPath, ['libs/db/scripts/generate-client.mjs']))
    throw new Error("Prisma's client was not generated; the error is above.");
  if (!succeeds(path.join(root, 'node_modules/.bin/tsc'), ['-b']))
    throw new Error('The test files do not compile; the errors are above.');
}
