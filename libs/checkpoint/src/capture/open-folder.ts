import {
  BlockBuilder,
  COLUMN,
  COLUMNS,
  ENTRY,
  FOLDER_EXTRA,
  type FolderBlock,
  type Sums,
} from '../index-file/folder-block.js';
import type { BlockPlace } from '../index-file/index-reader.js';
import type { IndexWriter } from '../index-file/index-writer.js';
import { ID_BYTES, idBytesOf } from '../objects/content-id.js';
import { MAX_TREE_BYTES } from '../objects/limits.js';
import { contentOfFolder, type EncodedEntry, joinEntries } from '../tree/entry-parts.js';

export interface OldFolder {
  readonly place: BlockPlace;
  readonly block: FolderBlock;
}

export interface FinishedFolder {
  readonly place: BlockPlace;
  readonly tree: Buffer;
  readonly contentTree: Buffer;
  readonly sums: Sums;
  /** Its block and all below it are those of the earlier capture. */
  readonly same: boolean;
  /** It changed while it was read: the next capture reads its names again. */
  readonly again: boolean;
}

export interface NewEntry {
  readonly kind: number;
  /** Place in the old block when it may be the same entry, else -1. */
  readonly index: number;
  readonly numbers: Float64Array;
  readonly entry: EncodedEntry;
}

/** Id of the tree of a folder that a restore could not bring to what the checkpoint says. */
export const NO_TREE = Buffer.alloc(ID_BYTES);

/** Entries of one folder while it is walked. As long as each is that of the old block, nothing is copied. */
export class OpenFolder {
  files = 0;
  bytes = 0;
  leftOut = 0;
  deferred = 0;
  again = false;
  /** Its tree is no tree of a checkpoint: its block names none, so that the next capture gives it to its sink. */
  partial = false;
  /** Blocks of its folders, in the order of their names. */
  readonly places: BlockPlace[] = [];
  private readonly from: number;
  private builder: BlockBuilder | null;
  private kept = 0;

  constructor(
    private readonly old: OldFolder | null,
    private readonly writer: IndexWriter,
  ) {
    this.from = writer.end();
    this.builder = old === null ? new BlockBuilder() : null;
  }

  /** Called for each name before its entry: -1 for one that the old block does not have. */
  reach(index: number): void {
    if (index !== this.kept) this.rebuild();
  }

  keep(index: number): void {
    if (this.builder === null) this.kept = index + 1;
    else this.builder.keep((this.old as OldFolder).block, index);
  }

  add({ kind, index, numbers, entry }: NewEntry): void {
    numbers[COLUMN.content] = entry.content;
    if (index >= 0 && this.builder === null && this.isSame(index, numbers, entry.bytes)) {
      this.keep(index);
      return;
    }
    this.rebuild();
    this.builder?.add(kind, numbers, entry.bytes);
  }

  /** A name has no entry any more. */
  drop(): void {
    this.again = true;
    this.rebuild();
  }

  /**
   * Writes its block; `null` when its tree is over 16 MiB.
   * @param give gets the bytes of a tree that the old block does not have.
   */
  async finish(give: (tree: Buffer, id: Buffer) => unknown): Promise<FinishedFolder | null> {
    const { old, again } = this;
    if (old !== null && this.builder === null) {
      const { sums, tree, contentTree, count, length } = old.block;
      if (this.kept === count && this.writer.end() - this.from === sums.span - length)
        return { place: this.writer.keepBlock(old.place), tree, contentTree, sums, same: true, again };
      this.rebuild();
    }
    const builder = this.builder as BlockBuilder;
    const { state, content, size } = partsOf(builder);
    if (size > MAX_TREE_BYTES) return null;
    const bytes = joinEntries(state, 'state');
    let tree = idBytesOf(bytes);
    let contentTree: Buffer;
    if (old?.block.tree.equals(tree) === true) {
      tree = old.block.tree;
      contentTree = old.block.contentTree;
    } else {
      contentTree = idBytesOf(joinEntries(content, 'content'));
      await give(bytes, tree);
    }
    const start = this.writer.end();
    let next = 0;
    builder.kinds.forEach((kind, index) => {
      if (kind !== ENTRY.folder) return;
      const place = this.places[next++] as BlockPlace;
      builder.set(index, COLUMN.back, start - place.start);
      builder.set(index, COLUMN.length, place.length);
    });
    const sums = {
      span: start - this.from,
      files: this.files,
      bytes: this.bytes,
      leftOut: this.leftOut,
      deferred: this.deferred,
    };
    const block = this.partial ? builder.block(sums, NO_TREE, NO_TREE) : builder.block(sums, tree, contentTree);
    const place = this.writer.add(block);
    return { place, tree, contentTree, sums: { ...sums, span: sums.span + block.length }, same: false, again };
  }

  private rebuild(): void {
    if (this.builder !== null) return;
    this.builder = new BlockBuilder();
    for (let index = 0; index < this.kept; index += 1) this.builder.keep((this.old as OldFolder).block, index);
  }

  private isSame(index: number, numbers: Float64Array, entry: Buffer): boolean {
    const { block } = this.old as OldFolder;
    for (let column = 0; column < COLUMNS; column += 1)
      if (column !== COLUMN.back && column !== COLUMN.length && block.number(index, column) !== numbers[column])
        return false;
    return block.entry(index).equals(entry);
  }
}

function partsOf(builder: BlockBuilder): { state: Buffer[]; content: Buffer[]; size: number } {
  const [state, content]: [Buffer[], Buffer[]] = [[], []];
  let size = 16;
  builder.kinds.forEach((kind, index) => {
    if (kind === ENTRY.leftOut) return;
    const entry = builder.entries[index] as Buffer;
    const part = entry.subarray(0, builder.number(index, COLUMN.content));
    if (kind === ENTRY.folder) {
      const end = entry.length - FOLDER_EXTRA;
      state.push(entry.subarray(0, end));
      content.push(contentOfFolder(part, entry.subarray(end, end + ID_BYTES)));
    } else {
      state.push(entry);
      content.push(part);
    }
    size += entry.length;
  });
  return { state, content, size };
}
