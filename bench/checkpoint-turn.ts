// A capture of 10,000 files with 0, 100 and 1,000 changed, beside a walk, the bare pipeline, git and restic; and its
// longest pause of the event loop.
import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type Captured, capture, DEFAULT_RULES, WAITED } from '@slipway/checkpoint';
import { makeRepository, rewrite } from './measure/made-repository.ts';
import { percentile } from './measure/percentile.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';
import { resticOf } from './measure/restic.ts';

const FOLDERS = quick(1_000, 20);
const TIMES = quick(15, 2);
const CHANGES = quick([0, 100, 1_000], [0, 10]);

export default async function run(report: Report): Promise<void> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-checkpoint-bench-'));
  try {
    const project = path.join(folder, 'project');
    makeRepository(project, FOLDERS);
    const git = gitOf(folder, project);
    const restic = resticOf(folder, project);
    if (restic === null) report.note('not measured: restic is not installed');
    await take(folder, project);
    git();
    restic?.backup();
    for (const changed of CHANGES) await measure(report, { folder, project, changed, git, restic });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Measured {
  readonly folder: string;
  readonly project: string;
  readonly changed: number;
  readonly git: () => void;
  readonly restic: ReturnType<typeof resticOf>;
}

async function measure(report: Report, { folder, project, changed, git, restic }: Measured): Promise<void> {
  const [ours, floors, gits, restics, pauses]: [number[], number[], number[], number[], number[]] = [
    [],
    [],
    [],
    [],
    [],
  ];
  let captured: Captured | undefined;
  for (let index = 0; index <= TIMES; index += 1) {
    const paths = rewrite(project, { count: changed, seed: index * 7 + changed });
    const floor = timed(() => {
      walk(project);
      for (const each of paths) hash('sha256', readFileSync(each));
    });
    const began = performance.now();
    captured = await take(folder, project);
    const took = performance.now() - began;
    const byGit = timed(git);
    const byRestic = restic === null || index > 3 ? null : timed(() => restic.backup());
    // The first finds code not compiled.
    if (index === 0) continue;
    ours.push(took);
    pauses.push(captured.longestSlice);
    floors.push(floor);
    gits.push(byGit);
    if (byRestic !== null) restics.push(byRestic);
  }
  const figure = (name: string, values: readonly number[], share: number, floor?: number, peer?: number): void =>
    report.figure({
      figure: `${name}-${changed}`,
      value: percentile(values, share),
      unit: 'ms',
      n: values.length,
      ...(floor === undefined ? {} : { floor }),
      ...(peer === undefined ? {} : { peer }),
    });
  const floor = percentile(floors, 0.5);
  figure('captured', ours, 0.5, floor, percentile(gits, 0.5));
  figure('captured-p99', ours, 0.99, floor);
  figure('git', gits, 0.5);
  if (restics.length > 0) figure('restic', restics, 0.5);
  figure('longest-slice', pauses, 1);
  report.figure({ figure: `new-bytes-${changed}`, value: captured?.newBytes ?? 0, unit: 'B', n: 1 });
}

async function take(folder: string, project: string): Promise<Captured> {
  const captured = await capture({
    roots: [{ name: 'project', directory: project }],
    indexFile: path.join(folder, 'index'),
    meta: {},
    rules: DEFAULT_RULES,
    sink: { put: () => undefined },
    budgets: { ...WAITED, milliseconds: 60_000 },
    heavy: 'reference',
    dirty: null,
    seed: Buffer.from('bench'),
    clock: () => Date.now(),
    signal: AbortSignal.timeout(60_000),
  });
  captured.commit();
  return captured;
}

/** `git add` and `write-tree` with an index and a store of objects of their own. */
function gitOf(folder: string, project: string): () => void {
  const store = path.join(folder, 'git');
  execFileSync('git', ['init', '-q', '--bare', store]);
  const env = {
    ...process.env,
    GIT_DIR: store,
    GIT_WORK_TREE: project,
    GIT_INDEX_FILE: path.join(folder, 'git-index'),
  };
  return () => {
    execFileSync('git', ['add', '-A'], { cwd: project, env });
    execFileSync('git', ['write-tree'], { cwd: project, env, stdio: 'pipe' });
  };
}

function walk(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const below = `${folder}/${entry.name}`;
    lstatSync(below);
    if (entry.isDirectory()) walk(below);
  }
}

function timed(work: () => void): number {
  const began = performance.now();
  work();
  return performance.now() - began;
}
