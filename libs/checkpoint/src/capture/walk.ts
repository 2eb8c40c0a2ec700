import { lstatSync, readdirSync, readlinkSync, type Stats } from 'node:fs';
import { COLUMN, COLUMNS, ENTRY, FOLDER_EXTRA, type FolderBlock } from '../index-file/folder-block.js';
import { childOf } from '../index-file/index-reader.js';
import { ID_BYTES } from '../objects/content-id.js';
import { MAX_DEPTH, MAX_PATH_BYTES } from '../objects/limits.js';
import { FLAGS } from '../tree/encode-tree.js';
import { chunksOf, encodeEntry, encodeName, linkedToOf } from '../tree/entry-parts.js';
import type { DeferredReason, LeftOutReason } from './capture-types.js';
import { diskPath } from './disk-path.js';
import { fingerprintOf } from './fingerprint.js';
import { type FinishedFolder, NO_TREE, type OldFolder, OpenFolder } from './open-folder.js';
import { modeOf, mtimeOf, numbersOf, sameStat } from './stat-numbers.js';
import type { WalkContext } from './walk-context.js';

export interface Visit {
  /** Root name included; bytes, one a character. */
  readonly path: string;
  readonly disk: string;
  readonly depth: number;
  /** What the earlier capture has of it. */
  readonly old: OldFolder | null;
  /** Nothing was added to it, removed or renamed since. */
  readonly sameNames: boolean;
  /** Inside of a heavy folder all are kept, also further ones. */
  readonly inHeavy: boolean;
}

/** A name that is looked at closer. `index`: its place in the old block, or -1. */
interface Found {
  readonly name: string;
  readonly index: number;
  readonly path: string;
  readonly disk: string;
  readonly stat: Stats;
}

const REASONS: readonly LeftOutReason[] = [
  'cache',
  'excluded',
  'lock',
  'special',
  'too-deep',
  'unreadable',
  'too-large',
];
/** From here on they may end without a change of the folder. */
const LOOK_AGAIN = REASONS.indexOf('unreadable');
/** Files in them never change under a name. */
const GIT_OBJECTS = /\/\.git\/(?:.*\/)?objects\/[0-9a-f]{2}$/;
const NONE: ReadonlySet<string> = new Set();

/** Walks folders in the order of their names, merged with the index of the earlier capture. */
export class Walk {
  constructor(private readonly context: WalkContext) {}

  /** A reason when it is left out as a whole. */
  async folder(visit: Visit): Promise<FinishedFolder | LeftOutReason> {
    const { slices, writer, objects } = this.context;
    const open = new OpenFolder(visit.old, writer);
    const names = namesOf(visit);
    if (typeof names === 'string') return names;
    const old = visit.old?.block ?? null;
    let next = 0;
    for (const name of names) {
      if (slices.due()) await slices.turn();
      let index = -1;
      if (visit.sameNames) index = next++;
      else if (old !== null) {
        while (next < old.count && old.name(next) < name) next += 1;
        if (next < old.count && old.name(next) === name) index = next++;
      }
      open.reach(index);
      if (!this.unchanged(visit, open, name, index)) await this.look(visit, open, name, index);
    }
    return (await open.finish((bytes, id) => objects.put('tree', bytes, id.toString('hex')))) ?? 'too-large';
  }

  /** The quick way: an entry whose stat is that of the index. */
  private unchanged({ path, disk, old, sameNames }: Visit, open: OpenFolder, name: string, index: number): boolean {
    if (index === -1 || old === null || !this.context.samePolicy) return false;
    const { block } = old;
    const kind = block.kind(index);
    if (kind === ENTRY.leftOut) {
      if (!sameNames || block.number(index, COLUMN.mode) >= LOOK_AGAIN) return false;
      this.context.leftOut.add(`${path}/${name}`, REASONS[block.number(index, COLUMN.mode)] ?? 'special');
      open.leftOut += 1;
      open.keep(index);
      return true;
    }
    if (kind === ENTRY.uncaptured && this.context.verify) {
      open.deferred += 1;
      open.keep(index);
      return true;
    }
    if (kind !== ENTRY.file && kind !== ENTRY.link) return false;
    const stat = statOf(`${disk}/${name}`);
    if (stat === undefined || typeof stat === 'string' || !sameStat(block, index, stat) || this.isRacy(stat))
      return false;
    if (kind === ENTRY.file) {
      if (stat.nlink > 1) {
        const linkedTo = linkedToOf(block.entry(index), block.number(index, COLUMN.content));
        if (this.firstOf(`${path}/${name}`, stat) !== linkedTo) return false;
      }
      open.files += 1;
      open.bytes += stat.size;
    }
    open.keep(index);
    return true;
  }

  private async look(visit: Visit, open: OpenFolder, name: string, index: number): Promise<void> {
    const [path, disk] = [`${visit.path}/${name}`, `${visit.disk}/${name}`];
    const stat = statOf(disk);
    if (stat === undefined) return open.drop();
    if (typeof stat === 'string') return this.leaveOut(open, path, name, stat);
    const kind = visit.inHeavy ? 'kept' : this.context.policy.classOf(path, name, stat.isDirectory());
    if (kind === 'cache' || kind === 'excluded' || kind === 'lock') return this.leaveOut(open, path, name, kind);
    const found = { name, index, path, disk, stat };
    if (stat.isDirectory()) return await this.subfolder(visit, open, found, kind === 'heavy');
    if (stat.isFile()) return await this.file(visit, open, found);
    if (stat.isSymbolicLink()) return this.link(open, found);
    this.leaveOut(open, path, name, 'special');
  }

  private async file({ old }: Visit, open: OpenFolder, found: Found): Promise<void> {
    const { context } = this;
    const { name, index, path, stat } = found;
    const block = old !== null && index >= 0 && old.block.kind(index) === ENTRY.file ? old.block : null;
    const earlier = block === null ? null : chunksOf(contentOf(block, index));
    if (block !== null && earlier !== null && sameStat(block, index, stat) && !this.isRacy(stat))
      // Only the first of its names is another one now, or the policy is.
      return this.addFile(open, found, { chunks: earlier, stat, torn: false });
    if (stat.blocks * 512 > context.policy.maxFileBytes) return this.leaveOut(open, path, name, 'too-large');
    if (this.isSpent(stat.size)) return this.defer(open, path, name, 'budget');
    if (earlier === null) await context.objects.expectNew(stat.size);
    const had = earlier === null ? NONE : new Set(earlier.map(({ id }) => id ?? ''));
    context.read += 1;
    const read = await context.reader.read(diskPath(found.disk), had);
    if (read === 'gone') return open.drop();
    if (typeof read === 'string') return this.leaveOut(open, path, name, read);
    if (read.torn) context.torn.add(path, 'torn');
    this.addFile(open, found, read);
  }

  private addFile(
    open: OpenFolder,
    { name, index, path }: Found,
    { chunks, stat, torn }: { chunks: ReturnType<typeof chunksOf>; stat: Stats; torn: boolean },
  ): void {
    const size = chunks.reduce((sum, { length }) => sum + length, 0);
    const linkedTo = this.firstOf(path, stat);
    const entry = encodeEntry({ kind: 'file', name, mode: modeOf(stat), mtime: mtimeOf(stat), size, chunks, linkedTo });
    const numbers = numbersOf(stat);
    // Not a number equals no ctime: it is read again next time.
    if (torn) numbers[COLUMN.ctime] = Number.NaN;
    open.files += 1;
    open.bytes += size;
    open.add({ kind: ENTRY.file, index, numbers, entry });
  }

  private link(open: OpenFolder, { name, index, disk, stat }: Found): void {
    let target: string;
    try {
      target = readlinkSync(diskPath(disk), { encoding: 'latin1' });
    } catch {
      open.drop();
      return;
    }
    const entry = encodeEntry({ kind: 'link', name, mtime: mtimeOf(stat), target });
    open.add({ kind: ENTRY.link, index, numbers: numbersOf(stat), entry });
  }

  private async subfolder(visit: Visit, open: OpenFolder, found: Found, heavy: boolean): Promise<void> {
    const { context } = this;
    const { name, index, path, disk, stat } = found;
    const isOld = visit.old !== null && index >= 0 && visit.old.block.kind(index) === ENTRY.folder;
    const parent = isOld ? (visit.old as OldFolder) : null;
    const old = parent === null ? null : this.childOf(parent, index);
    const ownSame = parent !== null && sameStat(parent.block, index, stat) && !this.isRacy(stat);
    const print = heavy && !context.verify ? fingerprintOf(visit.disk, disk, stat) : null;
    const { reuse, stale } = this.decide(found, { parent, ownSame, print });
    if (reuse && (old === null || old.block.tree.equals(NO_TREE))) {
      open.deferred += 1;
      return this.uncaptured(open, name);
    }
    if (visit.depth + 1 > MAX_DEPTH) return this.leaveOut(open, path, name, 'too-deep');
    if (reuse && old !== null && !heavy) this.rememberLinks(path, old.block);
    const walked =
      reuse && old !== null
        ? this.reuse(old)
        : await this.folder({
            path,
            disk,
            depth: visit.depth + 1,
            old,
            sameNames: context.verify ? old !== null : ownSame && context.samePolicy,
            inHeavy: visit.inHeavy || heavy,
          });
    if (typeof walked === 'string') return this.leaveOut(open, path, name, walked);
    const tree = walked.tree.toString('hex');
    const entry = encodeEntry({ kind: 'folder', name, mode: modeOf(stat), mtime: mtimeOf(stat), tree, heavy, stale });
    const extra = Buffer.alloc(FOLDER_EXTRA);
    walked.contentTree.copy(extra);
    const before = parent === null ? null : printOf(parent.block, index);
    (stale || context.verify ? before : print)?.copy(extra, ID_BYTES);
    // What was not looked at keeps the numbers of when it was.
    const numbers = stale && parent !== null ? numbersAt(parent.block, index) : numbersOf(stat);
    if (walked.again) numbers[COLUMN.ctime] = Number.NaN;
    open.files += walked.sums.files;
    open.bytes += walked.sums.bytes;
    open.leftOut += walked.sums.leftOut;
    open.deferred += walked.sums.deferred + (stale ? 1 : 0);
    open.places.push(walked.place);
    const bytes = Buffer.concat([entry.bytes, extra]);
    open.add({ kind: ENTRY.folder, index: walked.same ? index : -1, numbers, entry: { ...entry, bytes } });
  }

  /** Whether a folder counts as the earlier capture has it, and whether it may be older than this one then. */
  private decide(
    { path, index }: Found,
    { parent, ownSame, print }: { parent: OldFolder | null; ownSame: boolean; print: Buffer | null },
  ): { reuse: boolean; stale: boolean } {
    const { context } = this;
    const flags =
      parent === null ? 0 : (parent.block.entry(index)[parent.block.number(index, COLUMN.content)] as number);
    if (context.verify) return { reuse: flags !== 0, stale: (flags & FLAGS.stale) !== 0 };
    if (print !== null) {
      const fresh = parent !== null && (flags & FLAGS.stale) === 0 && printOf(parent.block, index).equals(print);
      const reuse = fresh || context.heavy === 'reference';
      if (reuse && !fresh) context.deferred.add(`${path}/`, 'heavy');
      return { reuse, stale: reuse && !fresh };
    }
    if (performance.now() > context.until) {
      context.deferred.add(`${path}/`, 'budget');
      return { reuse: true, stale: true };
    }
    const clean = context.dirty !== null && !context.dirty.has(path);
    const again = (flags & FLAGS.stale) !== 0;
    return { reuse: ownSame && !again && (clean || (context.dirty === null && this.isObjects(path))), stale: false };
  }

  private isObjects(path: string): boolean {
    return path.includes('/.git/') && GIT_OBJECTS.test(path);
  }

  private reuse(old: OldFolder): FinishedFolder {
    const { sums, tree, contentTree } = old.block;
    this.context.leftOut.more(sums.leftOut);
    const place = this.context.writer.keep(old.place, sums.span);
    return { place, tree, contentTree, sums, same: true, again: false };
  }

  private childOf({ place, block }: OldFolder, index: number): OldFolder | null {
    if (this.context.earlier === null) return null;
    const child = childOf(place, block, index);
    return { place: child, block: this.context.earlier.block(child) };
  }

  private leaveOut(open: OpenFolder, path: string, name: string, reason: LeftOutReason): void {
    this.context.leftOut.add(path, reason);
    open.leftOut += 1;
    const numbers = new Float64Array(COLUMNS);
    numbers[COLUMN.mode] = REASONS.indexOf(reason);
    open.add({ kind: ENTRY.leftOut, index: -1, numbers, entry: encodeName(name) });
  }

  private defer(open: OpenFolder, path: string, name: string, reason: DeferredReason): void {
    this.context.deferred.add(path, reason);
    open.deferred += 1;
    this.uncaptured(open, name);
  }

  private uncaptured(open: OpenFolder, name: string): void {
    const entry = encodeEntry({ kind: 'uncaptured', name });
    open.add({ kind: ENTRY.uncaptured, index: -1, numbers: new Float64Array(COLUMNS), entry });
  }

  private isSpent(size: number): boolean {
    const { budgets, objects, read, until } = this.context;
    return read >= budgets.newEntries || objects.bytes + size > budgets.newBytes || performance.now() > until;
  }

  private isRacy({ ctimeMs }: Stats): boolean {
    const { earlier } = this.context;
    return earlier !== null && ctimeMs >= earlier.trailer.racyFrom;
  }

  /** Path of the first name of a file that has several; `null` for that one itself. */
  private firstOf(path: string, { dev, ino, nlink }: { dev: number; ino: number; nlink: number }): string | null {
    if (nlink < 2) return null;
    const key = `${dev}:${ino}`;
    const first = this.context.links.get(key);
    if (first === undefined && path.length <= MAX_PATH_BYTES) this.context.links.set(key, path);
    return first === undefined || first === path ? null : first;
  }

  /** Files of a folder that is not entered may be the first of several names all the same. */
  private rememberLinks(path: string, block: FolderBlock): void {
    for (let index = 0; index < block.count; index += 1) {
      if (block.kind(index) !== ENTRY.file) continue;
      const nlink = block.number(index, COLUMN.nlink);
      if (nlink < 2) continue;
      const [dev, ino] = [block.number(index, COLUMN.dev), block.number(index, COLUMN.ino)];
      this.firstOf(`${path}/${block.name(index)}`, { dev, ino, nlink });
    }
  }
}

function namesOf({ disk, old, sameNames }: Visit): string[] | LeftOutReason {
  if (sameNames && old !== null) return Array.from({ length: old.block.count }, (_, index) => old.block.name(index));
  try {
    return readdirSync(diskPath(disk), { encoding: 'latin1' }).sort();
  } catch (error) {
    return unreadable(error) ?? 'unreadable';
  }
}

/** `undefined` for what is gone. */
function statOf(path: string): Stats | LeftOutReason | undefined {
  try {
    return lstatSync(diskPath(path), { throwIfNoEntry: false });
  } catch (error) {
    return unreadable(error);
  }
}

function unreadable(error: unknown): LeftOutReason | undefined {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return undefined;
    case 'ENAMETOOLONG':
      return 'too-deep';
    case 'EACCES':
    case 'EPERM':
    case 'EIO':
    case 'ELOOP':
      return 'unreadable';
    default:
      throw error;
  }
}

function contentOf(block: FolderBlock, index: number): Buffer {
  return block.entry(index).subarray(0, block.number(index, COLUMN.content));
}

function printOf(block: FolderBlock, index: number): Buffer {
  return block.entry(index).subarray(-FOLDER_EXTRA + ID_BYTES);
}

function numbersAt(block: FolderBlock, index: number): Float64Array {
  return block.numbers.slice(index * COLUMNS, (index + 1) * COLUMNS);
}
