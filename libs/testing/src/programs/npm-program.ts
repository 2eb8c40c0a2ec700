import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { programFolder, run } from './run.js';

export interface NpmProgram {
  /** Where its packages are: `…/node_modules`. */
  readonly modules: string;
}

const WHOLE = 'slipway-installed';
const INSTALL_MS = 300_000;

/**
 * A program of others from npm that the product itself does not need, in a folder of its own outside the checkout, kept
 * from run to run. Its install scripts are not run.
 * @param version exact. @returns it, or a sentence that says why there is none here.
 */
export async function npmProgram(name: string, version: string): Promise<NpmProgram | { readonly missing: string }> {
  const folder = programFolder('npm', `${name.replace(/^@/, '').replace('/', '-')}-${version}`);
  const modules = path.join(folder, 'node_modules');
  if (existsSync(path.join(folder, WHOLE))) return { modules };
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await writeFile(
    path.join(folder, 'package.json'),
    JSON.stringify({ private: true, dependencies: { [name]: version } }),
  );
  const { code, output } = await run(
    'npm',
    ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
    {
      timeoutMs: INSTALL_MS,
      cwd: folder,
    },
  );
  if (code !== 0) {
    await rm(folder, { recursive: true, force: true });
    return {
      missing: `${name} ${version} could not be installed: ${output.trim().split('\n').at(-1) ?? 'no reason was given'}`,
    };
  }
  await writeFile(path.join(folder, WHOLE), version);
  return { modules };
}
