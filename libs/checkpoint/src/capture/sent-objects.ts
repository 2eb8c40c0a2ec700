import { COLUMN, ENTRY, type FolderBlock } from '../index-file/folder-block.js';
import type { IndexReader } from '../index-file/index-reader.js';
import type { ObjectKind, ObjectSink } from '../objects/checkpoint-object.js';
import { type ContentId, contentIdOf } from '../objects/content-id.js';
import { chunksOf } from '../tree/entry-parts.js';
import type { Slices } from './slices.js';

/** Content under new names is looked for among all earlier content when there is more of it than this. Bytes. */
const WORTH_A_LOOK = 2 ** 20;
/** Ids of the earlier capture that are held for that, at most. */
const MAX_KNOWN = 500_000;

/** Gives the sink what the earlier capture did not have, each object once. */
export class SentObjects {
  bytes = 0;
  count = 0;
  private readonly sent = new Set<ContentId>();
  private known: Set<ContentId> | null = null;
  private unplaced = 0;

  constructor(
    private readonly sink: ObjectSink,
    private readonly earlier: IndexReader | null,
    private readonly slices: Slices,
  ) {}

  /** A promise only while the sink holds it up. */
  put(kind: ObjectKind, bytes: Buffer, id: ContentId = contentIdOf(bytes)): ContentId | Promise<ContentId> {
    if (this.sent.has(id) || this.known?.has(id) === true) return id;
    this.sent.add(id);
    this.bytes += bytes.length;
    this.count += 1;
    const taken = this.sink.put({ kind, id, bytes });
    if (taken === undefined) return id;
    this.slices.end();
    return taken.then(() => {
      this.slices.begin();
      return id;
    });
  }

  /** So many bytes lie under a name that the earlier capture did not have: moved or copied, perhaps. */
  async expectNew(bytes: number): Promise<void> {
    this.unplaced += bytes;
    if (this.known !== null || this.earlier === null || this.unplaced < WORTH_A_LOOK) return;
    this.known = new Set();
    for (const block of this.earlier.blocks()) {
      collect(block, this.known);
      if (this.known.size > MAX_KNOWN) return;
      if (this.slices.due()) await this.slices.turn();
    }
  }
}

function collect(block: FolderBlock, known: Set<ContentId>): void {
  known.add(block.tree.toString('hex'));
  for (let index = 0; index < block.count; index += 1) {
    if (block.kind(index) !== ENTRY.file) continue;
    for (const { id } of chunksOf(block.entry(index).subarray(0, block.number(index, COLUMN.content))))
      if (id !== null) known.add(id);
  }
}
