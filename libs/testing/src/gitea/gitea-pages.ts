import { existsSync } from 'node:fs';
import { cp, mkdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { findGo } from '../programs/go.js';
import { makeOnce } from '../programs/make-once.js';
import { npmProgram } from '../programs/npm-program.js';
import { type RunOptions, run } from '../programs/run.js';
import { moduleFolder, programsFolder } from './gitea-module.js';

/** As Gitea's package.json asks for it; what it installs is pinned by Gitea's own lockfile. */
const PNPM = '11.9.0';
const INSTALL_MS = 600_000;
const BUILD_MS = 600_000;
/** What the build adds below `public/assets`. */
const BUILT = ['.vite', 'css', 'js'];

/**
 * A folder to be Gitea's `custom` one; `null` when no pages are built. Without it its pages have neither styles nor
 * scripts, and everything else works.
 */
export async function giteaPages(): Promise<string | null> {
  const folder = await pagesFolder();
  return existsSync(folder) ? folder : null;
}

/**
 * The styles and scripts of Gitea's pages, which its module has as sources only: for people and browsers. Half a minute
 * of CPU and 420 MB on the way, 13 MB that stay.
 * @returns why they cannot be had, as one sentence; `null` when they are there.
 */
export async function prepareGiteaPages(
  say: (line: string) => void = () => {},
  signal?: AbortSignal,
): Promise<string | null> {
  const folder = await pagesFolder();
  if (existsSync(folder)) return null;
  const go = findGo();
  if (go === null)
    return 'The pages of Gitea are built from its Go module, and there is no Go on the PATH: they have no styles. Everything else works.';
  const pnpm = await npmProgram('pnpm', PNPM);
  if ('missing' in pnpm) return `The pages of Gitea have no styles: ${pnpm.missing}.`;
  const make = async (making: string): Promise<void> => {
    say('gitea: building its pages …');
    const sources = path.join(making, 'sources');
    await cp(await moduleFolder(go), sources, { recursive: true });
    await run('chmod', ['-R', 'u+w', sources], { timeoutMs: 60_000 });
    const install = [
      'install',
      '--prod',
      '--frozen-lockfile',
      '--ignore-scripts',
      '--store-dir',
      path.join(making, 'store'),
    ];
    await node([path.join(pnpm.modules, 'pnpm/bin/pnpm.mjs'), ...install], { cwd: sources, timeoutMs: INSTALL_MS });
    await node(['node_modules/vite/bin/vite.js', 'build'], { cwd: sources, timeoutMs: BUILD_MS });
    await mkdir(path.join(making, 'public/assets'), { recursive: true });
    for (const name of BUILT)
      await rename(path.join(sources, 'public/assets', name), path.join(making, 'public/assets', name));
    for (const name of ['sources', 'store']) await rm(path.join(making, name), { recursive: true });
  };
  const failed = await makeOnce(folder, { what: "gitea's pages", say, signal, make }).then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  signal?.throwIfAborted();
  return failed === null ? null : `The pages of Gitea have no styles: ${failed.split('\n')[0]}`;
}

const pagesFolder = async (): Promise<string> => `${await programsFolder()}-pages`;

/** Our own Node: the system's may be older than its tools want. */
async function node(args: readonly string[], options: RunOptions): Promise<void> {
  const env = { ...process.env, NODE_ENV: 'production', ENABLE_SOURCEMAP: 'false', CI: '' };
  const { code, output } = await run(process.execPath, args, { ...options, env });
  if (code !== 0) throw new Error(`${path.basename(args[0] ?? '')} ended with ${code}: ${output.trim().slice(-1_000)}`);
}
