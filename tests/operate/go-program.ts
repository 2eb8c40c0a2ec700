import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const MODULE = 'github.com/prometheus/prometheus';
const VERSION = 'v0.315.0';
/** The first build fetches and compiles: two minutes on two idle cores. Milliseconds. */
const BUILD_TIMEOUT_MS = 600_000;

const run = promisify(execFile);

/**
 * A program of Prometheus' own, of Go's module proxy, built once into the cache. @returns why there is none, in a
 * sentence, when it cannot be built.
 */
export async function openGoProgram(name: 'promtool' | 'prometheus'): Promise<{ readonly program: string } | string> {
  const folder = path.join(os.homedir(), '.cache', 'slipway', name, VERSION);
  const program = path.join(folder, name);
  if (existsSync(program)) return { program };
  await mkdir(path.dirname(folder), { recursive: true });
  const draft = await mkdtemp(`${folder}-`);
  const go = (...args: string[]): Promise<unknown> =>
    run('go', args, {
      cwd: draft,
      env: { ...process.env, GOWORK: 'off', GOFLAGS: '-buildvcs=false -mod=mod', CGO_ENABLED: '0' },
      timeout: BUILD_TIMEOUT_MS,
    });
  try {
    // A module of our own: `go install` refuses those that replace others, as this one does.
    await go('mod', 'init', 'program');
    await go('get', `${MODULE}/cmd/${name}@${VERSION}`);
    // Without service discovery, which is most of it.
    await go(
      'build',
      '-tags',
      'remove_all_sd',
      '-trimpath',
      '-ldflags',
      '-s -w',
      '-o',
      path.join(draft, name),
      `${MODULE}/cmd/${name}`,
    );
    await mkdir(folder, { recursive: true });
    await rename(path.join(draft, name), program);
    return { program };
  } catch (error) {
    const said = (error as { stderr?: string }).stderr?.trim().split('\n').at(-1) ?? String(error);
    return `There is no ${name}: it is built with Go, which ${(error as NodeJS.ErrnoException).code === 'ENOENT' ? 'is not installed' : `failed: ${said}`}.`;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
