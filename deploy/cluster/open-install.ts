import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { get } from 'node:https';
import os from 'node:os';
import path from 'node:path';
import { startS3Server } from '@slipway/sandbox/testing';
import { createSampleRepository, type GitServer, startGitServer, until } from '@slipway/testing';
import { missingForBuiltCluster, openBuiltCluster, type TestCluster } from '@slipway/testing/cluster';
import { missingForHelm } from '@slipway/testing/helm';
import { buildAppImage } from '../images/app-image.ts';
import { APP_NAMES } from '../images/apps/app-list.ts';
import { buildSandboxImage } from '../images/sandbox-image.ts';
import { HelmClient } from './helm-client.ts';
import { postgresImage } from './images/postgres-image.ts';
import type { TestImage } from './images/programs-image.ts';
import { redisImage } from './images/redis-image.ts';
import { type Issuer, openIssuer } from './issuer.ts';
import { applyManifest, besideReady } from './manifest.ts';
import { openPlace, type Place } from './place.ts';
import { TestIngress } from './test-ingress.ts';

/** Ports of the node, of the Services in place.yaml. What is for neither host is a sandbox's. */
const HOME_HOST = 'slipway.test';
const HOME_PORT = 30_000;
const ISSUER_HOST = 'id.slipway.test';
const SANDBOXES_HOST = 'sandboxes.slipway.test';
const SANDBOXES_PORT = 30_006;
/** Longest that images may take when nothing of them is in the cache. Milliseconds. */
const IMAGES_MS = 600_000;
export const REPOSITORY = 'sample.git';

/**
 * Why the chart cannot be installed on a cluster of this machine's own, as one sentence; `null` when it can. Builds
 * nothing.
 */
export async function missingForInstall(): Promise<string | null> {
  return (
    (await missingForBuiltCluster()) ??
    missingForHelm() ??
    missing('redis-server', 'redis-server') ??
    missing('nft', 'nftables')
  );
}

function missing(program: string, debianPackage: string): string | null {
  const folders = [...(process.env['PATH'] ?? '').split(path.delimiter), '/usr/sbin', '/sbin'];
  return folders.some((folder) => existsSync(path.join(folder, program)))
    ? null
    : `${program} is not on the PATH: apt-get install ${debianPackage}.`;
}

/** kubelet lists its images twice a minute and writes its status six times. Milliseconds. */
const KNOWN_MS = 90_000;
/** What is deployed only where a template sends its sandboxes through it; none of values.yaml does. */
const ON_THE_WAY_OUT: ReadonlySet<string> = new Set(['egress-proxy', 'credential-broker']);

/**
 * A cluster of one node with everything that an operator has before Slipway, the images on the node, and a ingress;
 * nothing of Slipway itself is installed.
 */
export interface OpenInstall {
  /** `sha256:…` of the sandbox image on the node. */
  readonly sandboxDigest: string;
  /**
   * As `sandboxes.workspaceStore.url` has it, with its credentials in the Secret `bucket`; `null` where none was asked
   * for.
   */
  readonly bucketUrl: string | null;
  /** Names of the ingress. */
  readonly hosts: readonly string[];
  readonly cluster: TestCluster;
  readonly helm: HelmClient;
  /** What values.yaml cannot know: flags of Helm. */
  readonly flags: readonly string[];
  /** Where a browser finds all names of the ingress. */
  readonly ingressAddress: string;
  readonly repositoryUrl: string;
  readonly issuer: Issuer;
  /** Where `flags` and values.yaml lead. */
  readonly place: Place;
  /** A second one, empty, that has the way in from outside from now on. */
  freshPlace(): Promise<Place>;
  /**
   * The node has reported the sandbox image to the API server [this version's], which it does some time after it has
   * it: preflight asks the API server.
   */
  imagesKnown(digest?: string): Promise<void>;
  /**
   * The ingress leads to web and to app-server. Pods are ready a moment before kube-proxy has the node's port lead to
   * them; on a busy machine that moment is seconds. @throws Error when it does not within a minute.
   */
  reachable(): Promise<void>;
  close(): Promise<void>;
}

export interface InstallOptions {
  /** Of the cluster [a random one]. */
  readonly name?: string;
  /** A bucket beside the volume [false]: a server of S3 on this machine, in memory. */
  readonly bucket?: boolean;
  /** The images too that no template of values.yaml needs, such as that of egress-proxy [false]. */
  readonly everyImage?: boolean;
  readonly say?: (line: string) => void;
}

/** @throws Error when an image cannot be made, or a part does not come up; nothing is left running then. */
export async function openInstall({
  name,
  bucket = false,
  everyImage = false,
  say = () => {},
}: InstallOptions = {}): Promise<OpenInstall> {
  const closing: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (let step = closing.pop(); step !== undefined; step = closing.pop()) await step();
  };
  try {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-install-'));
    closing.push(() => rm(folder, { recursive: true, force: true }));
    const hosts = [HOME_HOST, ISSUER_HOST, SANDBOXES_HOST, `*.${SANDBOXES_HOST}`];
    say('cluster …');
    const opening = openBuiltCluster({
      kubeProxy: true,
      dns: true,
      hostNames: hosts,
      ...(name === undefined ? {} : { name, say }),
    });
    opening.catch(() => {});
    closing.push(() =>
      opening.then(
        (cluster) => cluster.close(),
        () => {},
      ),
    );
    const signal = AbortSignal.timeout(IMAGES_MS);
    const besides = await inTurn([postgresImage, redisImage], signal);
    const cluster = await opening;
    for (const { archivePath } of besides) await cluster.importImage(archivePath);
    // The writers of the store below it are users of the pods.
    await chmod(folder, 0o755);
    const { hostCertificate } = cluster;
    if (hostCertificate === null) throw new Error('the cluster has made no certificate');
    const secret = (): string => randomBytes(24).toString('base64url');
    const variables = {
      POSTGRES_PASSWORD: secret(),
      REDIS_PASSWORD: secret(),
      CLIENT_SECRET: secret(),
      CA: hostCertificate.ca,
      ...Object.fromEntries(
        besides.map(({ reference }) => [`${/\/(\w+):/.exec(reference)?.[1]?.toUpperCase()}_IMAGE`, reference]),
      ),
    };
    await applyManifest(cluster, 'beside.yaml', variables);
    const place = await openPlace(cluster, {
      release: 'slipway',
      namespace: 'slipway',
      postgres: 'postgres',
      folder,
      variables,
    });
    const nodeAddress = await cluster.kubectl([
      'get',
      'node',
      cluster.realNode,
      '-o',
      'jsonpath={.status.addresses[?(@.type=="InternalIP")].address}',
    ]);
    // Beside the import of images, which takes as long.
    const issuing = openIssuer(cluster, { nodeAddress, variables, signal });
    closing.push(() =>
      issuing.then(
        (opened) => opened.close(),
        () => {},
      ),
    );
    issuing.catch(() => {});
    const sandbox = await importPlatform(cluster, everyImage, say, signal);
    const issuer = await issuing;
    const ingress = await TestIngress.open({
      address: cluster.hostAddress,
      port: 443,
      tls: hostCertificate,
      route: (host) =>
        host === ISSUER_HOST
          ? issuer.target
          : { address: nodeAddress, port: host === HOME_HOST ? HOME_PORT : SANDBOXES_PORT },
    });
    closing.push(() => ingress.close());
    const git = await serveRepository(folder, cluster.hostAddress);
    closing.push(() => git.close());
    const bucketUrl = bucket ? await openBucket(cluster, place.namespace, closing) : null;
    await besideReady(cluster);
    return {
      cluster,
      sandboxDigest: sandbox,
      bucketUrl,
      hosts,
      helm: await HelmClient.open(cluster),
      flags: ['--set', `sandboxes.image.digest=${sandbox}`],
      ingressAddress: cluster.hostAddress,
      repositoryUrl: `${git.url}/${REPOSITORY}`,
      issuer,
      place,
      freshPlace: () =>
        openPlace(
          cluster,
          { release: 'restored', namespace: 'slipway-restored', postgres: 'postgres-restored', folder, variables },
          place,
        ),
      imagesKnown: async (digest = sandbox) => {
        const images = (): Promise<string> =>
          cluster.kubectl(['get', 'node', cluster.realNode, '-o', 'jsonpath={.status.images[*].names}']);
        await until('the node lists the sandbox image', async () => (await images()).includes(digest), KNOWN_MS);
      },
      reachable: async () => {
        await until('the ingress leads to web and app-server', () => leadsTo(cluster.hostAddress), 60_000);
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Of both of its paths, a page and the API, time after time: right after an uninstall the endpoint slices of the
 * Services before may still lead half of the connections to pods that are gone.
 */
async function leadsTo(address: string): Promise<boolean> {
  for (const page of Array<string[]>(10).fill(['/login', '/api/v1/me']).flat())
    if ((await statusAt(address, page)) >= 500) return false;
  return true;
}

/** 502 where the ingress itself says nothing within ten seconds. */
function statusAt(address: string, page: string): Promise<number> {
  return new Promise((resolve) => {
    // Its authority is one that pods know, and this machine does not.
    const tls = { servername: HOME_HOST, rejectUnauthorized: false };
    const options = { host: address, port: 443, path: page, headers: { host: HOME_HOST }, agent: false, ...tls };
    get({ ...options, signal: AbortSignal.timeout(10_000) }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 502);
    }).once('error', () => resolve(502));
  });
}

/** One after the other: two at once would both make the layers that they share. */
async function inTurn(
  makers: readonly ((signal: AbortSignal) => Promise<TestImage>)[],
  signal: AbortSignal,
): Promise<TestImage[]> {
  const images: TestImage[] = [];
  for (const make of makers) images.push(await make(signal));
  return images;
}

const S3_KEYS = { 'access-key-id': 'key', 'secret-access-key': 'secret' };

/** @throws Error with the reason when there is no server of S3 on this machine. */
async function openBucket(cluster: TestCluster, namespace: string, closing: (() => Promise<void>)[]): Promise<string> {
  const server = await startS3Server(cluster.hostAddress);
  if (typeof server === 'string') throw new Error(server);
  closing.push(() => server.close());
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'bucket', namespace }, stringData: S3_KEYS };
  await cluster.kubectl(['apply', '-f', '-'], JSON.stringify(secret));
  return `s3://${server.bucket}/slipway?endpoint=${server.endpoint}&region=us-east-1`;
}

/**
 * Images of the platform and of the sandbox, each imported while the next is built. @returns the digest of the sandbox
 * image.
 */
async function importPlatform(
  cluster: TestCluster,
  every: boolean,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<string> {
  let imported = Promise.resolve();
  const take = (archive: string): void => {
    say(`image ${path.basename(path.dirname(archive))} …`);
    imported = imported.then(() => cluster.importImage(archive));
    imported.catch(() => {});
  };
  const sandbox = await buildSandboxImage({ signal });
  take(sandbox.archive);
  for (const app of APP_NAMES.filter((name) => every || !ON_THE_WAY_OUT.has(name)))
    take((await buildAppImage(app, { signal })).archivePath);
  await imported;
  return sandbox.digest;
}

async function serveRepository(folder: string, address: string): Promise<GitServer> {
  const repositories = path.join(folder, 'repositories');
  await createSampleRepository(repositories, REPOSITORY, {
    'README.md': '# Sample\n\nA small project.\n',
    'src/sum.js': 'export const sum = (a, b) => a + b;\n',
  });
  return startGitServer(repositories, { address });
}
