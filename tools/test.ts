// `npm test [-- NAME…] [--no-build] [--list]`: builds, starts one Postgres for all, runs the suites whose name holds
// one of the given ones, runs few failed files once more, and ends with the counts.
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { buildAll } from './test/build-once.ts';
import { Descendants } from './test/descendants.ts';
import { missingNeeds } from './test/needs.ts';
import { report, suiteLine } from './test/report.ts';
import { countsOf, runSuite, type SuiteResult } from './test/run-suite.ts';
import { type Race, secondLook } from './test/second-look.ts';
import { findSuites, longestFirst, type Suite } from './test/suites.ts';

/** Suites that run beside each other: each starts processes of its own, and this is written for two cores. */
const AT_ONCE = 2;

/** What takes minutes to build once, and the suites that want it. */
const CLUSTER_SUITES = ['tests/cluster', 'tests/install'];
const HELM_SUITES = ['tests/helm', 'tests/install'];
const GITEA_SUITES = ['tests/gitea', 'tests/integrations', 'tests/publish'];

const root = path.resolve(import.meta.dirname, '..');
const options = process.argv.slice(2).filter((argument) => argument.startsWith('--'));
const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort(new Error(`stopped by ${signal}`)));
process.setMaxListeners(50);

const suites = findSuites(root).filter((suite) => wanted.length === 0 || wanted.some((name) => suite.name.includes(name)));
if (options.includes('--list')) {
  for (const suite of suites) console.log(`${suite.name} (${suite.files.length} files)`);
  process.exit(0);
}
if (suites.length === 0) {
  console.log(`No suite has ${wanted.join(' or ')} in its name; \`npm test -- --list\` lists them.`);
  process.exit(1);
}

const needs = missingNeeds(root);
for (const { sentence } of needs) console.log(sentence);
if (needs.some(({ required }) => required)) finish([], [], 1);

if (!options.includes('--no-build')) {
  const started = performance.now();
  const failed = await buildAll(root, stop.signal).catch((error: unknown) => String(error));
  if (failed !== null) {
    console.log(`${failed}\nThe build failed; its message is above.`);
    finish([], [], 1);
  }
  console.log(`built in ${((performance.now() - started) / 1000).toFixed(1)} s`);
}

if (suites.some(({ name }) => CLUSTER_SUITES.includes(name))) {
  const { prepareTestCluster } = await import('@slipway/testing/cluster');
  // Minutes on a machine that has never built one: not within a test's own time. What could be built and is not makes the suite fail.
  const missing = await prepareTestCluster(console.log, stop.signal).catch((error: unknown) => String(error));
  if (missing !== null) console.log(`${missing} What needs a cluster is not run.`);
}

if (suites.some(({ name }) => HELM_SUITES.includes(name))) {
  const { missingForHelm, openHelm } = await import('@slipway/testing/helm');
  // Minutes too. What could be built and is not makes the suite fail.
  const missing = missingForHelm() ?? (await openHelm({ say: console.log, signal: stop.signal }).then(() => null, String));
  if (missing !== null) console.log(`${missing} The chart is not tested.`);
}

if (suites.some(({ name }) => GITEA_SUITES.includes(name))) {
  const { missingForGitea, prepareGitea, prepareGiteaPages } = await import('@slipway/testing/gitea');
  // As for the chart.
  const missing = (await missingForGitea()) ?? (await prepareGitea(console.log, stop.signal).then(() => null, String));
  if (missing !== null) console.log(`${missing} What needs a real git host is not run.`);
  const plain = missing ?? (await prepareGiteaPages(console.log, stop.signal).catch(String));
  if (plain !== null && plain !== missing) console.log(plain);
}

const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-test-'));
const { startPostgresServer } = await import('@slipway/db/embedded');
// What a crash would lose is lost with the folder anyway.
const postgres = await startPostgresServer(path.join(folder, 'postgres'), 0, ['-c', 'fsync=off', '-c', 'full_page_writes=off']);
process.env['TEST_POSTGRES_URL'] = postgres.url;
const descendants = new Descendants();
let results: readonly SuiteResult[] = [];
let races: readonly Race[] = [];
try {
  const done: SuiteResult[] = [];
  const take = async (queue: Suite[]): Promise<void> => {
    for (let suite = queue.shift(); suite !== undefined && !stop.signal.aborted; suite = queue.shift()) done.push(await runAndReport(suite));
  };
  const of = (beside: Suite['beside']): Suite[] => suites.filter((suite) => suite.beside === beside);
  const any = of('any').sort(longestFirst);
  await Promise.all(Array.from({ length: AT_ONCE }, () => take(any)));
  await Promise.all([take(of('waiting')), take(of('light'))]);
  await take(of('alone'));
  ({ results, races } = await secondLook(done, stop.signal, console.log));
} finally {
  await postgres.stop();
  const left = descendants.end();
  if (left > 0 && !stop.signal.aborted) console.log(`The suites left ${left} processes running; they were ended.`);
  await rm(folder, { recursive: true, force: true });
}
finish(results, races, stop.signal.aborted ? 130 : 0);

async function runAndReport(suite: Suite): Promise<SuiteResult> {
  const result = await runSuite(suite, stop.signal);
  console.log(suiteLine(result));
  return result;
}

/** Without a suite that ran, a code of 1 is one failure. */
function finish(done: readonly SuiteResult[], known: readonly Race[], code: number): never {
  const extra = done.length === 0 && code === 1 ? 1 : 0;
  console.log(report(done, known, { failed: extra, stopped: code === 130 }));
  const failed = done.some(({ files }) => countsOf(files).failed > 0) || extra > 0;
  process.exit(code === 130 ? 130 : failed ? 1 : code);
}
