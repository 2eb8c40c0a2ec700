// A checkpoint of 10,000 files out of its packs into a blank folder, and a rewind of 100 of them in place, beside
// `zstd -d | tar -x` of the same files, and restic.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import {
  applyTree,
  type Captured,
  type CheckpointObject,
  capture,
  DEFAULT_RULES,
  indexRoot,
  openPack,
  type PackReader,
  planRestore,
  UNBOUNDED,
  writePacks,
} from '@slipway/checkpoint';
import { makeRepository, rewrite } from './measure/made-repository.ts';
import { percentile } from './measure/percentile.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';
import { resticOf } from './measure/restic.ts';

const FOLDERS = quick(1_000, 20);
const TIMES = quick(5, 1);
const CHANGED = quick(100, 10);

export default async function run(report: Report): Promise<void> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-restore-bench-'));
  try {
    const project = path.join(folder, 'project');
    makeRepository(project, FOLDERS);
    const packs: PackReader[] = [];
    const whole = await kept(project, path.join(folder, 'index'), packs);
    execFileSync('sh', ['-c', 'tar -cf - -C "$1" . | zstd -q -1 -o "$2"', 'sh', project, `${folder}/tar.zst`]);
    const restic = resticOf(folder, project);
    if (restic === null) report.note('not measured: restic is not installed');
    restic?.backup();
    const [ours, tars, restics]: [number[], number[], number[]] = [[], [], []];
    const target = path.join(folder, 'target');
    const blank = (): void => {
      rmSync(target, { recursive: true, force: true });
      rmSync(`${folder}/target-index`, { force: true });
      mkdirSync(target);
    };
    for (let index = 0; index <= TIMES; index += 1) {
      blank();
      const tar = await timed(() =>
        execFileSync('sh', ['-c', 'zstd -q -d -c "$2" | tar -xf - -C "$1"', 'sh', target, `${folder}/tar.zst`]),
      );
      blank();
      const own = await timed(() => restore({ packs, root: whole.root, target, folder, over: 'blank' }));
      blank();
      const other = restic === null || index > 2 ? null : await timed(() => restic.restore(target));
      if (index === 0) continue;
      ours.push(own);
      tars.push(tar);
      if (other !== null) restics.push(other);
    }
    const [floor, peer] = [percentile(tars, 0.5), restics.length > 0 ? percentile(restics, 0.5) : undefined];
    report.note('the floor is zstd -d | tar -x, the peer restic; the page cache is warm for all three');
    report.figure({
      figure: 'restore',
      value: percentile(ours, 0.5),
      unit: 'ms',
      n: TIMES,
      floor,
      ...(peer === undefined ? {} : { peer }),
    });
    await rewinds(report, { folder, project, packs, whole });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function rewinds(
  report: Report,
  { folder, project, packs, whole }: { folder: string; project: string; packs: PackReader[]; whole: Captured },
): Promise<void> {
  const times: number[] = [];
  const indexFile = path.join(folder, 'index');
  for (let index = 0; index <= TIMES; index += 1) {
    rewrite(project, { count: CHANGED, seed: index });
    await kept(project, indexFile, packs);
    const took = await timed(() =>
      restore({ packs, root: whole.root, target: project, folder, over: 'covered', indexFile }),
    );
    if (index > 0) times.push(took);
  }
  report.figure({ figure: `rewind-${CHANGED}`, value: percentile(times, 0.5), unit: 'ms', n: TIMES });
}

/** Captures, packs what is new, and opens the packs. */
async function kept(project: string, indexFile: string, packs: PackReader[]): Promise<Captured> {
  const objects: CheckpointObject[] = [];
  const captured = await capture({
    roots: [{ name: 'project', directory: project }],
    indexFile,
    meta: {},
    rules: DEFAULT_RULES,
    sink: { put: ({ kind, id, bytes }) => void objects.push({ kind, id, bytes: Buffer.from(bytes) }) },
    budgets: UNBOUNDED,
    heavy: 'capture',
    dirty: null,
    seed: Buffer.from('bench'),
    clock: () => Date.now(),
    signal: AbortSignal.timeout(60_000),
  });
  captured.commit();
  await writePacks({
    objects,
    nextPack: () => ({ orgId: 'org', packId: randomBytes(8).toString('hex'), key: randomBytes(32) }),
    store: async (identity, body) => {
      const parts: Buffer[] = [];
      for await (const part of body) parts.push(part);
      const bytes = Buffer.concat(parts);
      const getRange = (offset: number, length: number): Promise<Buffer> =>
        Promise.resolve(bytes.subarray(offset, offset + length));
      packs.unshift(await openPack({ identity, bytes: bytes.length, getRange }));
    },
    signal: AbortSignal.timeout(60_000),
  });
  return captured;
}

interface RestoreOf {
  readonly packs: readonly PackReader[];
  readonly root: string;
  readonly target: string;
  readonly folder: string;
  readonly over: 'blank' | 'covered';
  readonly indexFile?: string;
}

async function restore({ packs, root, target, folder, over, indexFile }: RestoreOf): Promise<void> {
  const index = indexFile ?? path.join(folder, 'target-index');
  const signal = AbortSignal.timeout(60_000);
  const load = async (id: string): Promise<Uint8Array> => {
    for (const pack of packs) if (pack.has(id)) return await pack.read(id);
    throw new Error(`no pack has ${id}`);
  };
  // Trees are read once, in the order of the packs, as the process that serves them does.
  const trees = new Map<string, Uint8Array>();
  if (over === 'blank')
    for (const pack of packs) for await (const { id, bytes } of pack.objects(treesOf(pack))) trees.set(id, bytes);
  const plan = await planRestore({
    root,
    current: over === 'blank' ? null : indexRoot(index),
    load: (id) => (trees.has(id) ? Promise.resolve(trees.get(id) as Uint8Array) : load(id)),
    signal,
  });
  async function* objects(): AsyncGenerator<CheckpointObject> {
    for (const id of plan.trees) yield { kind: 'tree', id, bytes: trees.get(id) ?? (await load(id)) };
    for (const pack of packs) yield* pack.objects(plan.chunks);
  }
  const applied = await applyTree({
    roots: [{ name: 'project', directory: target }],
    root,
    objects: objects(),
    indexFile: index,
    over,
    needs: plan.files,
    scratch: path.join(folder, 'scratch'),
    signal,
  });
  if (!applied.exact) throw new Error(`not exact: ${JSON.stringify(applied.kept)}`);
}

function treesOf(pack: PackReader): ReadonlySet<string> {
  return new Set(pack.contents.filter(({ kind }) => kind === 'tree').map(({ id }) => id));
}

async function timed(work: () => unknown): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
