import { existsSync, globSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { takeBuildLock } from '../cluster/build/build-lock.js';
import { programFolder, run } from './run.js';

export interface PythonEnvironment {
  /** A program of the environment: `python`, `schemathesis`. */
  program(name: string): string;
}

export interface PythonEnvironmentOptions {
  /**
   * Folder in the cache. With the version in it when there is one main package: another version is another environment.
   */
  readonly name: string;
  /** `name==version` each. */
  readonly packages: readonly string[];
  /** Oldest Python that they run on [3.10]. */
  readonly oldest?: readonly [major: number, minor: number];
  /** Longest for the packages to come [240 s]. Milliseconds. */
  readonly installMs?: number;
}

const OLDEST = [3, 10] as const;
/** Says that everything in the folder came. */
const WHOLE = 'slipway-installed';

/**
 * Packages of PyPI in an environment of their own, kept from run to run; processes that want it at the same time make
 * it once.
 * @returns it, or a sentence that says why there is none here. Never rejects for want of a network.
 */
export async function pythonEnvironment(
  options: PythonEnvironmentOptions,
): Promise<PythonEnvironment | { readonly missing: string }> {
  const folder = programFolder(...options.name.split('/'));
  const found: PythonEnvironment = { program: (program) => path.join(folder, 'bin', program) };
  if (await isWhole(folder, found)) return found;
  const python = await findPython(options.oldest ?? OLDEST);
  if (python === null)
    return {
      missing: `There is no Python ${(options.oldest ?? OLDEST).join('.')} or newer with venv on the PATH: apt-get install python3 python3-venv.`,
    };
  const release = await takeBuildLock(`${folder}.lock`, (pid) =>
    console.error(`${options.name}: waiting for process ${pid}, which is installing it`),
  );
  try {
    return (await isWhole(folder, found)) ? found : await install(python, folder, found, options);
  } finally {
    await release();
  }
}

async function isWhole(folder: string, found: PythonEnvironment): Promise<boolean> {
  return (
    existsSync(path.join(folder, WHOLE)) &&
    (await run(found.program('python'), ['--version'], { timeoutMs: 20_000 })).code === 0
  );
}

/** The lock is held. */
async function install(
  python: string,
  folder: string,
  found: PythonEnvironment,
  { packages, installMs = 240_000 }: PythonEnvironmentOptions,
): Promise<PythonEnvironment | { readonly missing: string }> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(path.dirname(folder), { recursive: true });
  // Programs of an environment name its folder, so it is made where it will be.
  const made = await run(python, ['-m', 'venv', folder], { timeoutMs: 120_000 });
  const installed =
    made.code !== 0
      ? made
      : await run(found.program('pip'), ['install', '--quiet', '--disable-pip-version-check', ...packages], {
          timeoutMs: installMs,
        });
  if (installed.code === 0) {
    await writeFile(path.join(folder, WHOLE), packages.join('\n'));
    return found;
  }
  const broken = `${folder}.broken`;
  await rm(broken, { recursive: true, force: true });
  await rename(folder, broken).catch(() => {});
  await rm(broken, { recursive: true, force: true });
  return {
    missing: `${packages.join(', ')} could not be installed: ${installed.output.trim().split('\n').at(-1) ?? 'no reason was given'}`,
  };
}

/** Those that pyenv holds, also when none of them is chosen: its own commands then refuse. Newest first. */
function ofPyenv(): string[] {
  const versions = path.join(process.env['PYENV_ROOT'] ?? path.join(os.homedir(), '.pyenv'), 'versions');
  return globSync('3.*/bin/python3', { cwd: versions })
    .sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
    .map((found) => path.join(versions, found));
}

/** The first that is new enough, in the order in which a user would expect it. */
async function findPython(oldest: readonly [number, number]): Promise<string | null> {
  for (const name of ['python3.13', 'python3.12', 'python3.11', 'python3.10', 'python3', ...ofPyenv()]) {
    const { code, output } = await run(name, ['-c', 'import sys, venv, ensurepip; print(*sys.version_info[:2])'], {
      timeoutMs: 20_000,
    });
    const [major = 0, minor = 0] = output.trim().split(' ').map(Number);
    if (code === 0 && (major > oldest[0] || (major === oldest[0] && minor >= oldest[1]))) return name;
  }
  return null;
}
