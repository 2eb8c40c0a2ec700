import { type ExecFileException, execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

const VERSION = '4.32.5';
/** Oldest Python that it runs on. */
const OLDEST: readonly [number, number] = [3, 10];
/** Longest for the packages to come. Milliseconds. */
const INSTALL_MS = 240_000;

export interface Run {
  readonly code: number;
  readonly output: string;
}

/** Runs a program to its end, whatever that is. */
export function run(program: string, args: readonly string[], timeoutMs: number, cwd?: string): Promise<Run> {
  return new Promise((resolve) =>
    execFile(
      program,
      args,
      { timeout: timeoutMs, maxBuffer: 2 ** 28, ...(cwd === undefined ? {} : { cwd }) },
      (error: ExecFileException | null, stdout, stderr) =>
        resolve({
          code: error === null ? 0 : typeof error.code === 'number' ? error.code : -1,
          output: `${stdout}${stderr}${error?.killed === true ? `\nended after ${timeoutMs} ms` : ''}`,
        }),
    ),
  );
}

/** Schemathesis in an environment of its own, kept from run to run. @returns the program, or a sentence that says why there is none here. */
export async function schemathesis(): Promise<{ readonly program: string } | { readonly lack: string }> {
  const folder = path.join(process.env['XDG_CACHE_HOME'] ?? path.join(os.homedir(), '.cache'), 'slipway/schemathesis', VERSION);
  const program = path.join(folder, 'bin/schemathesis');
  if (existsSync(program) && (await run(program, ['--version'], 60_000)).output.includes(VERSION)) return { program };
  const python = await findPython();
  if (python === null)
    return {
      lack: `There is no Python ${OLDEST.join('.')} or newer on the PATH, so the API is not tried with Schemathesis: apt-get install python3 python3-venv.`,
    };
  await rm(folder, { recursive: true, force: true });
  await mkdir(path.dirname(folder), { recursive: true });
  // Programs of an environment name its folder, so it is made where it will be.
  const made = await run(python, ['-m', 'venv', folder], 120_000);
  const installed =
    made.code !== 0
      ? made
      : await run(path.join(folder, 'bin/pip'), ['install', '--quiet', '--disable-pip-version-check', `schemathesis==${VERSION}`], INSTALL_MS);
  if (installed.code === 0) return { program };
  const broken = `${folder}.broken`;
  await rm(broken, { recursive: true, force: true });
  await rename(folder, broken).catch(() => {});
  await rm(broken, { recursive: true, force: true });
  return {
    lack: `Schemathesis ${VERSION} could not be installed, so the API is not tried with it: ${installed.output.trim().split('\n').at(-1) ?? 'no reason was given'}`,
  };
}

async function findPython(): Promise<string | null> {
  for (const name of ['python3.13', 'python3.12', 'python3.11', 'python3.10', 'python3']) {
    const { code, output } = await run(name, ['-c', 'import sys, venv, ensurepip; print(*sys.version_info[:2])'], 20_000);
    const [major = 0, minor = 0] = output.trim().split(' ').map(Number);
    if (code === 0 && (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]))) return name;
  }
  return null;
}
