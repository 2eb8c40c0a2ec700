import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readlink, rename, rm, symlink } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { planServices } from '../../deploy/local/services.ts';
import { ROOT } from '../../deploy/local/settings.ts';
import type { FleetVersion } from './fleet.ts';

/**
 * The version before this one. There is no release yet, so it is a commit: the last one before people, organizations,
 * keys, secrets, usage and the audit came, ten migrations ago. With the first release it becomes that release's tag.
 */
const PREVIOUS = '738cda721038';
/** What a fleet is made of, and a client of that time. Pages are this version's: making others takes minutes. */
const APPS = [
  'app-server',
  'worker',
  'runtime-api',
  'llm-gateway',
  'sandbox-gateway',
  'embedded-identity',
  'agent-server',
  'action-server',
];
const PROJECTS = [...APPS.map((app) => `apps/${app}`), 'libs/testing'];
/** What a sandbox runs is one file. */
const BUNDLED = ['agent-server', 'action-server'];
/** What of the commit is needed. */
const FOLDERS = [
  ...['apps', 'libs', 'prisma', 'deploy/local', 'tools/bundle.mjs', 'package.json', 'tsconfig.base.json'],
  // For whoever installs it: tests/install/previous-release.ts.
  ...['deploy/images', 'helm/slipway', 'package-lock.json'],
];
/** Longest for all projects: 15 s on two idle cores. Milliseconds. */
const BUILD_MS = 300_000;

const run = promisify(execFile);

/**
 * The version before this one, built from this checkout's own history into a folder of the cache: its code, and the
 * packages of this one.
 * @returns a sentence that says why there is none, when there is none.
 */
export async function openPreviousVersion(say: (line: string) => void): Promise<FleetVersion | string> {
  const missing = await missingOfHistory();
  if (missing !== null) return missing;
  const root = await build(say);
  const load = <Module>(file: string): Promise<Module> => import(path.join(root, file)) as Promise<Module>;
  const services = await load<Pick<FleetVersion, 'planServices'>>('deploy/local/services.ts');
  const { migrate } = await load<Pick<FleetVersion, 'migrate'>>('libs/db/dist/migrate/index.js');
  const { migrateQueue } = await load<Pick<FleetVersion, 'migrateQueue'>>('libs/queue/dist/migrate/index.js');
  const { signIn } = await load<Pick<FleetVersion, 'signIn'>>('libs/testing/dist/sign-in.js');
  return {
    root,
    planServices: (...asked) => {
      const pages = planServices(...asked).filter(({ name }) => name === 'web');
      return [...services.planServices(...asked).filter(({ name }) => name !== 'web'), ...pages];
    },
    migrate,
    migrateQueue,
    signIn,
  };
}

/** A checkout of CI may have its newest commit only; an archive has none. */
async function missingOfHistory(): Promise<string | null> {
  try {
    await run('git', ['cat-file', '-e', `${PREVIOUS}^{commit}`], { cwd: ROOT });
    return null;
  } catch {
    return `The version before this one is commit ${PREVIOUS}, which this checkout does not have: git fetch --unshallow.`;
  }
}

/** Made once for a checkout; one that is killed leaves nothing that seems complete. */
async function build(say: (line: string) => void): Promise<string> {
  const cache = path.join(os.homedir(), '.cache/slipway/previous');
  const folder = path.join(
    cache,
    `${PREVIOUS}-${createHash('sha256')
      .update([ROOT, ...FOLDERS].join(' '))
      .digest('hex')
      .slice(0, 12)}`,
  );
  if (existsSync(folder)) return folder;
  const began = performance.now();
  await mkdir(cache, { recursive: true });
  const draft = await mkdtemp(`${folder}-`);
  try {
    const archive = path.join(draft, 'commit.tar');
    await run('git', ['archive', '--output', archive, PREVIOUS, ...FOLDERS], { cwd: ROOT });
    await run('tar', ['-xf', archive, '-C', draft]);
    await rm(archive);
    await linkPackages(draft);
    const node = (args: readonly string[], cwd = draft): Promise<unknown> =>
      run(process.execPath, [...args], { cwd, timeout: BUILD_MS, maxBuffer: 2 ** 24 });
    const client = path.join(draft, 'libs/db/scripts/generate-client.mjs');
    if (existsSync(client)) await node([client]);
    await node([path.join(ROOT, 'node_modules/typescript/bin/tsc'), '-b', ...PROJECTS]);
    for (const app of BUNDLED) await node([path.join(draft, 'tools/bundle.mjs'), app], path.join(draft, 'apps', app));
    await rename(draft, folder);
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`the version before this one (${PREVIOUS}) was not built: ${stdout}${stderr}`, { cause: error });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  say(`the version before this one was built in ${((performance.now() - began) / 1_000).toFixed(1)} s`);
  return folder;
}

/** `node_modules` of the older one: every package of this checkout, but for our own, which are its own. */
async function linkPackages(root: string): Promise<void> {
  const ours = path.join(ROOT, 'node_modules');
  const theirs = path.join(root, 'node_modules');
  await mkdir(path.join(theirs, '@slipway'), { recursive: true });
  for (const name of await readdir(ours))
    if (name !== '@slipway') await symlink(path.join(ours, name), path.join(theirs, name));
  // `@slipway/db` is a link to `../../libs/db`; what came later leads nowhere, and nothing needs it.
  for (const name of await readdir(path.join(ours, '@slipway')))
    await symlink(await readlink(path.join(ours, '@slipway', name)), path.join(theirs, '@slipway', name));
}
