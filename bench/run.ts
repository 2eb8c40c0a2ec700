// `npm run bench`: lists the benches, or builds and runs those that are named, each in a process of its own.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describeMachine } from './measure/machine.ts';
import { createReport, type Report } from './measure/report.ts';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const ROOT = path.dirname(path.resolve(FOLDER));
const say = (line: string): void => void writeSync(2, `${line}\n`);

/** Names of the benches with the sentence on their first line. */
function benches(): Map<string, string> {
  const found = new Map<string, string>();
  for (const file of readdirSync(FOLDER).sort()) {
    if (!file.endsWith('.ts') || file.endsWith('.test.ts') || file === 'run.ts') continue;
    const first = readFileSync(path.join(FOLDER, file), 'utf8').split('\n', 1)[0] ?? '';
    found.set(file.slice(0, -3), first.replace(/^\/\/\s*/, ''));
  }
  return found;
}

/** Runs one bench in this process. What it leaves open does not keep the process alive. */
async function runOne(name: string): Promise<never> {
  const { default: run } = (await import(pathToFileURL(path.join(FOLDER, `${name}.ts`)).href)) as {
    default: (report: Report) => Promise<void>;
  };
  await run(createReport(name));
  process.exit(0);
}

function build(): void {
  say('building what has changed …');
  const nx = path.join(ROOT, 'node_modules/nx/dist/bin/nx.js');
  const env = {
    ...process.env,
    NX_NO_CLOUD: 'true',
    NX_DAEMON: 'false',
    NX_CACHE_DIRECTORY: path.join(ROOT, '.nx/cache'),
  };
  const result = spawnSync(
    process.execPath,
    [nx, 'run-many', '-t', 'build', '--exclude=@slipway/web', '--outputStyle=static'],
    {
      cwd: ROOT,
      env,
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    },
  );
  if (result.status === 0) return;
  say(`${result.stdout ?? ''}${result.stderr ?? ''}\nbuild failed, see above`);
  process.exit(1);
}

const argv = process.argv.slice(2);
const known = benches();
if (argv[0] === '--one' && argv[1] !== undefined) await runOne(argv[1]);

const wanted = argv.filter((name) => !name.startsWith('--'));
const names = wanted.includes('all') ? [...known.keys()] : wanted;
const unknown = names.filter((name) => !known.has(name));
if (names.length === 0 || unknown.length > 0) {
  for (const name of unknown) say(`there is no bench ${name}`);
  const width = Math.max(...[...known.keys()].map((name) => name.length));
  say('npm run bench -- NAME [NAME…|all] [--quick] [--no-build]');
  for (const [name, about] of known) say(`  ${name.padEnd(width)}  ${about}`);
  process.exit(unknown.length > 0 ? 2 : 0);
}
if (!argv.includes('--no-build')) build();
const machine = describeMachine();
writeSync(1, `${JSON.stringify({ machine })}\n`);
if (machine.load > 1)
  say(`warning: the load is ${machine.load}; latencies will be too high. Measure on an idle machine.`);
let failed = 0;
for (const name of names) {
  const child = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', fileURLToPath(import.meta.url), '--one', name],
    {
      cwd: ROOT,
      env: { ...process.env, ...(argv.includes('--quick') ? { BENCH_QUICK: '1' } : {}) },
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
  if (child.status === 0) continue;
  failed += 1;
  say(`${name}: failed with ${child.signal ?? `exit code ${child.status}`}`);
}
process.exit(failed === 0 ? 0 : 1);
