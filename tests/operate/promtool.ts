import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const MODULE = 'github.com/prometheus/prometheus';
const VERSION = 'v0.315.0';
const FOLDER = path.join(os.homedir(), '.cache', 'slipway', 'promtool', VERSION);
const PROGRAM = path.join(FOLDER, 'promtool');
/** The first build fetches and compiles: two minutes on two idle cores. Milliseconds. */
const BUILD_TIMEOUT_MS = 600_000;

const run = promisify(execFile);

/** Prometheus' own checker of rules, of Go's module proxy, built once into the cache. @returns why there is none, in a sentence, when it cannot be built. */
export async function openPromtool(): Promise<{ readonly program: string } | string> {
  if (existsSync(PROGRAM)) return { program: PROGRAM };
  await mkdir(path.dirname(FOLDER), { recursive: true });
  const draft = await mkdtemp(`${FOLDER}-`);
  const go = (...args: string[]): Promise<unknown> =>
    run('go', args, { cwd: draft, env: { ...process.env, GOWORK: 'off', GOFLAGS: '-buildvcs=false -mod=mod', CGO_ENABLED: '0' }, timeout: BUILD_TIMEOUT_MS });
  try {
    // A module of our own: `go install` refuses those that replace others, as this one does.
    await go('mod', 'init', 'promtool');
    await go('get', `${MODULE}/cmd/promtool@${VERSION}`);
    // Without service discovery, which is most of it.
    await go('build', '-tags', 'remove_all_sd', '-trimpath', '-ldflags', '-s -w', '-o', path.join(draft, 'promtool'), `${MODULE}/cmd/promtool`);
    await mkdir(FOLDER, { recursive: true });
    await rename(path.join(draft, 'promtool'), PROGRAM);
    return { program: PROGRAM };
  } catch (error) {
    const said = (error as { stderr?: string }).stderr?.trim().split('\n').at(-1) ?? String(error);
    return `There is no promtool: it is built with Go, which ${(error as NodeJS.ErrnoException).code === 'ENOENT' ? 'is not installed' : `failed: ${said}`}.`;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** @throws Error with what promtool said, when it does not agree. */
export async function promtool(program: string, ...args: string[]): Promise<string> {
  try {
    return (await run(program, args, { timeout: 60_000 })).stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`promtool ${args.join(' ')}:\n${stdout}${stderr}`, { cause: error });
  }
}
