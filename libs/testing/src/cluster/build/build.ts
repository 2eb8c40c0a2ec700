import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from '../find-program.js';
import { writeImage } from '../image-archive.js';
import { ClusterUnavailable } from '../unavailable.js';
import { takeBuildLock } from './build-lock.js';
import { BUILD_STEPS, type BuildStep, KUBERNETES_PROGRAMS, KWOK_STAGES, KWOK_VERSION } from './recipe.js';

const run = promisify(execFile);
/** libs/testing/cluster, from libs/testing/dist/cluster/build. */
const SOURCES = path.resolve(import.meta.dirname, '../../../cluster');
/** Name of the image that holds a pod's namespaces. It is in no registry. */
export const PAUSE_IMAGE = 'slipway.local/pause:1';

/**
 * A small web server (libs/testing/cluster/lab/echo), for tests that want a pod that answers on port 8080 and nothing
 * else. Also in no registry.
 */
export const ECHO_IMAGE = 'slipway.local/echo:1';

/**
 * Where everything of test clusters is kept: programs by their key, and what runs. SLIPWAY_CLUSTER_CACHE, or a folder
 * of the user's own.
 */
export function clusterCache(): string {
  return path.resolve(process.env['SLIPWAY_CLUSTER_CACHE'] ?? path.join(os.homedir(), '.cache/slipway/cluster'));
}

/** The folder of the programs for this recipe on this machine; whether it is there is another question. */
async function programsFolder(): Promise<string> {
  const hash = createHash('sha256').update(
    JSON.stringify([BUILD_STEPS, KWOK_STAGES, PAUSE_IMAGE, ECHO_IMAGE, process.platform, process.arch]),
  );
  const files = (await readdir(SOURCES, { recursive: true }))
    .filter((file) => /(\.go|go\.mod|go\.sum)$/.test(file))
    .sort();
  for (const file of files) hash.update(`\0${file}\0`).update(await readFile(path.join(SOURCES, file)));
  return path.join(clusterCache(), hash.digest('hex').slice(0, 16));
}

/** The folder of the programs when they have been built; `null` when not. */
export async function builtPrograms(): Promise<string | null> {
  const folder = await programsFolder();
  return existsSync(folder) ? folder : null;
}

/** What building misses, as one sentence; `null` when it can be tried. */
export async function missingForBuilding(): Promise<string | null> {
  const cluster = 'building a test cluster';
  if (process.platform !== 'linux') return `${cluster} needs Linux, and this is ${process.platform}`;
  const go = findGo();
  if (go === null) return `${cluster} needs Go 1.26 on the PATH, and there is none`;
  const { stdout } = await run(go, ['env', 'GOVERSION'], { cwd: os.tmpdir() });
  const [, major = '0', minor = '0'] = /go(\d+)\.(\d+)/.exec(stdout) ?? [];
  if (Number(major) < 1 || Number(minor) < 26) return `${cluster} needs Go 1.26, and this is ${stdout.trim()}`;
  if (findProgram('gcc') === null) return `${cluster} needs gcc for runc: apt-get install gcc libc6-dev`;
  if (findProgram('pkg-config') === null) return `${cluster} needs pkg-config for runc: apt-get install pkg-config`;
  const seccomp = await run('pkg-config', ['--exists', 'libseccomp']).then(
    () => true,
    () => false,
  );
  return seccomp ? null : `${cluster} needs libseccomp's headers for runc: apt-get install libseccomp-dev`;
}

/**
 * Builds what is not built yet: minutes on a cold machine (about 7 on two cores, 8 GB of Go's caches), nothing when it
 * is there. Two builders at once make it once. A build that fails or is killed leaves no folder that seems complete.
 *
 * @returns the folder: `bin/`, `bin/cni/`, `stages.yaml`, `pause.tar`, `echo.tar`.
 * @throws ClusterUnavailable when something needed is missing; Error with the compiler's last words when it fails.
 */
export async function buildPrograms(say: (line: string) => void, signal?: AbortSignal): Promise<string> {
  const folder = await programsFolder();
  if (existsSync(folder)) return folder;
  const missing = await missingForBuilding();
  if (missing !== null) throw new ClusterUnavailable(`${missing}.`);
  const release = await takeBuildLock(
    `${folder}.lock`,
    (pid) => say(`cluster: process ${pid} is building the same; waiting for it`),
    signal,
  );
  const temporary = `${folder}.building-${process.pid}`;
  try {
    if (existsSync(folder)) return folder;
    const started = performance.now();
    await mkdir(path.join(temporary, 'bin/cni'), { recursive: true });
    for (const step of BUILD_STEPS) {
      const begun = performance.now();
      say(`cluster: building ${step.what} …`);
      await compile(step, temporary, signal);
      say(`cluster: built ${step.what} in ${seconds(begun)}`);
    }
    for (const name of KUBERNETES_PROGRAMS) await symlink('kube', path.join(temporary, 'bin', name));
    await writeFile(path.join(temporary, 'stages.yaml'), await kwokStages());
    await imageOf('pause', PAUSE_IMAGE, temporary);
    await imageOf('echo', ECHO_IMAGE, temporary);
    await rename(temporary, folder);
    say(`cluster: everything is built, in ${seconds(started)}: ${folder}`);
    return folder;
  } finally {
    await rm(temporary, { recursive: true, force: true });
    await release();
  }
}

/** An archive `NAME.tar` of an image that holds the program and nothing else. */
async function imageOf(program: string, name: string, folder: string): Promise<void> {
  const content = await readFile(path.join(folder, 'bin', program));
  await writeImage(path.join(folder, `${program}.tar`), {
    name,
    entrypoint: [`/${program}`],
    files: [{ path: program, mode: 0o755, content }],
  });
}

async function compile(step: BuildStep, folder: string, signal: AbortSignal | undefined): Promise<void> {
  const into = path.join(folder, step.into);
  const flags = [
    '-trimpath',
    ...(step.tags === undefined ? [] : ['-tags', step.tags]),
    '-ldflags',
    ['-s -w', step.ldflags].filter(Boolean).join(' '),
  ];
  const output = step.program === undefined ? `${into}/` : path.join(into, step.program);
  const args =
    step.module === null
      ? ['install', ...flags, ...step.packages]
      : ['build', ...flags, '-o', output, ...step.packages];
  const env = {
    ...process.env,
    GOFLAGS: '-buildvcs=false',
    CGO_ENABLED: step.cgo === true ? '1' : '0',
    GOBIN: into,
    GOWORK: 'off',
  };
  const child = spawn(findGo() ?? 'go', args, {
    cwd: step.module === null ? os.tmpdir() : path.join(SOURCES, step.module),
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
    signal,
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-4_000);
  });
  const code = await new Promise<number | null>((resolve, reject) =>
    child.once('error', reject).once('close', resolve),
  );
  if (code !== 0) throw new Error(`Building ${step.what} failed (go ended with ${code}): ${said.trim()}`);
}

/** All stages as one file of several documents. */
async function kwokStages(): Promise<string> {
  const { stdout } = await run(findGo() ?? 'go', ['env', 'GOMODCACHE'], { cwd: os.tmpdir() });
  const folder = path.join(stdout.trim(), `sigs.k8s.io/kwok@v${KWOK_VERSION}/kustomize/stage`);
  return (await Promise.all(KWOK_STAGES.map((file) => readFile(path.join(folder, file), 'utf8')))).join('\n---\n');
}

/** Where its own installer puts it, when it is not on the PATH. */
const findGo = (): string | null => findProgram('go', ['/usr/local/go/bin']);

const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`;
