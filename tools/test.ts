// `npm test [-- NAME…] [--no-build] [--list] [--install]`: builds, starts one Postgres for all, has Jest run the suites
// whose name holds one of the given ones, looks once more at few failures, and ends with the counts.
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { buildAll } from './test/build-once.ts';
import { Deadline, NO_TIME } from './test/deadline.ts';
import { Descendants } from './test/descendants.ts';
import { jest } from './test/jest.ts';
import { installMissing, missingNeeds } from './test/needs.ts';
import { prepareBeside } from './test/prepare.ts';
import { quickFolder } from './test/quick-folder.ts';
import { report } from './test/report.ts';
import { countsOf, type FileResult } from './test/results.ts';
import { run } from './test/run.ts';
import { secondLook } from './test/second-look.ts';
import { expectedMinutes, keepSeconds } from './test/seconds.ts';
import { findSuites } from './test/suites.ts';

const OPTIONS: ReadonlySet<string> = new Set(['--no-build', '--list', '--install']);
const root = path.resolve(import.meta.dirname, '..');
const config = path.join(root, 'jest.config.mjs');
const options = process.argv.slice(2).filter((argument) => argument.startsWith('--'));
const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const unknown = options.filter((option) => !OPTIONS.has(option));
if (unknown.length > 0) {
  const help = options.includes('--help');
  console.log(
    `${help ? '' : `${unknown.join(', ')} is no option. `}Usage: npm test [-- NAME…] [--no-build] [--list] [--install]`,
  );
  process.exit(help ? 0 : 2);
}
const { signal } = run.stop;
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(name, () => run.stop.abort(new Error(`stopped by ${name}`)));
process.setMaxListeners(50);

try {
  run.deadline = Deadline.of(process.env['TEST_UNTIL']);
} catch (error) {
  console.log((error as Error).message);
  process.exit(2);
}
const suites = findSuites(root).filter(
  (suite) => wanted.length === 0 || wanted.some((name) => suite.name.includes(name)),
);
if (options.includes('--install')) installMissing(console.log);
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
console.log(`${suites.length} suites; about ${expectedMinutes(root, suites)} after the build.`);

if (!options.includes('--no-build')) {
  const started = performance.now();
  const failed = await buildAll(root, signal).catch((error: unknown) => String(error));
  if (failed !== null) {
    console.log(`${failed}\nThe build failed; its message is above.`);
    finish([], [], 1);
  }
  console.log(`built in ${((performance.now() - started) / 1000).toFixed(1)} s`);
}
// A whole run has no time for all of them (docs/decisions/0066).
if (wanted.length === 0) process.env['BENCH_PARTS'] ??= 'one';
run.built = true;
run.prepared = prepareBeside(suites, console.log, signal);

const folder = await mkdtemp(path.join(quickFolder(), 'slipway-test-'));
// Also of users that a test starts something as.
await chmod(folder, 0o711);
process.env['TMPDIR'] = path.join(folder, 'tmp');
await mkdir(process.env['TMPDIR']);
await chmod(process.env['TMPDIR'], 0o1777);
const { startPostgresServer } = await import('@slipway/db/embedded');
// What a crash would lose is lost with the folder anyway.
const postgres = await startPostgresServer(path.join(folder, 'postgres'), 0, [
  '-c',
  'fsync=off',
  '-c',
  'full_page_writes=off',
]);
process.env['TEST_POSTGRES_URL'] = postgres.url;
const descendants = new Descendants();
let results: readonly FileResult[] = [];
let races: readonly FileResult[] = [];
try {
  const names = wanted.length === 0 ? {} : { selectProjects: suites.map(({ name }) => name) };
  results = await jest(root, config, { ...names, reporters: [path.join(root, 'tools/test/progress-reporter.ts')] });
  const whole = results.filter(({ skips }) => !skips.some(({ reason }) => reason.startsWith(NO_TIME)));
  keepSeconds(root, Object.fromEntries(whole.map(({ file, seconds }) => [file, Math.round(seconds * 10) / 10])));
  run.deadline?.beginSecondLook();
  const again = async ({ file }: FileResult): Promise<FileResult | undefined> =>
    (await jest(root, config, { _: [path.join(root, file)], runTestsByPath: true }))[0];
  ({ results, races } = await secondLook(results, again, signal, console.log));
} finally {
  await postgres.stop();
  const left = descendants.end();
  if (left > 0 && !signal.aborted) console.log(`The suites left ${left} processes running; they were ended.`);
  await rm(folder, { recursive: true, force: true });
}
const complaint = run.deadline?.complaint() ?? null;
if (complaint !== null) console.log(complaint);
finish(results, races, signal.aborted ? 130 : 0, complaint === null ? 0 : 1);

/**
 * Without a file that ran, a code of 1 is one failure.
 * @param beside failures of no test.
 */
function finish(done: readonly FileResult[], known: readonly FileResult[], code: number, beside = 0): never {
  const extra = beside + (done.length === 0 && code === 1 ? 1 : 0);
  console.log(report(done, known, { failed: extra, stopped: code === 130 }));
  process.exit(code === 130 ? 130 : countsOf(done).failed + extra > 0 ? 1 : code);
}
