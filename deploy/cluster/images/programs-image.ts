import { execFileSync } from 'node:child_process';
import { lstatSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { digestsOf, withFolders } from '../../images/image-parts.ts';
import { LAYER_FORMAT, type LayerEntry, writeLayer } from '../../images/layer.ts';
import { imageCacheFolder, LayerCache } from '../../images/layer-cache.ts';
import { type ImageConfig, writeOciArchive } from '../../images/oci-archive.ts';
import { digestOf } from '../../images/tags.ts';

export interface TestImage {
  /** What a pod names: `slipway-test/redis:1`. */
  readonly reference: string;
  readonly digest: string;
  /** An OCI archive in the cache of images. */
  readonly archivePath: string;
}

/** An image of files of this machine: for tests on this machine only. The same files make the same digest. */
export async function programsImage(
  name: string,
  files: readonly LayerEntry[],
  config: ImageConfig,
  signal: AbortSignal,
): Promise<TestImage> {
  const cache = new LayerCache(imageCacheFolder());
  const folders = ['tmp', 'proc', 'dev', 'sys'].map(
    (at): LayerEntry => ({
      kind: 'directory',
      path: at,
      mode: at === 'tmp' ? 0o1777 : 0o755,
      uid: 0,
      gid: 0,
      mtime: 0,
    }),
  );
  const entries = withFolders([...onePerPath(files), ...folders]);
  const empty = entries.filter(({ kind }) => kind === 'directory').map(({ path: at, mode }) => `${at} ${mode}`);
  const key = digestOf({
    ...(await digestsOf(entries)),
    folders: empty.sort().join('\n'),
    config: JSON.stringify(config),
    format: LAYER_FORMAT,
  });
  const layer = await cache.layer(`test-${name}-${key}`, (file) => writeLayer(entries, file, signal));
  const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';
  const plan = { architecture, created: new Date(0).toISOString(), config, layers: [{ note: name, ...layer }] };
  const { file, digest } = await cache.archive(`test-${name}-${key}`, (target) =>
    writeOciArchive(plan, `docker.io/slipway-test/${name}`, ['1'], target, signal),
  );
  return { reference: `slipway-test/${name}:1`, digest, archivePath: file };
}

/**
 * A program of this machine, at `to`, with every library that it loads, at the paths where the loader searches them.
 */
export function programWithLibraries(from: string, to: string): LayerEntry[] {
  return [copied(realpathSync(from), to, 0o755), ...librariesOf(from)];
}

/** The libraries that a program or library loads, but for those that lie below `except`, which are copied with it. */
export function librariesOf(file: string, except?: string): LayerEntry[] {
  const said = execFileSync('ldd', [file], { encoding: 'utf8', timeout: 30_000 });
  const paths = [...said.matchAll(/(?:=> )?(\/\S+) \(0x[0-9a-f]+\)/g)].map(([, found = '']) => found);
  return paths
    .filter((found) => except === undefined || !found.startsWith(`${except}/`))
    .map((found) => copied(realpathSync(found), found.slice(1), 0o755));
}

/** One file of this machine, as root's. */
export function copied(from: string, to: string, mode: number): LayerEntry {
  if (lstatSync(from).isSymbolicLink()) throw new Error(`${from} is a link; name its target.`);
  const size = statSync(from).size;
  return { kind: 'file', path: to, mode, uid: 0, gid: 0, mtime: 0, size, from };
}

export function written(to: string, content: string, mode = 0o644): LayerEntry {
  const from = Buffer.from(content);
  return { kind: 'file', path: to, mode, uid: 0, gid: 0, mtime: 0, size: from.length, from };
}

/** Two programs may load one library. */
function onePerPath(files: readonly LayerEntry[]): LayerEntry[] {
  return [...new Map(files.map((file) => [path.posix.normalize(file.path), file])).values()];
}
