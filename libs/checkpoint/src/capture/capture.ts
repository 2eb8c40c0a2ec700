import { statSync } from 'node:fs';
import { gearTable } from '../chunks/gear-chunks.js';
import { COLUMN, ENTRY, FOLDER_EXTRA } from '../index-file/folder-block.js';
import { childOf, IndexReader } from '../index-file/index-reader.js';
import { IndexWriter } from '../index-file/index-writer.js';
import { tooLarge } from '../objects/broken.js';
import { contentIdOf, idBytesOf } from '../objects/content-id.js';
import { MAX_CHUNK_BYTES } from '../objects/limits.js';
import { policyOf } from '../policy/policy.js';
import { encodeTree } from '../tree/encode-tree.js';
import { contentOfFolder, encodeEntry, joinEntries } from '../tree/entry-parts.js';
import type { TreeEntry } from '../tree/tree-entry.js';
import type { Captured, CaptureRequest, NamedRoot } from './capture-types.js';
import { bytesOfPath } from './disk-path.js';
import { Listing } from './listing.js';
import { type OldFolder, OpenFolder } from './open-folder.js';
import { FileReader } from './read-file.js';
import { SentObjects } from './sent-objects.js';
import { Slices } from './slices.js';
import { numbersOf } from './stat-numbers.js';
import { Walk } from './walk.js';
import type { WalkContext } from './walk-context.js';

/** What was written so shortly before a capture may be written again without another ctime. Milliseconds. */
const RACY_MS = 1_000;
/** Files of `meta` that the library writes itself. */
const POLICY_FILE = 'policy';

/**
 * Captures the roots as they are, beside the agent: what changed since the earlier capture is read, and its objects are
 * given to the sink. The next capture is compared with this one after `commit()`.
 * @throws SlipwayError `checkpoint.too-large`; what the sink rejects with; the signal's reason. The index stays then.
 */
export async function capture(request: CaptureRequest): Promise<Captured> {
  return await captureWith(request, null);
}

/** After a restore: what the index has is looked up on disk, and nothing else. */
export interface Verify {
  /** The file of `meta` that says which policy the checkpoint was captured with. */
  readonly policy: Uint8Array;
}

export async function captureWith(request: CaptureRequest, verify: Verify | null): Promise<Captured> {
  const earlier = IndexReader.open(request.indexFile);
  const writer = new IndexWriter(request.indexFile, earlier);
  try {
    return await new Capture(request, earlier, writer, verify).run();
  } catch (error) {
    writer.abort();
    // A damaged index costs a whole reading and nothing else.
    if (verify === null && earlier !== null && (error as { code?: string }).code === 'checkpoint.broken')
      return await new Capture(request, null, new IndexWriter(request.indexFile, null), verify).run();
    throw error;
  } finally {
    earlier?.close();
  }
}

class Capture {
  private readonly context: WalkContext;
  private readonly walk: Walk;
  private readonly racyFrom: number;

  constructor(
    private readonly request: CaptureRequest,
    earlier: IndexReader | null,
    writer: IndexWriter,
    private readonly verify: Verify | null,
  ) {
    const { seed, sink, signal, rules, budgets, heavy, dirty } = request;
    const slices = new Slices(signal);
    const objects = new SentObjects(sink, earlier, slices);
    const policy = policyOf(rules);
    this.racyFrom = request.clock() - RACY_MS;
    this.context = {
      earlier,
      writer,
      reader: new FileReader(gearTable(seed), objects, slices),
      objects,
      slices,
      policy,
      samePolicy: verify !== null || earlier?.trailer.policy.toString('hex') === policy.hash,
      budgets,
      heavy,
      dirty: dirty === null ? null : withParents(dirty),
      verify: verify !== null,
      until: performance.now() + budgets.milliseconds,
      deferred: new Listing(),
      leftOut: new Listing(),
      torn: new Listing(),
      links: new Map(),
      read: 0,
    };
    this.walk = new Walk(this.context);
  }

  async run(): Promise<Captured> {
    const { context } = this;
    const top = await this.roots();
    const { earlier, objects, slices, writer } = context;
    const meta = this.metaTree();
    const sameMeta = earlier?.trailer.metaTree.equals(meta.id) === true;
    if (!sameMeta) for (const bytes of meta.chunks) await objects.put('chunk', bytes);
    if (!sameMeta) await objects.put('tree', meta.tree);
    const state = [...top.entries, encodeEntry(folderEntry('meta', meta.id))].sort((one, other) =>
      Buffer.compare(one.bytes, other.bytes),
    );
    const rootTree = joinEntries(
      state.map(({ bytes }) => bytes),
      'state',
    );
    const root = idBytesOf(rootTree);
    if (earlier?.trailer.root.equals(root) !== true) await objects.put('tree', rootTree);
    const contentHash = idBytesOf(joinEntries(top.contents, 'content'));
    writer.finish({
      top: top.place,
      racyFrom: this.racyFrom,
      root,
      metaTree: meta.id,
      policy: Buffer.from(context.policy.hash, 'hex'),
    });
    slices.end();
    const deferred = context.deferred;
    if (top.sums.deferred > deferred.count) deferred.more(top.sums.deferred - deferred.count);
    return {
      root: root.toString('hex'),
      contentHash: contentHash.toString('hex'),
      files: top.sums.files,
      logicalBytes: top.sums.bytes,
      newBytes: objects.bytes,
      newObjects: objects.count,
      read: context.read,
      complete: top.sums.deferred === 0,
      deferred: deferred.listed(),
      skipped: context.leftOut.listed(),
      torn: context.torn.listed(),
      longestSlice: slices.longest,
      commit: () => writer.commit(),
      discard: () => writer.discard(),
    };
  }

  /** The block whose entries are the roots. Their own modes and times are the platform's, and not kept. */
  private async roots(): Promise<Top> {
    const { earlier, writer, samePolicy, verify } = this.context;
    const old: OldFolder | null =
      earlier === null ? null : { place: earlier.trailer.top, block: earlier.block(earlier.trailer.top) };
    const open = new OpenFolder(null, writer);
    const [entries, contents]: [Top['entries'], Buffer[]] = [[], []];
    for (const { name, directory } of [...this.request.roots].sort(byName)) {
      const disk = bytesOfPath(directory);
      const stat = statSync(directory);
      const index = old === null ? -1 : indexOf(old, name);
      const child = old === null || index === -1 ? null : childOf(old.place, old.block, index);
      const ctime = old === null || index === -1 ? Number.NaN : old.block.number(index, COLUMN.ctime);
      const sameNames = ctime === stat.ctimeMs && earlier !== null && ctime < earlier.trailer.racyFrom && samePolicy;
      const walked = await this.walk.folder({
        path: name,
        disk,
        depth: 1,
        old: child === null || earlier === null ? null : { place: child, block: earlier.block(child) },
        sameNames: child !== null && (sameNames || verify),
        inHeavy: false,
      });
      if (typeof walked === 'string') throw tooLarge(`${name} cannot be captured (${walked})`);
      const entry = encodeEntry(folderEntry(name, walked.tree));
      const numbers = numbersOf(stat);
      if (walked.again) numbers[COLUMN.ctime] = Number.NaN;
      open.files += walked.sums.files;
      open.bytes += walked.sums.bytes;
      open.leftOut += walked.sums.leftOut;
      open.deferred += walked.sums.deferred;
      open.places.push(walked.place);
      const extra = Buffer.alloc(FOLDER_EXTRA);
      walked.contentTree.copy(extra);
      open.add({
        kind: ENTRY.folder,
        index: -1,
        numbers,
        entry: { ...entry, bytes: Buffer.concat([entry.bytes, extra]) },
      });
      entries.push(entry);
      contents.push(contentOfFolder(entry.bytes.subarray(0, entry.content), walked.contentTree));
    }
    const finished = await open.finish(() => undefined);
    if (finished === null) throw tooLarge('its roots');
    return { entries, contents, place: finished.place, sums: finished.sums };
  }

  private metaTree(): { tree: Buffer; id: Buffer; chunks: Buffer[] } {
    const files = new Map(Object.entries(this.request.meta).map(([name, bytes]) => [name, Buffer.from(bytes)]));
    files.set(POLICY_FILE, Buffer.from(this.verify?.policy ?? this.context.policy.hash));
    const chunks: Buffer[] = [];
    const entries = [...files]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, bytes]): TreeEntry => {
        if (bytes.length > MAX_CHUNK_BYTES / 4) throw tooLarge(`${name} beside the files is over 1 MiB`);
        const { length } = bytes;
        if (length > 0) chunks.push(bytes);
        const parts = length === 0 ? [] : [{ id: contentIdOf(bytes), length }];
        return { kind: 'file', name, mode: 0o600, mtime: 0, size: length, chunks: parts, linkedTo: null };
      });
    const tree = encodeTree(entries);
    return { tree, id: idBytesOf(tree), chunks };
  }
}

interface Top {
  readonly entries: ReturnType<typeof encodeEntry>[];
  readonly contents: Buffer[];
  readonly place: ReturnType<typeof childOf>;
  readonly sums: { readonly files: number; readonly bytes: number; readonly deferred: number };
}

function folderEntry(name: string, tree: Buffer): TreeEntry {
  return { kind: 'folder', name, mode: 0o755, mtime: 0, tree: tree.toString('hex'), heavy: false, stale: false };
}

function byName(one: NamedRoot, other: NamedRoot): number {
  return one.name < other.name ? -1 : 1;
}

function indexOf({ block }: OldFolder, name: string): number {
  for (let index = 0; index < block.count; index += 1) if (block.name(index) === name) return index;
  return -1;
}

function withParents(paths: ReadonlySet<string>): ReadonlySet<string> {
  const all = new Set<string>();
  for (const path of paths)
    for (let at = path.length; at > 0; at = path.lastIndexOf('/', at - 1)) all.add(path.slice(0, at));
  return all;
}
