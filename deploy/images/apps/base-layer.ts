import { readdirSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DebianArchive } from '../debian-archive.ts';
import type { ImageLock, LockedPackage } from '../image-lock.ts';
import { entriesOf, LAYER_FORMAT, type Layer, writeLayer } from '../layer.ts';
import type { LayerCache } from '../layer-cache.ts';
import { runCommand } from '../run-command.ts';
import { digestOf } from '../tags.ts';

const SCRIPT = path.join(import.meta.dirname, 'base-root.sh');
export const BASE_LIST = path.join(import.meta.dirname, 'base-packages.list');
const MINUTES = 60_000;

/** Text of /usr/share/doc/NAME/copyright by package. */
export type Copyrights = Readonly<Record<string, string>>;

/** The packages of base-packages.list, as the sandbox image's lock pins them. @throws Error when it does not. */
export function basePackages(lock: ImageLock): LockedPackage[] {
  const names = readFileSync(BASE_LIST, 'utf8')
    .split('\n')
    .filter((line) => /^[a-z]/.test(line));
  return names.map((name) => {
    const found = lock.packages.find((one) => one.name === name);
    if (found === undefined)
      throw new Error(
        `${name} of base-packages.list is not in packages.lock. Name it in sandbox/packages.list too, and run \`npm run image -- lock\`.`,
      );
    return found;
  });
}

/** Debian, as much of it as Node needs: the lowest layer of every app's image. Needs `dpkg-deb`, and no rights. */
export async function baseLayer(
  lock: ImageLock,
  cache: LayerCache,
  signal: AbortSignal,
): Promise<Layer & { readonly file: string; readonly made: boolean; readonly copyrights: Copyrights }> {
  const packages = basePackages(lock);
  const key = digestOf({
    packages: JSON.stringify(packages),
    epoch: String(lock.epoch),
    script: readFileSync(SCRIPT, 'utf8'),
    list: readFileSync(BASE_LIST, 'utf8'),
    format: LAYER_FORMAT,
  });
  const layer = await cache.layer(`app-base-${key}`, async (file) => {
    const debs = path.join(cache.folder, 'debs');
    await new DebianArchive(path.join(cache.folder, `apt-${lock.architecture}`), lock.architecture, signal).fetch(
      { ...lock, packages },
      debs,
    );
    const work = await cache.workFolder();
    try {
      const [named, root] = [path.join(work, 'debs'), path.join(work, 'root')];
      await mkdir(named);
      for (const { name, sha256 } of packages)
        await copyFile(path.join(debs, `${sha256}.deb`), path.join(named, `${name}.deb`));
      await runCommand('sh', [SCRIPT, named, root, BASE_LIST], { timeout: 2 * MINUTES, signal });
      await writeFile(
        path.join(path.dirname(file), 'copyrights.json'),
        JSON.stringify(copyrightsBelow(path.join(root, 'usr/share/doc'))),
      );
      return await writeLayer(await entriesOf(root, '', { youngest: lock.epoch, owner: 0 }), file, signal);
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  });
  return {
    ...layer,
    copyrights: JSON.parse(
      await readFile(path.join(path.dirname(layer.file), 'copyrights.json'), 'utf8'),
    ) as Copyrights,
  };
}

/** Packages of one source share a folder by a link to it. */
function copyrightsBelow(docs: string): Copyrights {
  return Object.fromEntries(
    readdirSync(docs).map((name) => [name, readFileSync(path.join(docs, name, 'copyright'), 'utf8')]),
  );
}
