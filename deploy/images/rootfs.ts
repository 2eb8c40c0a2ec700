import { existsSync, globSync, readFileSync } from 'node:fs';
import { chmod, copyFile, cp, mkdir, readdir, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ImageLock } from './image-lock.ts';
import { runCommand } from './run-command.ts';

const RECIPE = path.join(import.meta.dirname, 'sandbox');
/** What dpkg and the packages' own scripts leave that is of one build alone, or of no use in a sandbox. */
const LEFTOVERS = [
  'dev', 'run', 'tmp', 'proc', 'sys', 'root', 'boot', 'home', 'media', 'mnt', 'srv',
  'var/log', 'var/cache/apt', 'var/cache/debconf', 'var/cache/ldconfig', 'var/lib/apt/lists', 'var/tmp', 'usr/share/doc-base', 'usr/share/info', 'usr/share/man',
]; // biome-ignore format: a list reads better in lines
const KEPT_IN_HOME = ['agent'];
const MINUTES = 60_000;

/**
 * A Debian root at `root`, made of the locked packages and sandbox/setup-root.sh and of nothing else of this machine.
 * Needs root, for chroot. The packages' scripts run inside with no device but the four that are made for them, and may
 * start no service.
 *
 * @throws Error with the end of dpkg's output; what lies at `root` is then of no use.
 */
export async function makeRootfs(root: string, lock: ImageLock, debs: string, signal: AbortSignal): Promise<void> {
  if (process.getuid?.() !== 0)
    throw new Error(
      'The packages are installed below a chroot, which needs root: run it as root, or build with the Dockerfile.',
    );
  const environment = {
    PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
    DEBIAN_FRONTEND: 'noninteractive',
    HOME: '/root',
    // Not that of this machine, which is not there inside.
    TMPDIR: '/tmp',
    PYTHONHASHSEED: '0',
    SOURCE_DATE_EPOCH: String(lock.epoch),
  };
  const inside = (...command: readonly string[]): Promise<string> =>
    runCommand('/usr/sbin/chroot', [root, ...command], { env: environment, timeout: 10 * MINUTES, signal });

  for (const folder of ['bin', 'sbin', 'lib', 'lib64']) {
    await mkdir(path.join(root, 'usr', folder), { recursive: true });
    await symlink(`usr/${folder}`, path.join(root, folder));
  }
  // dpkg runs in there from the first package on, so all of them are laid out first and installed over themselves.
  for (const { sha256 } of lock.packages) {
    await runCommand(
      '/bin/sh',
      [
        '-c',
        'dpkg-deb --fsys-tarfile "$1" | tar -x -C "$2" -p --same-owner --numeric-owner --keep-directory-symlink',
        'sh',
        path.join(debs, `${sha256}.deb`),
        root,
      ],
      { timeout: MINUTES, signal },
    );
  }
  await mkdir(path.join(root, 'debs'));
  for (const { name, sha256 } of lock.packages)
    await copyFile(path.join(debs, `${sha256}.deb`), path.join(root, 'debs', `${name}.deb`));
  await mkdir(path.join(root, 'etc/dpkg/dpkg.cfg.d'), { recursive: true });
  await copyFile(path.join(RECIPE, 'dpkg-slim.cfg'), path.join(root, 'etc/dpkg/dpkg.cfg.d/slipway-slim'));
  await writeFile(path.join(root, 'usr/sbin/policy-rc.d'), '#!/bin/sh\nexit 101\n');
  await chmod(path.join(root, 'usr/sbin/policy-rc.d'), 0o755);
  for (const [name, minor] of [
    ['null', 3],
    ['zero', 5],
    ['random', 8],
    ['urandom', 9],
  ] as const) {
    await runCommand('mknod', ['-m', '666', path.join(root, 'dev', name), 'c', '1', String(minor)], {
      timeout: MINUTES,
      signal,
    });
  }
  await symlink('mawk', path.join(root, 'usr/bin/awk'));
  await writeFile(path.join(root, 'var/lib/dpkg/status'), '');
  await writeFile(path.join(root, 'var/lib/dpkg/available'), '');

  const files = lock.packages.map(({ name }) => `/debs/${name}.deb`);
  await inside(
    'dpkg',
    '--force-depends',
    '--force-unsafe-io',
    '--install',
    '/debs/base-passwd.deb',
    '/debs/base-files.deb',
  );
  await inside('dpkg', '--force-depends', '--force-unsafe-io', '--unpack', ...files);
  await inside('dpkg', '--configure', '--pending');
  await cp(path.join(RECIPE, 'setup-root.sh'), path.join(root, 'debs/setup-root.sh'));
  await inside('sh', '/debs/setup-root.sh');
  await clean(root);
}

async function clean(root: string): Promise<void> {
  await rm(path.join(root, 'debs'), { recursive: true });
  await rm(path.join(root, 'usr/sbin/policy-rc.d'));
  for (const folder of LEFTOVERS) {
    for (const name of await readdir(path.join(root, folder)).catch(() => [])) {
      if (folder === 'home' && KEPT_IN_HOME.includes(name)) continue;
      await rm(path.join(root, folder, name), { recursive: true });
    }
  }
  for (const folder of ['var/lib/dpkg', 'etc']) {
    for (const name of await readdir(path.join(root, folder)))
      if (/(-old|-)$/.test(name)) await rm(path.join(root, folder, name));
  }
  // Laid out before dpkg knew what to leave out.
  for (const name of await readdir(path.join(root, 'usr/share/doc'))) {
    const folder = path.join(root, 'usr/share/doc', name);
    for (const file of await readdir(folder).catch(() => []))
      if (file !== 'copyright') await rm(path.join(folder, file), { recursive: true });
  }
  for (const name of await readdir(path.join(root, 'usr/share/locale')))
    if (name !== 'locale.alias') await rm(path.join(root, 'usr/share/locale', name), { recursive: true });
  for (const header of globSync('usr/lib/*/perl/*/CORE/*.h', { cwd: root })) await rm(path.join(root, header));
  for (const name of ['lintian', 'bug']) await rm(path.join(root, 'usr/share', name), { recursive: true, force: true });
  if (existsSync(path.join(root, 'etc/machine-id'))) await truncate(path.join(root, 'etc/machine-id'));
}

/** What `makeRootfs` makes of a lock depends on these texts too. */
export function recipeTexts(): string[] {
  return [...['setup-root.sh', 'dpkg-slim.cfg'].map((name) => path.join(RECIPE, name)), import.meta.filename].map(
    (file) => readFileSync(file, 'utf8'),
  );
}
