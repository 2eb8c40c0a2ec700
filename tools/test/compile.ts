import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { run } from './run.ts';

/** Jest's `globalSetup`: compiles what has changed, in watch mode before each run. */
export default function compile(): void {
  if (run.built) return;
  const root = path.resolve(import.meta.dirname, '../..');
  const { status } = spawnSync(path.join(root, 'node_modules/.bin/tsc'), ['-b'], { cwd: root, stdio: 'inherit' });
  if (status !== 0) throw new Error('The test files do not compile; the errors are above.');
}
