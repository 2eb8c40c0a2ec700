import type { Stats } from 'node:fs';
import type { Slices } from '../capture/slices.js';
import { modeOf, mtimeOf, sameStat } from '../capture/stat-numbers.js';
import { COLUMN, ENTRY, type FolderBlock } from '../index-file/folder-block.js';
import { type BlockPlace, childOf } from '../index-file/index-reader.js';
import { tooLarge } from '../objects/broken.js';
import { MAX_DEPTH } from '../objects/limits.js';
import { TEMPORARY } from '../policy/policy.js';
import { chunksOf, linkedToOf } from '../tree/entry-parts.js';
import type { FileEntry, FolderEntry, LinkEntry, TreeEntry } from '../tree/tree-entry.js';
import { hasContent } from './file-content.js';
import type { FolderHandle } from './folder-handle.js';
import { sameChunks } from './plan-restore.js';
import type { RestoreState } from './restore-state.js';

/** What the index has of a folder. */
export interface OldFolder {
  readonly place: BlockPlace;
  readonly block: FolderBlock;
}

interface Folder {
  readonly handle: FolderHandle;
  readonly path: string;
  readonly old: OldFolder | null;
  /** Made by this restore. */
  readonly fresh: boolean;
  readonly depth: number;
}

/** Deletes what is no more, makes folders and links, and names the files that are to be written. */
export class Prepare {
  constructor(
    private readonly state: RestoreState,
    private readonly slices: Slices,
  ) {}

  async folder(tree: string, folder: Folder): Promise<void> {
    const { path, depth, old, handle, fresh } = folder;
    if (depth > MAX_DEPTH) throw tooLarge(`folders are more than ${MAX_DEPTH} deep`);
    const entries = this.state.trees.tree(tree);
    const wanted = new Set(entries.map(({ name }) => name));
    const olds = new Map<string, number>();
    if (old !== null) for (let index = 0; index < old.block.count; index += 1) olds.set(old.block.name(index), index);
    for (const name of fresh ? [] : handle.names()) {
      if (name.startsWith(TEMPORARY)) handle.unlink(name);
      else if (!wanted.has(name)) await this.remove(folder, name, olds.get(name) ?? -1);
      if (this.slices.due()) await this.slices.turn();
    }
    for (const entry of entries) {
      await this.entry(folder, entry, olds.get(entry.name) ?? -1);
      if (this.slices.due()) await this.slices.turn();
    }
    const extra = !fresh && handle.names().some((name) => !wanted.has(name));
    this.state.entered.set(path, { extra });
  }

  private async entry(folder: Folder, entry: TreeEntry, index: number): Promise<void> {
    const found = folder.fresh ? undefined : folder.handle.lstat(entry.name);
    switch (entry.kind) {
      case 'folder':
        return await this.subfolder(folder, entry, index, found);
      case 'file':
        return this.file(folder, entry, index, found);
      case 'link':
        return this.link(folder, entry, index, found);
      case 'uncaptured':
        if (found !== undefined) this.state.keep(`${folder.path}/${entry.name}`, 'uncaptured');
    }
  }

  private async subfolder(folder: Folder, entry: FolderEntry, index: number, found: Stats | undefined): Promise<void> {
    const { handle, old, depth } = folder;
    const path = `${folder.path}/${entry.name}`;
    const isFolder = found?.isDirectory() === true;
    if (isFolder && entry.stale && this.state.index !== null) return this.state.keep(path, 'stale');
    const child =
      old !== null && index >= 0 && old.block.kind(index) === ENTRY.folder ? this.childOf(old, index) : null;
    if (isFolder && child?.block.tree.toString('hex') === entry.tree) return;
    if (!isFolder) {
      if (found !== undefined && !this.clear(folder, entry.name, index, found)) return;
      handle.mkdir(entry.name);
    }
    const below = handle.child(entry.name);
    try {
      await this.folder(entry.tree, {
        handle: below,
        path,
        old: isFolder ? child : null,
        fresh: !isFolder,
        depth: depth + 1,
      });
    } finally {
      below.close();
    }
  }

  private async file(folder: Folder, entry: FileEntry, index: number, found: Stats | undefined): Promise<void> {
    const { handle, path, old, fresh } = folder;
    const { files } = this.state;
    if (found === undefined) return files.add(path, entry, fresh ? 'fresh' : null);
    const block = old !== null && index >= 0 && old.block.kind(index) === ENTRY.file ? old.block : null;
    if (found.isFile() && block !== null && this.isCovered(folder, entry.name, index, found)) {
      const bytes = block.entry(index);
      const content = block.number(index, COLUMN.content);
      const same = sameChunks(chunksOf(bytes.subarray(0, content)), entry.chunks);
      if (same && linkedToOf(bytes, content) === entry.linkedTo) return set(handle, entry, found);
      return files.add(path, entry, found);
    }
    // It may be what an earlier restore wrote that did not end.
    if (found.isFile() && entry.linkedTo === null && hasContent(handle, entry.name, entry.chunks))
      return set(handle, entry, found);
    if (found.isDirectory()) {
      if (await this.remove(folder, entry.name, index)) files.add(path, entry, null);
      else this.state.keep(`${path}/${entry.name}`, 'uncovered');
      return;
    }
    if (this.mayReplace(folder, entry.name, index, found)) files.add(path, entry, found);
  }

  private async link(folder: Folder, entry: LinkEntry, index: number, found: Stats | undefined): Promise<void> {
    const { handle, path } = folder;
    if (found?.isSymbolicLink() === true && handle.readlink(entry.name) === entry.target) {
      if (mtimeOf(found) !== entry.mtime) handle.utimes(entry.name, entry.mtime);
      return;
    }
    if (found?.isDirectory() === true) {
      if (!(await this.remove(folder, entry.name, index))) return this.state.keep(`${path}/${entry.name}`, 'uncovered');
    } else if (found !== undefined && !this.clear(folder, entry.name, index, found)) return;
    handle.symlink(entry.target, entry.name);
    handle.utimes(entry.name, entry.mtime);
  }

  /** Frees a name that something else than a folder has. @returns whether it is free. */
  private clear(folder: Folder, name: string, index: number, found: Stats): boolean {
    if (!this.mayReplace(folder, name, index, found)) return false;
    folder.handle.unlink(name);
    return true;
  }

  private mayReplace(folder: Folder, name: string, index: number, found: Stats): boolean {
    if (this.state.index === null || this.isCovered(folder, name, index, found)) return true;
    this.state.keep(`${folder.path}/${name}`, index === -1 ? 'uncovered' : 'changed-since');
    return false;
  }

  /** Whether the index has it as it is now, so that nothing is lost with it. */
  private isCovered({ handle, old }: Folder, name: string, index: number, found: Stats): boolean {
    const { index: file } = this.state;
    if (old === null || index === -1 || file === null) return false;
    const kind = old.block.kind(index);
    if ((kind !== ENTRY.file && kind !== ENTRY.link) || !sameStat(old.block, index, found)) return false;
    if (found.ctimeMs < file.trailer.racyFrom || kind === ENTRY.link) return true;
    return hasContent(
      handle,
      name,
      chunksOf(old.block.entry(index).subarray(0, old.block.number(index, COLUMN.content))),
    );
  }

  /**
   * Deletes a name with all below it that the index covers. In a blank sandbox it deletes what is in the way of
   * something else only, and then all of it.
   * @returns whether the name is free.
   */
  private async remove(folder: Folder, name: string, index: number): Promise<boolean> {
    const { handle, old, path, depth } = folder;
    const found = handle.lstat(name);
    if (found === undefined) return true;
    if (this.state.index !== null && (old === null || index === -1)) return false;
    if (this.state.index === null) return false;
    const kind = old?.block.kind(index);
    if (found.isDirectory() && kind === ENTRY.folder && old !== null) {
      const below = {
        handle: handle.child(name),
        path: `${path}/${name}`,
        old: this.childOf(old, index),
        fresh: false,
        depth: depth + 1,
      };
      try {
        if (below.old !== null) await this.empty({ ...below, old: below.old });
      } finally {
        below.handle.close();
      }
      if (!handle.rmdir(name)) {
        this.state.keep(`${path}/${name}/`, 'uncovered');
        return false;
      }
      this.state.deleted += 1;
      return true;
    }
    if (!this.isCovered(folder, name, index, found)) {
      if (kind !== ENTRY.leftOut) this.state.keep(`${path}/${name}`, 'changed-since');
      return false;
    }
    handle.unlink(name);
    this.state.deleted += 1;
    return true;
  }

  private async empty(folder: Folder & { old: OldFolder }): Promise<void> {
    const { block } = folder.old;
    for (let index = 0; index < block.count; index += 1) {
      await this.remove(folder, block.name(index), index);
      if (this.slices.due()) await this.slices.turn();
    }
  }

  private childOf({ place, block }: OldFolder, index: number): OldFolder | null {
    const { index: file } = this.state;
    if (file === null) return null;
    const child = childOf(place, block, index);
    return { place: child, block: file.block(child) };
  }
}

function set(handle: FolderHandle, entry: FileEntry, found: Stats): void {
  if (modeOf(found) !== entry.mode) handle.chmod(entry.name, entry.mode);
  if (mtimeOf(found) !== entry.mtime) handle.utimes(entry.name, entry.mtime);
}
