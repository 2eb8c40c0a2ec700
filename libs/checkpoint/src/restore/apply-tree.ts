import { randomBytes } from 'node:crypto';
import { lstatSync, rmSync, statfsSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { SlipwayError } from '@slipway/errors';
import { captureWith } from '../capture/capture.js';
import { UNBOUNDED } from '../capture/capture-types.js';
import { bytesOfPath } from '../capture/disk-path.js';
import { OpenFolder } from '../capture/open-folder.js';
import { Slices } from '../capture/slices.js';
import { numbersOf } from '../capture/stat-numbers.js';
import { COLUMN, ENTRY, FOLDER_EXTRA } from '../index-file/folder-block.js';
import { childOf, IndexReader } from '../index-file/index-reader.js';
import { IndexWriter } from '../index-file/index-writer.js';
import { broken, tooLarge } from '../objects/broken.js';
import type { CheckpointObject } from '../objects/checkpoint-object.js';
import { type ContentId, contentIdOf, isContentId } from '../objects/content-id.js';
import { DEFAULT_RULES } from '../policy/policy.js';
import { encodeEntry } from '../tree/entry-parts.js';
import type { FolderEntry } from '../tree/tree-entry.js';
import { Finish } from './finish.js';
import { FolderHandle } from './folder-handle.js';
import { MetaFiles } from './meta-files.js';
import { type OldFolder, Prepare } from './prepare.js';
import { RestoreState } from './restore-state.js';
import type { Applied, ApplyRequest } from './restore-types.js';
import { TreeStore } from './tree-store.js';
import { WriteFiles } from './write-files.js';

/** The clock of the file system has steps of some milliseconds; after so long without one it is not waited for. */
const SETTLE_MS = 1_000;
const NO_ID = Buffer.alloc(32);

/**
 * Brings the roots to a checkpoint's state. Programs of the agent must be stopped meanwhile: a file that is written to
 * all the same is left as it is and named, and nothing is ever written outside of the roots. One that is interrupted is
 * repeated: it goes on where it was.
 * @throws SlipwayError `checkpoint.broken` for objects that are false or missing, `sandbox.disk-full`; a part of the
 * roots may be restored then, and nothing is lost that the index does not cover.
 */
export async function applyTree(request: ApplyRequest): Promise<Applied> {
  const { roots, needs } = request;
  for (const { directory } of roots.slice(0, 1)) {
    const { bavail, bsize } = statfsSync(directory);
    if (bavail * bsize < needs)
      throw new SlipwayError('sandbox.disk-full', 'The disk has no room for the files of this checkpoint.');
  }
  const index = request.over === 'blank' ? null : IndexReader.open(request.indexFile);
  if (request.over === 'covered' && index === null) throw broken('there is no index of what is covered');
  const trees = new TreeStore(request.scratch);
  try {
    return await new Restore(request, index, trees).run();
  } finally {
    trees.close();
    index?.close();
  }
}

/** State hash that an index was written for; `null` when there is none, or it is damaged. */
export function indexRoot(indexFile: string): ContentId | null {
  const index = IndexReader.open(indexFile);
  index?.close();
  return index?.trailer.root.toString('hex') ?? null;
}

class Restore {
  private readonly slices: Slices;
  private readonly state: RestoreState;
  private readonly files: WriteFiles;

  constructor(
    private readonly request: ApplyRequest,
    private readonly index: IndexReader | null,
    private readonly trees: TreeStore,
  ) {
    this.slices = new Slices(request.signal);
    const directories = new Map(request.roots.map(({ name, directory }) => [name as string, directory]));
    this.files = new WriteFiles(directories, randomBytes(8).toString('hex'), (found) =>
      this.state.keep(found, 'changed-since'),
    );
    this.state = new RestoreState(trees, index, this.files);
  }

  async run(): Promise<Applied> {
    const { request, state, files, slices } = this;
    const objects = request.objects[Symbol.asyncIterator]();
    try {
      const first = await this.readTrees(objects);
      const targets = this.targets();
      const meta = new MetaFiles(this.trees.tree(targets.meta));
      slices.begin();
      for (const { name, directory, entry } of targets.roots) {
        const handle = FolderHandle.open(directory);
        try {
          const old = this.oldRoot(name);
          if (old?.block.tree.toString('hex') === entry.tree) continue;
          await new Prepare(state, slices).folder(entry.tree, { handle, path: name, old, fresh: false, depth: 1 });
        } finally {
          handle.close();
        }
      }
      for (let next = first; next.done !== true; next = await objects.next()) {
        files.take(next.value);
        meta.take(next.value);
        if (slices.due()) await slices.turn();
      }
      files.end();
      files.link(
        (found) => !state.isKept(found),
        (found) => state.keep(found, 'uncovered'),
      );
      files.close();
      await this.finish(targets, policyIn(meta.files()));
      const { written, bytes } = files;
      const exact = (await this.verify(meta.files())) === request.root;
      return { exact, kept: state.kept(), written, deleted: state.deleted, bytes, meta: meta.files() };
    } finally {
      files.close();
      await objects.return?.();
    }
  }

  /** @returns the first object that is no tree. */
  private async readTrees(
    objects: AsyncIterator<CheckpointObject>,
  ): Promise<IteratorResult<CheckpointObject, unknown>> {
    for (;;) {
      const next = await objects.next();
      if (next.done === true || next.value.kind !== 'tree') return next;
      if (contentIdOf(next.value.bytes) !== next.value.id) throw broken('an object is not what its id says');
      this.trees.add(next.value.id, next.value.bytes);
      if (this.slices.due()) await this.slices.turn();
    }
  }

  private targets(): Targets {
    const roots: Targets['roots'][number][] = [];
    let meta: string | null = null;
    for (const entry of this.trees.tree(this.request.root)) {
      if (entry.kind !== 'folder') throw broken('a root is no folder');
      const place = this.request.roots.find(({ name }) => name === entry.name);
      if (entry.name === 'meta') meta = entry.tree;
      else if (place === undefined) throw broken('it has a root that is not here');
      else roots.push({ ...place, entry });
    }
    if (meta === null || roots.length !== this.request.roots.length) throw broken('a root is missing');
    return { roots, meta };
  }

  private oldRoot(name: string): OldFolder | null {
    const { index } = this;
    if (index === null) return null;
    const top = index.block(index.trailer.top);
    for (let at = 0; at < top.count; at += 1) {
      if (top.name(at) !== name) continue;
      const place = childOf(index.trailer.top, top, at);
      return { place, block: index.block(place) };
    }
    return null;
  }

  private async finish({ roots, meta }: Targets, policy: Buffer): Promise<void> {
    const { request, index, state, slices } = this;
    const writer = new IndexWriter(request.indexFile, index);
    try {
      const finish = new Finish(state, writer, slices);
      const open = new OpenFolder(null, writer);
      for (const { name, directory, entry } of roots) {
        const handle = FolderHandle.open(directory);
        try {
          const old = this.oldRoot(name);
          const isEntered = state.entered.has(name);
          const disk = bytesOfPath(directory);
          const finished = isEntered
            ? await finish.folder(entry.tree, { handle, path: name, disk, old })
            : finish.reuse(old as OldFolder);
          const numbers = numbersOf(handle.stat());
          if (finished.again || !isEntered) numbers[COLUMN.ctime] = Number.NaN;
          const extra = Buffer.alloc(FOLDER_EXTRA);
          finished.contentTree.copy(extra);
          open.files += finished.sums.files;
          open.bytes += finished.sums.bytes;
          open.deferred += finished.sums.deferred;
          open.places.push(finished.place);
          const encoded = encodeEntry(entry);
          const bytes = Buffer.concat([encoded.bytes, extra]);
          open.add({ kind: ENTRY.folder, index: -1, numbers, entry: { ...encoded, bytes } });
        } finally {
          handle.close();
        }
      }
      const top = await open.finish(() => undefined);
      if (top === null) throw tooLarge('its roots');
      const racyFrom = await this.settle(finish.newest);
      writer.finish({
        top: top.place,
        racyFrom,
        root: Buffer.from(request.root, 'hex'),
        metaTree: Buffer.from(meta, 'hex'),
        policy,
      });
      writer.commit();
    } catch (error) {
      writer.abort();
      throw error;
    }
  }

  /**
   * Waits until a new write would have another ctime than all of what was restored: then none of it is racy.
   * @returns from which ctime on entries are looked at again.
   */
  private async settle(newest: number): Promise<number> {
    const probe = path.join(this.request.scratch, 'clock');
    writeFileSync(probe, '');
    try {
      for (const until = performance.now() + SETTLE_MS; performance.now() < until; await turn()) {
        utimesSync(probe, 0, 0);
        if (lstatSync(probe).ctimeMs > newest) return Number.POSITIVE_INFINITY;
      }
      return newest - SETTLE_MS;
    } finally {
      rmSync(probe, { force: true });
    }
  }

  /** State hash of what is on disk, by a look at every entry that the index has. */
  private async verify(meta: Readonly<Record<string, Uint8Array>>): Promise<ContentId> {
    const { roots, indexFile, signal } = this.request;
    const { policy, ...others } = meta;
    const captured = await captureWith(
      {
        roots,
        indexFile,
        meta: others,
        rules: DEFAULT_RULES,
        sink: { put: () => undefined },
        budgets: UNBOUNDED,
        heavy: 'capture',
        dirty: null,
        seed: NO_ID,
        clock: () => 0,
        signal,
      },
      { policy: policy ?? Buffer.alloc(0) },
    );
    captured.discard();
    return captured.root;
  }
}

interface Targets {
  readonly roots: readonly { readonly name: string; readonly directory: string; readonly entry: FolderEntry }[];
  readonly meta: ContentId;
}

/** Its hash, as a capture compares it; zeros for one that no capture wrote. */
function policyIn({ policy }: Readonly<Record<string, Uint8Array>>): Buffer {
  const text = Buffer.from(policy ?? '').toString();
  return isContentId(text) ? Buffer.from(text, 'hex') : NO_ID;
}
