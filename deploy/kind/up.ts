// `npm run kind`: the chart on a kind cluster of this machine, as deploy/kind/README.md says. What an image is called
// comes from its build alone.
import { randomBytes } from 'node:crypto';
import { everyImage, type ListedImage } from '../images/image-list.ts';
import { ROOT } from '../images/image-parts.ts';
import { runCommand } from '../images/run-command.ts';

const CLUSTER = 'slipway';
/** Longest single step: an image of 400 MB into three nodes of a slow machine. Milliseconds. */
const STEP_MS = 1_200_000;

export interface UpOptions {
  readonly images: readonly ListedImage[];
  readonly issuerUrl: string;
  readonly clientSecret: string;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Safe to repeat: what is there stays, and the release is upgraded. @throws Error with the words of the program that
 * failed.
 */
export async function up({ images, issuerUrl, clientSecret, say, signal }: UpOptions): Promise<void> {
  const run = (program: string, ...args: string[]): Promise<string> =>
    runCommand(program, args, { cwd: ROOT, timeout: STEP_MS, signal });
  if (!(await run('kind', 'get', 'clusters')).split('\n').includes(CLUSTER)) {
    say('cluster: three nodes …');
    await run('kind', 'create', 'cluster', '--config', 'deploy/kind/cluster.yaml');
  }
  for (const { name, archive } of images) {
    say(`image ${name} …`);
    await run('kind', 'load', 'image-archive', archive, '--name', CLUSTER);
  }
  const kubectl = (...args: string[]): Promise<string> => run('kubectl', '--context', `kind-${CLUSTER}`, ...args);
  const missing = async (...args: string[]): Promise<boolean> =>
    (await kubectl(...args, '--ignore-not-found', '-o', 'name')).trim() === '';
  if (await missing('get', 'namespace', 'slipway')) await kubectl('create', 'namespace', 'slipway');
  await kubectl('apply', '-f', 'deploy/kind/beside.yaml');
  if (await missing('-n', 'slipway', 'get', 'secret', 'postgres-owner')) {
    const password = randomBytes(24).toString('hex');
    for (const namespace of ['slipway', 'slipway-beside'])
      await kubectl(
        '-n',
        namespace,
        'create',
        'secret',
        'generic',
        'postgres-owner',
        `--from-literal=password=${password}`,
      );
  }
  if (await missing('-n', 'slipway', 'get', 'secret', 'oidc'))
    await kubectl(
      '-n',
      'slipway',
      'create',
      'secret',
      'generic',
      'oidc',
      `--from-literal=client-secret=${clientSecret}`,
    );
  await kubectl('-n', 'slipway-beside', 'rollout', 'status', 'deployment', '--timeout=300s');
  say('helm …');
  await run('helm', '--kube-context', `kind-${CLUSTER}`, ...helmArguments(images, issuerUrl));
  say('It is up: kubectl -n slipway port-forward service/slipway-app-server 3000:3000, then http://localhost:3000');
}

/** Pure. @throws Error when there is no sandbox image among them. */
export function helmArguments(images: readonly ListedImage[], issuerUrl: string): string[] {
  const sandbox = images.find(({ isSandbox }) => isSandbox);
  if (sandbox === undefined) throw new Error('There is no sandbox image among the images.');
  const files = ['helm/slipway/values-small.yaml', 'deploy/kind/values.yaml'].flatMap((file) => ['-f', file]);
  const values = {
    'oidc.issuerUrl': issuerUrl,
    'sandboxes.image.repository': sandbox.imported,
    'sandboxes.image.digest': sandbox.digest,
  };
  const set = Object.entries(values).flatMap(([key, value]) => ['--set', `${key}=${value}`]);
  return [
    'upgrade',
    '--install',
    'slipway',
    'helm/slipway',
    '-n',
    'slipway',
    ...files,
    ...set,
    '--wait',
    '--timeout',
    '15m',
  ];
}

if (import.meta.main) {
  const { OIDC_ISSUER_URL: issuerUrl, OIDC_CLIENT_SECRET: clientSecret } = process.env;
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.on(name, () => stop.abort(new Error(`stopped by ${name}`)));
  try {
    if (issuerUrl === undefined || clientSecret === undefined)
      throw new Error('Set OIDC_ISSUER_URL (https) and OIDC_CLIENT_SECRET: deploy/kind/README.md.');
    await up({ images: await everyImage(stop.signal), issuerUrl, clientSecret, say: console.log, signal: stop.signal });
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exit(1);
  }
}
