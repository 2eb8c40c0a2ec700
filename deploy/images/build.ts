// `npm run image [-- lock]`: makes the sandbox image of this checkout and says where it is; `lock` first asks Debian and npm for what is newest and writes packages.lock.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DebianArchive } from './debian-archive.ts';
import { formatLock } from './image-lock.ts';
import { ROOT } from './image-parts.ts';
import { imageCacheFolder } from './layer-cache.ts';
import { resolveNpm } from './npm-package.ts';
import { buildSandboxImage, LOCK_FILE } from './sandbox-image.ts';

const SUITE = 'bookworm';
const NPM_RANGE = '11';

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort(new Error(`stopped by ${signal}`)));
const [command = 'build'] = process.argv.slice(2);
const began = performance.now();

try {
  if (command === 'lock') await writeLock();
  else if (command === 'build') await build();
  else throw new Error(`\`${command}\` is no command: npm run image, or npm run image -- lock.`);
} catch (error) {
  console.error(`The sandbox image was not made: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}

async function build(): Promise<void> {
  const nx = path.join(ROOT, 'node_modules/nx/dist/bin/nx.js');
  const built = spawnSync(process.execPath, [nx, 'run-many', '-t', 'build', '-p', '@slipway/agent-server,@slipway/action-server', '--outputStyle=static'], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  if (built.status !== 0) throw new Error(`the build of the bundles failed:\n${built.stdout}${built.stderr}`);
  const image = await buildSandboxImage({ signal: stop.signal, say: console.log });
  const mb = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;
  console.log(`${image.name}
  tags     ${image.tags.source} ${image.tags.lock} ${image.tags.versioned}
  archive  ${image.archive} (${mb(image.size)}, unpacked ${mb(image.unpacked)})
  import   ctr -n k8s.io images import ${image.archive}
  made     ${image.made.join('; ') || 'nothing: no input changed'}; ${((performance.now() - began) / 1000).toFixed(1)} s`);
}

async function writeLock(): Promise<void> {
  const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';
  const debian = new DebianArchive(path.join(imageCacheFolder(), `apt-${architecture}`), architecture, stop.signal);
  const wanted = readFileSync(path.join(import.meta.dirname, 'sandbox/packages.list'), 'utf8').split('\n');
  const names = wanted.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
  await debian.update();
  const [packages, npm] = [await debian.resolve(names), await resolveNpm(NPM_RANGE, stop.signal)];
  const day = 86_400;
  writeFileSync(LOCK_FILE, formatLock({ suite: SUITE, architecture, epoch: Math.floor(Date.now() / 1000 / day) * day, packages, npm }));
  console.log(
    `${LOCK_FILE}: ${packages.length} packages, ${(packages.reduce((sum, { size }) => sum + size, 0) / 1e6).toFixed(0)} MB to fetch, npm ${npm.version}`,
  );
}
