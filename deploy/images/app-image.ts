import { readFileSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { appContents, appLayerEntries } from './apps/app-contents.ts';
import { APPS, type AppName, type AppPlan } from './apps/app-list.ts';
import { baseLayer, basePackages } from './apps/base-layer.ts';
import { billOfMaterials } from './apps/bill-of-materials.ts';
import { sha256Of } from './debian-archive.ts';
import { parseLock } from './image-lock.ts';
import { digestsOf, NODE_PATH, nodeBinary, ROOT, withFolders } from './image-parts.ts';
import { LAYER_FORMAT, type LayerEntry, writeLayer } from './layer.ts';
import { imageCacheFolder, LayerCache } from './layer-cache.ts';
import { type ImageConfig, writeOciArchive } from './oci-archive.ts';
import { LOCK_FILE } from './sandbox-image.ts';
import { digestOf } from './tags.ts';

/** Of the one user of every app's image, and of its group. Charts and volumes name the number. */
export const APP_UID = 10_001;

export interface AppImage {
  /** What a pod names: `slipway/app-server:0.1.0`. */
  readonly reference: string;
  /** Of the manifest: `sha256:…`. `slipway/app-server@DIGEST` names this image and no other. */
  readonly digest: string;
  /** An OCI layout in one tar. In the cache: removed after a day without use. */
  readonly archivePath: string;
  /** Beside the archive: CycloneDX JSON, and the licences' texts. The image has both in /usr/share/doc/slipway. */
  readonly billPath: string;
  readonly licencesPath: string;
  /** Layers that this call made; the others were there. */
  readonly made: readonly string[];
  /** Bytes of the image's files, and of what is stored and moved. */
  readonly unpacked: number;
  readonly size: number;
}

export interface AppImageOptions {
  /** Aborted, nothing half-made is left in the cache. */
  readonly signal: AbortSignal;
  /** [the user's cache] */
  readonly cache?: string;
}

/**
 * The image of one app, from what the checkout's build left: a Debian of libraries alone, Node, and the app's programs,
 * each bundled into one file. A layer is made only when what goes into it changed; the lower two are those of all apps.
 * Same inputs, same digest, on every machine.
 *
 * @throws Error that says what to install or build.
 */
export function buildAppImage(app: AppName, options: AppImageOptions): Promise<AppImage> {
  return buildNodeImage('slipway', app, APPS[app], options);
}

/** Any image of that kind: `NAMESPACE/NAME`. */
export async function buildNodeImage(
  namespace: string,
  app: string,
  planned: AppPlan,
  { signal, cache: folder = imageCacheFolder() }: AppImageOptions,
): Promise<AppImage> {
  const lock = parseLock(readFileSync(LOCK_FILE, 'utf8'));
  const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const cache = new LayerCache(folder);
  const created = new Date(lock.epoch * 1000).toISOString();
  const base = await baseLayer(lock, cache, signal);
  const node = nodeBinary(lock.architecture);
  const nodeSum = await sha256Of(node.file);
  const nodeLayer = await cache.layer(`app-node-${digestOf({ node: nodeSum, format: LAYER_FORMAT })}`, (file) =>
    writeLayer(nodeFiles(node.file), file, signal),
  );

  const contents = await appContents(app, planned, version, signal);
  const debian = basePackages(lock).map((one) => ({ ...one, copyright: base.copyrights[one.name] ?? '' }));
  const bill = billOfMaterials({
    app,
    version,
    created,
    suite: lock.suite,
    node: { version: node.version, sha256: nodeSum },
    debian,
    npm: contents.npm,
  });
  const entries = appLayerEntries(contents, bill);
  const datadog =
    contents.datadog.length === 0
      ? null
      : digestOf({ ...(await digestsOf(contents.datadog)), 'layer format': LAYER_FORMAT });
  const own = digestOf({ ...(await digestsOf(entries)), 'layer format': LAYER_FORMAT });
  const layers = [
    { note: `Debian ${lock.suite}: libraries for Node`, ...base },
    { note: `Node ${node.version}`, ...nodeLayer },
    ...(datadog === null
      ? []
      : [
          {
            note: 'dd-trace',
            ...(await cache.layer(`app-datadog-${datadog}`, (file) => writeLayer(contents.datadog, file, signal))),
          },
        ]),
    { note: app, ...(await cache.layer(`app-${app}-${own}`, (file) => writeLayer(entries, file, signal))) },
  ];
  const plan = { architecture: lock.architecture, created, config: appConfig(app, planned, version), layers };
  const source = `source-${digestOf({ layers: layers.map(({ digest }) => digest).join(' '), config: JSON.stringify(plan.config) }).slice(0, 20)}`;
  const archive = await cache.archive(`${namespace}-${app}-${version}-${source}`, async (target) => {
    await writeFile(beside(target, 'sbom.cdx.json'), bill);
    await writeFile(beside(target, 'LICENSES.txt'), contents.licences);
    // containerd's full name of it, which is how a pod finds an imported image.
    return writeOciArchive(plan, `docker.io/${namespace}/${app}`, [version, source], target, signal);
  });
  await cache.prune();
  return {
    reference: `${namespace}/${app}:${version}`,
    digest: archive.digest,
    archivePath: archive.file,
    billPath: beside(archive.file, 'sbom.cdx.json'),
    licencesPath: beside(archive.file, 'LICENSES.txt'),
    made: layers.filter(({ made }) => made).map(({ note }) => note),
    unpacked: layers.reduce((sum, { unpacked }) => sum + unpacked, 0),
    size: statSync(archive.file).size,
  };
}

/** Default start of a container. The Dockerfile says the same; a test compares. */
export function appConfig(app: string, { description, port, entry, next }: AppPlan, version: string): ImageConfig {
  return {
    User: `${APP_UID}:${APP_UID}`,
    WorkingDir: '/opt/slipway',
    Env: ['PATH=/usr/local/bin', 'NODE_ENV=production', `PORT=${port}`, next ? 'HOSTNAME=0.0.0.0' : 'HOST=0.0.0.0'],
    Entrypoint: ['node', `/opt/slipway/${entry}`],
    ExposedPorts: { [`${port}/tcp`]: {} },
    StopSignal: 'SIGTERM',
    Labels: {
      'org.opencontainers.image.title': `Slipway ${app}`,
      'org.opencontainers.image.description': description,
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.licenses': 'MIT',
    },
  };
}

function nodeFiles(node: string): LayerEntry[] {
  const file = (name: string, mode: number, from: string): LayerEntry => ({
    kind: 'file',
    path: name,
    mode,
    uid: 0,
    gid: 0,
    mtime: 0,
    size: statSync(from).size,
    from,
  });
  const licence = path.join(path.dirname(node), '../LICENSE');
  return withFolders([file(NODE_PATH.slice(1), 0o755, node), file('usr/share/doc/nodejs/LICENSE', 0o644, licence)]);
}

const beside = (file: string, name: string): string => path.join(path.dirname(file), name);
