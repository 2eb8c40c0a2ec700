import { readFileSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { DebianArchive, sha256Of } from './debian-archive.ts';
import { type ImageLock, parseLock } from './image-lock.ts';
import { lockWith, type OptionName, readLock } from './image-options.ts';
import {
  type BundleName,
  browserDriverEntries,
  builtBundle,
  bundleEntries,
  digestsOf,
  IMAGE_CONFIG,
  IMAGE_NAME,
  NPMRC,
  nodeBinary,
  nodeEntries,
  ROOT,
} from './image-parts.ts';
import { entriesOf, LAYER_FORMAT, writeLayer } from './layer.ts';
import { imageCacheFolder, LayerCache } from './layer-cache.ts';
import { npmEntries } from './npm-package.ts';
import { writeOciArchive } from './oci-archive.ts';
import { makeRootfs, recipeTexts } from './rootfs.ts';
import { digestOf, type ImageTags, imageTags } from './tags.ts';
import { VSCODE_RECIPE, vscodeEntries } from './vscode-layer.ts';

export const LOCK_FILE = path.join(import.meta.dirname, 'sandbox/packages.lock');

export interface SandboxImage {
  /** An OCI layout in one tar. In the cache: removed after a day without use. */
  readonly archive: string;
  /** What a pod names: `slipway.local/sandbox@sha256:…`. */
  readonly name: string;
  readonly digest: string;
  readonly tags: ImageTags;
  /** Layers that this call made; the others were there. */
  readonly made: readonly string[];
  /** Bytes of the image's files, and of what is stored and moved. */
  readonly unpacked: number;
  readonly size: number;
}

export interface BuildOptions {
  /** Aborted, nothing half-made is left in the cache. */
  readonly signal: AbortSignal;
  /** [the user's cache] */
  readonly cache?: string;
  readonly say?: (line: string) => void;
  /** What it holds beside the base [nothing]. */
  readonly options?: readonly OptionName[];
  /** [as this checkout built them] */
  readonly bundle?: (name: BundleName) => string;
}

/**
 * The sandbox image of this checkout: Debian's packages by the lock, the project's Node, the two bundles as they are
 * built now. A layer is made only when what goes into it changed. Same inputs, same digest, on every machine.
 *
 * @throws Error that says what to install, build or allow. The first build fetches 80 MB of packages and needs root.
 */
export async function buildSandboxImage({
  signal,
  cache: folder = imageCacheFolder(),
  say = () => {},
  options = [],
  bundle = builtBundle,
}: BuildOptions): Promise<SandboxImage> {
  const lockText = readFileSync(LOCK_FILE, 'utf8');
  const lock = lockWith(parseLock(lockText), options);
  const vscode = options.includes('vscode') ? readLock('vscode').npm : undefined;
  const cache = new LayerCache(folder);
  const node = nodeBinary(lock.architecture);
  const bundles = await bundleEntries(lock.architecture, bundle);
  const nodeSum = await sha256Of(node.file);
  const added = options.flatMap((option) => readLock(option).packages);
  const driver = options.includes('browser') ? await browserDriverEntries() : [];
  const parts = {
    // With options that add no package the base's layer is the same one.
    packages: digestOf({
      lock: lockText,
      recipe: recipeTexts().join('\0'),
      format: LAYER_FORMAT,
      ...(added.length === 0 ? {} : { added: JSON.stringify(added) }),
    }),
    node: digestOf({ node: nodeSum, npm: lock.npm.integrity, npmrc: NPMRC.toString('utf8'), format: LAYER_FORMAT }),
    ...(vscode === undefined
      ? {}
      : { vscode: digestOf({ integrity: vscode.integrity, recipe: VSCODE_RECIPE, format: LAYER_FORMAT }) }),
    ...(driver.length === 0 ? {} : { driver: digestOf({ ...(await digestsOf(driver)), format: LAYER_FORMAT }) }),
  };
  const sources = await digestsOf(bundles);
  const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const variant = options.length === 0 ? '' : `-${options.join('-')}`;
  const tags = imageTags({
    version,
    base: `debian-${lock.suite}-${lock.architecture}${variant}`,
    lock: { ...parts, config: JSON.stringify(IMAGE_CONFIG) },
    sources,
  });

  const layers = [
    {
      note: `Debian ${lock.suite}: ${['packages.lock', ...options.filter((option) => option !== 'vscode').map((option) => `${option}.lock`)].join(', ')}`,
      ...(await cache.layer(`packages-${parts.packages}`, (file) => packagesLayer(lock, cache, file, signal, say))),
    },
    {
      note: `Node ${node.version}, npm ${lock.npm.version}`,
      ...(await cache.layer(`node-${parts.node}`, async (file) => {
        say(`Node ${node.version} and npm ${lock.npm.version} …`);
        const npm = await npmEntries(lock.npm, path.join(folder, 'npm'), 'usr/local/lib/node_modules/npm', signal);
        return writeLayer(await nodeEntries(node.file, statSync(node.file).size, npm), file, signal);
      })),
    },
    ...(vscode === undefined
      ? []
      : [
          {
            note: `VS Code: ${vscode.name} ${vscode.version}`,
            ...(await cache.layer(`vscode-${parts.vscode}`, async (file) => {
              say(`VS Code of ${vscode.name} ${vscode.version} …`);
              const work = await cache.workFolder();
              try {
                return await writeLayer(
                  await vscodeEntries(vscode, lock, path.join(folder, 'npm'), work, signal),
                  file,
                  signal,
                );
              } finally {
                await rm(work, { recursive: true, force: true });
              }
            })),
          },
        ]),
    ...(driver.length === 0
      ? []
      : [
          {
            note: 'playwright-core',
            ...(await cache.layer(`driver-${parts.driver}`, (file) => writeLayer(driver, file, signal))),
          },
        ]),
    {
      note: 'agent-server and action-server',
      ...(await cache.layer(`bundles-${digestOf({ ...sources, 'layer format': LAYER_FORMAT })}`, (file) =>
        writeLayer(bundles, file, signal),
      )),
    },
  ];
  const plan = {
    architecture: lock.architecture,
    created: new Date(lock.epoch * 1000).toISOString(),
    config: IMAGE_CONFIG,
    layers,
  };
  const names = [tags.source, tags.lock, tags.versioned];
  const { file, digest } = await cache.archive(digestOf({ tags: names.join(' ') }), (target) =>
    writeOciArchive(plan, IMAGE_NAME, names, target, signal),
  );
  await cache.prune();
  return {
    archive: file,
    name: `${IMAGE_NAME}@${digest}`,
    digest,
    tags,
    made: layers.filter(({ made }) => made).map(({ note }) => note),
    unpacked: layers.reduce((sum, { unpacked }) => sum + unpacked, 0),
    size: statSync(file).size,
  };
}

async function packagesLayer(
  lock: ImageLock,
  cache: LayerCache,
  file: string,
  signal: AbortSignal,
  say: (line: string) => void,
) {
  const debs = path.join(cache.folder, 'debs');
  const fetched = await new DebianArchive(
    path.join(cache.folder, `apt-${lock.architecture}`),
    lock.architecture,
    signal,
  ).fetch(lock, debs);
  say(`${lock.packages.length} packages of Debian ${lock.suite} (${fetched} fetched) …`);
  const work = await cache.workFolder();
  try {
    await makeRootfs(work, lock, debs, signal);
    // Made by fontconfig's own script of the moment of the build.
    await rm(path.join(work, 'var/cache/fontconfig'), { recursive: true, force: true });
    return await writeLayer(await entriesOf(work, '', { youngest: lock.epoch }), file, signal);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
