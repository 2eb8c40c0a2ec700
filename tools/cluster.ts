// `npm run cluster -- build | up [--name NAME] [--kwok N] [--audit] [--fsync] [--chart] | import ARCHIVE [--name NAME]
// | status | down [NAME | --all]`: a Kubernetes of the tests to work with by hand.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';

/** A wrong call, said without a stack. */
class UsageError extends Error {}

const USAGE =
  'usage: npm run cluster -- build | up [--name NAME] [--kwok N] [--audit] [--fsync] [--chart] | import ARCHIVE [--name NAME] | status | down [NAME | --all]';

const root = path.resolve(import.meta.dirname, '..');
// Incremental: a second when nothing has changed. What it says on standard output would be taken for this tool's.
const compiled = spawnSync(path.join(root, 'node_modules/.bin/tsc'), ['-b', 'libs/testing'], {
  cwd: root,
  stdio: ['ignore', 2, 2],
});
if (compiled.status !== 0) process.exit(1);
const {
  ClusterUnavailable,
  importImage,
  isAlive,
  openBuiltCluster,
  prepareTestCluster,
  readRecords,
  removeCluster,
  removeLeftovers,
} = await import('@slipway/testing/cluster');
const say = (line: string): void => console.error(line);

try {
  await main();
  // What was started stays; nothing here waits for it.
  process.exit(0);
} catch (error) {
  say(error instanceof ClusterUnavailable || error instanceof UsageError ? error.message : String(error));
  process.exit(1);
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      name: { type: 'string' },
      kwok: { type: 'string' },
      audit: { type: 'boolean' },
      fsync: { type: 'boolean' },
      chart: { type: 'boolean' },
      all: { type: 'boolean' },
    },
  });
  const [command, target] = positionals;
  if (command === 'build') return build();
  if (command === 'up' && values.chart === true) return upForChart(values.name ?? 'dev');
  if (command === 'up')
    return up({
      name: values.name ?? 'dev',
      kwokNodes: Number(values.kwok ?? 0),
      audit: values.audit === true,
      fsync: values.fsync === true,
    });
  if (command === 'import') return takeIn(target, values.name ?? null);
  if (command === 'status') return status();
  if (command === 'down') return down(target ?? values.name ?? null, values.all === true);
  throw new UsageError(USAGE);
}

async function build(): Promise<void> {
  const missing = await prepareTestCluster(say);
  say(missing ?? 'This machine can run a test cluster.');
}

async function up(options: { name: string; kwokNodes: number; audit: boolean; fsync: boolean }): Promise<void> {
  if (!Number.isInteger(options.kwokNodes) || options.kwokNodes < 0)
    throw new UsageError('--kwok takes a number of nodes, 0 or more.');
  await removeLeftovers();
  if ((await readRecords()).some(({ name }) => name === options.name))
    throw new UsageError(
      `A cluster called ${options.name} is up: take another --name, or \`npm run cluster -- down ${options.name}\`.`,
    );
  const started = performance.now();
  const cluster = await openBuiltCluster({ ...options, lifetime: 'detached', say });
  say(
    `${cluster.name} is ready after ${((performance.now() - started) / 1000).toFixed(1)} s; pods reach this machine at ${cluster.hostAddress}`,
  );
  if (cluster.auditLog !== null) say(`writes are logged in ${cluster.auditLog}`);
  say(
    `\`npm run cluster -- down ${cluster.name}\` stops it. This machine's kubectl may be too old: use ${cluster.kubectlProgram}.`,
  );
  console.log(`export KUBECONFIG=${cluster.kubeconfig}`);
}

/**
 * A cluster with everything that an operator has before Slipway; the chart itself is for whoever tries it to install.
 */
async function upForChart(name: string): Promise<void> {
  await removeLeftovers();
  if ((await readRecords()).some((record) => record.name === name))
    throw new UsageError(
      `A cluster called ${name} is up: take another --name, or \`npm run cluster -- down ${name}\`.`,
    );
  // Bundles are made of what is built.
  const built = spawnSync(
    process.execPath,
    [path.join(root, 'node_modules/nx/dist/bin/nx.js'), 'run-many', '-t', 'build', '--outputStyle=static'],
    {
      cwd: root,
      stdio: ['ignore', 2, 2],
    },
  );
  if (built.status !== 0) throw new UsageError('The build failed: its words are above.');
  const { missingForInstall } = await import('../deploy/cluster/open-install.ts');
  const missing = await missingForInstall();
  if (missing !== null) throw new UsageError(missing);
  const { instructions, keepPlace } = await import('../deploy/cluster/try-it.ts');
  const place = await keepPlace(name, say);
  say(instructions(place, name));
  console.log(`export KUBECONFIG=${place.kubeconfig}`);
}

async function takeIn(archive: string | undefined, name: string | null): Promise<void> {
  if (archive === undefined)
    throw new UsageError('Name an image archive, such as the one that `npm run image` prints.');
  const detached = (await readRecords()).filter(({ lifetime }) => lifetime === 'detached');
  const [record, ...others] = name === null ? detached : detached.filter((candidate) => candidate.name === name);
  if (record === undefined)
    throw new UsageError(
      name === null ? 'No test cluster is up: `npm run cluster -- up`.' : `No test cluster is called ${name}.`,
    );
  if (others.length > 0)
    throw new UsageError(
      `Several are up (${detached.map((candidate) => candidate.name).join(', ')}): say which with --name.`,
    );
  await importImage(record, archive);
  say(`${record.name} has the image.`);
}

async function status(): Promise<void> {
  const records = await readRecords();
  if (records.length === 0) say('No test cluster is up.');
  for (const record of records) {
    const owner = record.lifetime === 'detached' ? 'until it is taken down' : `of process ${record.opener.pid}`;
    console.log(
      `${record.name}\t${(await isAlive(record)) ? 'up' : 'dead: the next one cleans up after it'}\t${owner}\t${record.kubeconfig}`,
    );
  }
}

async function down(name: string | null, all: boolean): Promise<void> {
  await removeLeftovers();
  const records = await readRecords();
  const detached = records.filter(({ lifetime }) => lifetime === 'detached');
  const wanted = name !== null ? records.filter((record) => record.name === name) : detached;
  if (name === null && !all && detached.length > 1)
    throw new UsageError(`Several are up (${detached.map((record) => record.name).join(', ')}): name one, or --all.`);
  if (name !== null && wanted.length === 0) throw new UsageError(`No test cluster is called ${name}.`);
  for (const record of wanted) {
    await removeCluster(record);
    say(`${record.name} is down.`);
  }
  if (wanted.length === 0) say('No test cluster is up.');
}
