import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { ImageLock, LockedPackage } from './image-lock.ts';
import { runCommand } from './run-command.ts';

/**
 * Where the machine says where Debian is, the first that there is. The variable also serves machines that are not
 * Debian, and snapshots of it.
 */
const SOURCES = [
  process.env['SLIPWAY_DEBIAN_SOURCES'],
  '/etc/apt/sources.list.d/debian.sources',
  '/etc/apt/sources.list',
];
const MINUTES = 60_000;

/**
 * apt with a state of its own, below the cache: it reads and changes no package of this machine. What it fetches is
 * checked by apt against Debian's signed index, and by us against the lock.
 */
export class DebianArchive {
  readonly #folder: string;
  readonly #architecture: string;
  readonly #signal: AbortSignal;

  constructor(folder: string, architecture: string, signal: AbortSignal) {
    this.#folder = folder;
    this.#architecture = architecture;
    this.#signal = signal;
  }

  /** Rereads Debian's index. @throws Error when it cannot be reached; then nothing is resolved or fetched. */
  async update(): Promise<void> {
    const sources = SOURCES.find((file) => file !== undefined && existsSync(file));
    if (sources === undefined)
      throw new Error(
        "No file says where Debian's packages are. Name one in SLIPWAY_DEBIAN_SOURCES (format: man 5 sources.list), or build with the Dockerfile.",
      );
    for (const folder of ['state/lists/partial', 'cache/archives/partial', 'etc/sources'])
      await mkdir(path.join(this.#folder, folder), { recursive: true });
    await writeFile(path.join(this.#folder, 'state/status'), '');
    await writeFile(path.join(this.#folder, 'apt.conf'), this.#configuration());
    await copyFile(
      sources,
      path.join(this.#folder, 'etc/sources', sources.endsWith('.sources') ? 'debian.sources' : 'debian.list'),
    );
    await this.#apt('apt-get', ['update', '-qq'], 5 * MINUTES);
  }

  /** Every package that an empty machine would get with these, without what is merely recommended. */
  async resolve(names: readonly string[]): Promise<LockedPackage[]> {
    const simulated = await this.#apt(
      'apt-get',
      ['install', '--simulate', '--yes', '?essential', ...names],
      2 * MINUTES,
    );
    const found = [...simulated.matchAll(/^Inst (\S+) \((\S+) .*\[(\w+)\]\)/gm)].map(
      ([, name = '', version = '', architecture = '']) => ({
        name,
        version,
        architecture,
      }),
    );
    const shown = await this.#apt(
      'apt-cache',
      ['show', ...found.map(({ name, version }) => `${name}=${version}`)],
      2 * MINUTES,
    );
    const records = new Map(
      shown.split(/\n\n+/).map((record) => [`${fieldOf(record, 'Package')}=${fieldOf(record, 'Version')}`, record]),
    );
    return found.map((one) => {
      const record = records.get(`${one.name}=${one.version}`) ?? '';
      return { ...one, sha256: fieldOf(record, 'SHA256'), size: Number(fieldOf(record, 'Size')) };
    });
  }

  /**
   * Puts every package of the lock into `folder` as `SHA256.deb`; those that lie there stay. @returns how many came
   * over the network.
   */
  async fetch(lock: ImageLock, folder: string): Promise<number> {
    await mkdir(folder, { recursive: true });
    const missing = lock.packages.filter(({ sha256 }) => !existsSync(path.join(folder, `${sha256}.deb`)));
    if (missing.length === 0) return 0;
    await this.update();
    const incoming = await mkdtemp(path.join(this.#folder, 'incoming-'));
    try {
      const wanted = missing.map(({ name, version, architecture }) =>
        `${name}:${architecture}=${version}`.replace(':all=', '='),
      );
      await this.#apt('apt-get', ['download', '-qq', ...wanted], 15 * MINUTES, incoming).catch((error: unknown) => {
        throw new Error(
          `Debian's archive, as this machine knows it, does not give out every package of packages.lock: ${error instanceof Error ? error.message : error}\n` +
            "Renew the lock (npm run image -- lock), or name a snapshot of the lock's day in SLIPWAY_DEBIAN_SOURCES.",
          { cause: error },
        );
      });
      const bySum = new Map(
        await Promise.all(
          (await readdir(incoming)).map(async (name) => [await sha256Of(path.join(incoming, name)), name] as const),
        ),
      );
      for (const { name, version, sha256 } of missing) {
        const file = bySum.get(sha256);
        if (file === undefined)
          throw new Error(
            `${name} ${version} from the archive is not the one in packages.lock: its SHA-256 differs. Nothing was built.`,
          );
        await rename(path.join(incoming, file), path.join(folder, `${sha256}.deb`));
      }
    } finally {
      await rm(incoming, { recursive: true, force: true });
    }
    return missing.length;
  }

  #apt(program: string, args: readonly string[], timeout: number, cwd = this.#folder): Promise<string> {
    return runCommand(program, args, {
      cwd,
      env: { APT_CONFIG: path.join(this.#folder, 'apt.conf') },
      timeout,
      signal: this.#signal,
    });
  }

  #configuration(): string {
    return [
      `Dir "${this.#folder}"; Dir::State "state"; Dir::State::status "state/status"; Dir::Cache "cache"; Dir::Etc "etc";`,
      'Dir::Etc::sourcelist "/dev/null"; Dir::Etc::sourceparts "sources"; Dir::Etc::parts "/dev/null"; Dir::Etc::preferencesparts "/dev/null";',
      `APT::Architecture "${this.#architecture}"; APT::Architectures "${this.#architecture}";`,
      'APT::Install-Recommends "false"; APT::Sandbox::User "root"; Acquire::Languages "none"; Acquire::Retries "3";',
      '',
    ].join('\n');
  }
}

export async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash);
  return hash.digest('hex');
}

function fieldOf(record: string, name: string): string {
  return new RegExp(`^${name}: (.*)$`, 'm').exec(record)?.[1]?.trim() ?? '';
}
