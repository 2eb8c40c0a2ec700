// `npm run image [-- APP… | all | list | lock | --with=OPTION,…]`: makes the sandbox image of this checkout, with
// options of image-options.ts, or those of the named apps, and says where they are; `lock` asks Debian and npm for what
// is newest and writes packages.lock and the options' locks, `lock OPTION…` theirs alone.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { buildAppImage } from './app-image.ts';
import { APP_NAMES, type AppName, isApp } from './apps/app-list.ts';
import { DebianArchive } from './debian-archive.ts';
import { everyImage } from './image-list.ts';
import { formatLock, parseLock } from './image-lock.ts';
import { formatOptionLock, OPTION_NAMES, type OptionName, optionFile, readList, readOptions } from './image-options.ts';
import { ROOT } from './image-parts.ts';
import { imageCacheFolder } from './layer-cache.ts';
import { resolveNpm } from './npm-package.ts';
import { buildSandboxImage, LOCK_FILE } from './sandbox-image.ts';

const SUITE = 'bookworm';
const NPM_RANGE = '11';

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => stop.abort(new Error(`stopped by ${signal}`)));
const names = process.argv.slice(2);
const [command = 'build'] = names;
const began = performance.now();

try {
  if (command === 'lock') await writeLocks(names.slice(1));
  else if (command === 'build') await build([]);
  else if (command.startsWith('--with=')) await build(readOptions(command.slice('--with='.length)));
  else if (command === 'list') await list();
  else if (command === 'all') await buildApps(APP_NAMES);
  else if (names.every(isApp)) await buildApps(names);
  else
    throw new Error(
      `\`${names.join(' ')}\` is no command: npm run image, or npm run image -- lock, all, list, or names of ${APP_NAMES.join(', ')}.`,
    );
} catch (error) {
  console.error(`The image was not built: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}

/** Hoisted, because the commands run above. */
function mb(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}

function buildProjects(names: readonly string[]): void {
  const nx = path.join(ROOT, 'node_modules/nx/dist/bin/nx.js');
  const projects = names.map((name) => `@slipway/${name}`).join(',');
  const built = spawnSync(process.execPath, [nx, 'run-many', '-t', 'build', '-p', projects, '--outputStyle=static'], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  if (built.status !== 0) throw new Error(`the build of ${names.join(', ')} failed:\n${built.stdout}${built.stderr}`);
}

/**
 * Name in a registry and archive of each image of an installation, one a line, for scripts: docs/operate/release.md.
 */
async function list(): Promise<void> {
  buildProjects([...APP_NAMES, 'agent-server', 'action-server']);
  for (const { name, archive } of await everyImage(stop.signal)) console.log(`${name} ${archive}`);
}

async function buildApps(names: readonly AppName[]): Promise<void> {
  buildProjects(names);
  for (const name of names) {
    const image = await buildAppImage(name, { signal: stop.signal });
    console.log(`${image.reference}@${image.digest}
  archive  ${image.archivePath} (${mb(image.size)}, unpacked ${mb(image.unpacked)})
  beside   ${path.basename(image.billPath)}, ${path.basename(image.licencesPath)}
  import   ctr -n k8s.io images import ${image.archivePath}
  made     ${image.made.join('; ') || 'nothing: no input changed'}`);
  }
}

async function build(options: readonly OptionName[]): Promise<void> {
  buildProjects(['agent-server', 'action-server']);
  const image = await buildSandboxImage({ signal: stop.signal, say: console.log, options });
  console.log(`${image.name}
  tags     ${image.tags.source} ${image.tags.lock} ${image.tags.versioned}
  archive  ${image.archive} (${mb(image.size)}, unpacked ${mb(image.unpacked)})
  import   ctr -n k8s.io images import ${image.archive}
  made     ${image.made.join('; ') || 'nothing: no input changed'}; ${((performance.now() - began) / 1000).toFixed(1)} s`);
}

/** @param options locks of these alone [all, and the base's]. */
async function writeLocks(options: readonly string[]): Promise<void> {
  const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';
  const debian = new DebianArchive(path.join(imageCacheFolder(), `apt-${architecture}`), architecture, stop.signal);
  await debian.update();
  if (options.length === 0) await writeBaseLock(debian, architecture);
  for (const option of options.length === 0 ? OPTION_NAMES : readOptions(options.join(',')))
    await writeOptionLock(debian, option);
}

async function writeOptionLock(debian: DebianArchive, option: OptionName): Promise<void> {
  const wanted = readList(option);
  const base = parseLock(readFileSync(LOCK_FILE, 'utf8')).packages;
  const known = new Set(base.map(({ name }) => name));
  const found = wanted.debian.length === 0 ? [] : await debian.resolve([...baseNames(), ...wanted.debian]);
  const packages = found.filter(({ name }) => !known.has(name));
  const npm =
    wanted.npm === null ? undefined : { name: wanted.npm, ...(await resolveNpm(wanted.npm, 'latest', stop.signal)) };
  writeFileSync(optionFile(option, 'lock'), formatOptionLock({ packages, ...(npm === undefined ? {} : { npm }) }));
  console.log(
    `${option}: ${packages.length} packages, ${mb(packages.reduce((sum, { size }) => sum + size, 0))} to fetch${npm === undefined ? '' : `, ${npm.name} ${npm.version}`}`,
  );
}

function baseNames(): string[] {
  const wanted = readFileSync(path.join(import.meta.dirname, 'sandbox/packages.list'), 'utf8').split('\n');
  return wanted.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
}

async function writeBaseLock(debian: DebianArchive, architecture: string): Promise<void> {
  const names = baseNames();
  const [packages, npm] = [await debian.resolve(names), await resolveNpm('npm', NPM_RANGE, stop.signal)];
  const day = 86_400;
  writeFileSync(
    LOCK_FILE,
    formatLock({ suite: SUITE, architecture, epoch: Math.floor(Date.now() / 1000 / day) * day, packages, npm }),
  );
  console.log(
    `${LOCK_FILE}: ${packages.length} packages, ${(packages.reduce((sum, { size }) => sum + size, 0) / 1e6).toFixed(0)} MB to fetch, npm ${npm.version}`,
  );
}
