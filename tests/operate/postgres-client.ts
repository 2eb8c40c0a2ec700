import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

/** The major version of the embedded server: pg_dump refuses a server that is newer than itself. */
const MAJOR = 18;
const PROGRAMS = ['pg_dump', 'pg_restore', 'psql'] as const;
/** The first Debian release that has it; older machines fetch from it into a folder of their own. */
const SUITE = 'forky';
/** The client and every library that it links, its libc included: this machine's may be older. */
const PACKAGES = [`postgresql-client-${MAJOR}`, 'libpq5'].concat(
  [
    'libc6',
    'libssl3t64',
    'libgssapi-krb5-2',
    'libkrb5-3',
    'libk5crypto3',
    'libkrb5support0',
    'libcom-err2',
    'libkeyutils1',
    'libldap2',
    'libsasl2-2',
  ],
  ['zlib1g', 'liblz4-1', 'libzstd1', 'libxxhash0', 'libreadline8t64', 'libtinfo6'],
);
const CACHE = path.join(os.homedir(), '.cache', 'slipway', 'postgres-client', String(MAJOR));
const MINUTES = 60_000;

const run = promisify(execFile);

/**
 * A folder with pg_dump, pg_restore and psql that fit the embedded server: this machine's own, or Debian's, fetched
 * once into the cache with apt (a state of its own, nothing is installed).
 * @returns a sentence that says why there is none, when there is none.
 */
export async function openPostgresClient(): Promise<{ readonly folder: string } | string> {
  const own = [`/usr/lib/postgresql/${MAJOR}/bin`, ...(process.env['PATH'] ?? '').split(path.delimiter)];
  for (const folder of [...own, path.join(CACHE, 'bin')]) if (await fits(folder)) return { folder };
  try {
    await fetchFromDebian();
    if (await fits(path.join(CACHE, 'bin'))) return { folder: path.join(CACHE, 'bin') };
    return `The pg_dump that Debian ${SUITE} has does not run here.`;
  } catch (error) {
    const said = (error as { stderr?: string }).stderr?.trim().split('\n').at(-1) ?? String(error);
    return `There is no pg_dump ${MAJOR}: install postgresql-client-${MAJOR}. Fetching Debian's failed: ${said}`;
  }
}

async function fits(folder: string): Promise<boolean> {
  try {
    for (const program of PROGRAMS)
      if (!(await run(path.join(folder, program), ['--version'])).stdout.includes(`(PostgreSQL) ${MAJOR}.`))
        return false;
    return true;
  } catch {
    return false;
  }
}

/** Programs that start with the libraries that came with them. */
async function fetchFromDebian(): Promise<void> {
  await mkdir(path.dirname(CACHE), { recursive: true });
  const draft = await mkdtemp(`${CACHE}-`);
  try {
    const env = { ...process.env, APT_CONFIG: await aptConfiguration(draft) };
    const debs = path.join(draft, 'debs');
    await mkdir(debs);
    await run('apt-get', ['update', '-qq'], { env, timeout: 3 * MINUTES });
    await run('apt-get', ['download', '-qq', ...PACKAGES], { env, cwd: debs, timeout: 3 * MINUTES });
    for (const deb of await readdir(debs))
      await run('dpkg-deb', ['-x', path.join(debs, deb), path.join(draft, 'root')]);
    const libraries = (
      await run('dirname', [
        (await run('find', [path.join(draft, 'root/usr/lib'), '-name', 'libpq.so.5'])).stdout.trim(),
      ])
    ).stdout.trim();
    const loader = (await readdir(libraries)).find((name) => /^ld-linux.*\.so/.test(name));
    if (loader === undefined) throw new Error('the packages have no loader');
    await mkdir(path.join(draft, 'bin'));
    for (const program of PROGRAMS) {
      const at = (file: string): string => `"$here/${path.relative(draft, file)}"`;
      const real = path.join(draft, 'root/usr/lib/postgresql', String(MAJOR), 'bin', program);
      const script = `#!/bin/sh\nhere=$(dirname "$0")/..\nexec ${at(path.join(libraries, loader))} --library-path ${at(libraries)} ${at(real)} "$@"\n`;
      await writeFile(path.join(draft, 'bin', program), script);
      await chmod(path.join(draft, 'bin', program), 0o755);
    }
    for (const rest of ['debs', 'state', 'cache']) await rm(path.join(draft, rest), { recursive: true, force: true });
    await rm(CACHE, { recursive: true, force: true });
    await rename(draft, CACHE);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** apt with a state of its own, of the suite that has the client, from where this machine gets its packages. */
async function aptConfiguration(folder: string): Promise<string> {
  const sources = ['/etc/apt/sources.list.d/debian.sources', '/etc/apt/sources.list'].find((file) => existsSync(file));
  const text = sources === undefined ? '' : (await readFile(sources, 'utf8')).replace(/^#.*$/gm, '');
  const archive = /\bhttps?:\/\/\S+\/debian\b/.exec(text)?.[0];
  const signed = /^Signed-By:.*$/m.exec(text)?.[0] ?? '';
  if (archive === undefined) throw new Error('this machine does not say where Debian is');
  for (const needed of ['state/lists/partial', 'cache/archives/partial', 'etc/sources'])
    await mkdir(path.join(folder, needed), { recursive: true });
  await writeFile(path.join(folder, 'state/status'), '');
  await writeFile(
    path.join(folder, 'etc/sources/debian.sources'),
    `Types: deb\nURIs: ${archive}\nSuites: ${SUITE}\nComponents: main\n${signed}\n`,
  );
  const file = path.join(folder, 'apt.conf');
  const lines = [
    `Dir "${folder}"; Dir::State "state"; Dir::State::status "state/status"; Dir::Cache "cache"; Dir::Etc "etc";`,
    'Dir::Etc::sourcelist "/dev/null"; Dir::Etc::sourceparts "sources"; Dir::Etc::parts "/dev/null"; Dir::Etc::preferencesparts "/dev/null";',
    'Dir::Etc::trustedparts "/etc/apt/trusted.gpg.d";',
    'APT::Sandbox::User "root"; Acquire::Languages "none"; Acquire::Retries "2"; Acquire::Check-Valid-Until "false";',
  ];
  await writeFile(file, `${lines.join('\n')}\n`);
  return file;
}
