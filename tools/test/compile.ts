import { spawnSync } from 'node:child_process';
import path from 'node:path';
import type { Config } from '@jest/types';
import { run } from './run.ts';
import { staleBundles } from './stale-bundles.ts';

/** Suites that start services, as their one file each. */
const STARTS_SERVICES = /(^|\/)(tests|bench|deploy)\//;

/** Jest's `globalSetup`: compiles what has changed, in watch mode before each run. */
export default function compile({ nonFlagArgs: named = [] }: Config.GlobalConfig): void {
  if (run.built) return;
  const root = path.resolve(import.meta.dirname, '../..');
  const succeeds = (program: string, args: readonly string[]): boolean =>
    spawnSync(program, args, { cwd: root, stdio: 'inherit' }).status === 0;
  if (!succeeds(process.execPath, ['libs/db/scripts/generate-client.mjs']))
    throw new Error("Prisma's client was not generated; the error is above.");
  if (!succeeds(path.join(root, 'node_modules/.bin/tsc'), ['-b']))
    throw new Error('The test files do not compile; the errors are above.');
  if (named.length > 0 && !named.some((each) => STARTS_SERVICES.test(each))) return;
  for (const app of staleBundles(root))
    if (!succeeds(process.execPath, ['tools/bundle-service.ts', app]))
      throw new Error(`${app} could not be bundled; the error is above.`);
}
