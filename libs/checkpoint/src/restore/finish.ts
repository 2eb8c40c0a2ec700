import { fingerprintOf } from '../capture/fingerprint.js';
import { type FinishedFolder, OpenFolder } from '../capture/open-folder.js';
import type { Slices } from '../capture/slices.js';
import { modeOf, mtimeOf, numbersOf, sameStat } from '../capture/stat-numbers.js';
import { COLUMN, COLUMNS, ENTRY, FOLDER_EXTRA } from '../index-file/folder-block.js';
import { childOf } from '../index-file/index-reader.js';
import type { IndexWriter } from '../index-file/index-writer.js';
import { broken, tooLarge } from '../objects/broken.js';
import { ID_BYTES } from '../objects/content-id.js';
import { encodeEntry } from '../tree/entry-parts.js';
import type { FolderEntry, TreeEntry } from '../tree/tree-entry.js';
import type { FolderHandle } from './folder-handle.js';
import type { OldFolder } from './prepare.js';
import type { RestoreState } from './restore-state.js';

interface Folder {
  readonly handle: FolderHandle;
  readonly path: string;
  /** For the fingerprint of a heavy folder. */
  readonly disk: string;
  readonly old: OldFolder | null;
}

/** Sets modes and times of folders, children first, and writes the index of what is on disk now. */
export class Finish {
  /** The youngest that an entry of the index has. */
  newest = 0;

  constructor(
    private readonly state: RestoreState,
    private readonly writer: IndexWriter,
    private readonly slices: Slices,
  ) {}

  async folder(tree: string, folder: Folder): Promise<FinishedFolder> {
    const entries = this.state.trees.tree(tree);
    const open = new OpenFolder(null, this.writer);
    const olds = new Map<string, number>();
    const block = folder.old?.block;
    if (block !== undefined) for (let index = 0; index < block.count; index += 1) olds.set(block.name(index), index);
    for (const entry of entries) {
      if (entry.kind === 'folder') await this.subfolder(folder, open, entry, olds.get(entry.name) ?? -1);
      else this.entry(folder, open, entry);
      if (this.slices.due()) await this.slices.turn();
    }
    const finished = await open.finish(() => undefined);
    if (finished === null) throw tooLarge('a folder');
    if (!open.partial && finished.tree.toString('hex') !== tree) throw broken('a folder is not what its id says');
    return { ...finished, again: this.state.entered.get(folder.path)?.extra === true };
  }

  private entry({ handle, path }: Folder, open: OpenFolder, entry: Exclude<TreeEntry, FolderEntry>): void {
    const found = handle.lstat(entry.name);
    const encoded = encodeEntry(entry);
    if (entry.kind === 'uncaptured') {
      open.deferred += 1;
      open.add({ kind: ENTRY.uncaptured, index: -1, numbers: new Float64Array(COLUMNS), entry: encoded });
      return;
    }
    const numbers = found === undefined ? new Float64Array(COLUMNS) : numbersOf(found);
    const asNamed =
      found !== undefined &&
      !this.state.isKept(`${path}/${entry.name}`) &&
      mtimeOf(found) === entry.mtime &&
      (entry.kind === 'link'
        ? found.isSymbolicLink()
        : found.isFile() && found.size === entry.size && modeOf(found) === entry.mode);
    // The next capture, and the look at the end of this restore, read it again.
    if (asNamed) this.newest = Math.max(this.newest, found.ctimeMs);
    else numbers[COLUMN.ctime] = Number.NaN;
    if (entry.kind === 'file') {
      open.files += 1;
      open.bytes += entry.size;
    }
    open.add({ kind: ENTRY[entry.kind], index: -1, numbers, entry: encoded });
  }

  private async subfolder(folder: Folder, open: OpenFolder, entry: FolderEntry, index: number): Promise<void> {
    const path = `${folder.path}/${entry.name}`;
    const disk = `${folder.disk}/${entry.name}`;
    const old = this.oldOf(folder.old, index);
    const isFolder = folder.handle.lstat(entry.name)?.isDirectory() === true;
    const isEntered = this.state.entered.has(path);
    if (!isFolder || (!isEntered && old?.block.tree.toString('hex') !== entry.tree)) {
      // It stays as it is, and the index has nothing of it: the next capture takes it as new.
      const encoded = encodeEntry({ kind: 'uncaptured', name: entry.name });
      open.deferred += 1;
      open.partial = true;
      open.add({ kind: ENTRY.uncaptured, index: -1, numbers: new Float64Array(COLUMNS), entry: encoded });
      return;
    }
    const handle = folder.handle.child(entry.name);
    try {
      const before = handle.stat();
      const finished = isEntered
        ? await this.folder(entry.tree, { handle, path, disk, old })
        : this.reuse(old as OldFolder);
      if (modeOf(before) !== entry.mode || mtimeOf(handle.stat()) !== entry.mtime) handle.set(entry.mode, entry.mtime);
      const found = handle.stat();
      const numbers = numbersOf(found);
      const wasSame = isEntered || (folder.old !== null && sameStat(folder.old.block, index, before));
      if (finished.again || !wasSame) numbers[COLUMN.ctime] = Number.NaN;
      else this.newest = Math.max(this.newest, found.ctimeMs);
      const extra = Buffer.alloc(FOLDER_EXTRA);
      finished.contentTree.copy(extra);
      if (entry.heavy && !entry.stale) fingerprintOf(folder.disk, disk, found).copy(extra, ID_BYTES);
      const encoded = encodeEntry(entry);
      open.files += finished.sums.files;
      open.bytes += finished.sums.bytes;
      open.leftOut += finished.sums.leftOut;
      open.deferred += finished.sums.deferred + (entry.stale ? 1 : 0);
      open.places.push(finished.place);
      const bytes = Buffer.concat([encoded.bytes, extra]);
      open.add({ kind: ENTRY.folder, index: -1, numbers, entry: { ...encoded, bytes } });
    } finally {
      handle.close();
    }
  }

  reuse({ place, block }: OldFolder): FinishedFolder {
    const { sums, tree, contentTree } = block;
    return { place: this.writer.keep(place, sums.span), tree, contentTree, sums, same: true, again: false };
  }

  private oldOf(old: OldFolder | null, index: number): OldFolder | null {
    const { index: file } = this.state;
    if (old === null || file === null || index === -1 || old.block.kind(index) !== ENTRY.folder) return null;
    const place = childOf(old.place, old.block, index);
    return { place, block: file.block(place) };
  }
}
