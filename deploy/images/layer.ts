import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import path from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress } from 'node:zlib';
import type { Pack } from 'tar-stream';
import { writeTar } from './tar-file.ts';

/** One path of a layer, without a leading slash. Owners are numbers: no name of this machine gets in. */
export type LayerEntry = {
  readonly path: string;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Seconds since 1970. */
  readonly mtime: number;
} & (
  | { readonly kind: 'directory' }
  | { readonly kind: 'file'; readonly size: number; readonly from: string | Buffer }
  | { readonly kind: 'symlink' | 'link'; readonly target: string }
);

export interface Layer {
  /** Of the compressed blob; `sha256:…`. */
  readonly digest: string;
  /** Of the tar within. */
  readonly diffId: string;
  /** Bytes of the blob. */
  readonly size: number;
  /** Bytes of the tar within. */
  readonly unpacked: number;
}

/** Part of every cache key: a change of it changes every layer. */
export const LAYER_FORMAT = 'tar+zstd 3, entries by path, no owner names';
const ZSTD_LEVEL = 3;
/** Files up to this are read whole. Bytes. */
const WHOLE = 4 << 20;

/**
 * Everything below `folder`, under `prefix`, sorted by path. Files that are one inode become one file and links to it.
 * Devices and sockets are left out. `youngest` bounds the times; `owner` stands for all owners where the tree's own
 * mean nothing.
 */
export async function entriesOf(
  folder: string,
  prefix: string,
  rules: { readonly youngest: number; readonly owner?: number },
): Promise<LayerEntry[]> {
  const inodes = new Map<string, string>();
  const entries: LayerEntry[] = [];
  for (const name of (await namesBelow(folder, '')).sort(byBytes)) {
    const from = path.join(folder, name);
    const stat = await lstat(from);
    const common = {
      path: path.posix.join(prefix, name),
      mode: stat.mode & 0o7777,
      uid: rules.owner ?? stat.uid,
      gid: rules.owner ?? stat.gid,
      mtime: Math.min(Math.floor(stat.mtimeMs / 1000), rules.youngest),
    };
    const first = inodes.get(`${stat.dev}:${stat.ino}`);
    if (stat.isDirectory()) entries.push({ ...common, kind: 'directory' });
    else if (stat.isSymbolicLink())
      entries.push({ ...common, mode: 0o777, kind: 'symlink', target: await readlink(from) });
    else if (stat.isFile() && first !== undefined) entries.push({ ...common, kind: 'link', target: first });
    else if (stat.isFile()) {
      if (stat.nlink > 1) inodes.set(`${stat.dev}:${stat.ino}`, common.path);
      entries.push({ ...common, kind: 'file', size: stat.size, from });
    }
  }
  return entries;
}

/**
 * Follows no link: Node's own recursive `readdir` does, and an absolute one inside of a root points to files of this
 * machine.
 */
async function namesBelow(root: string, below: string): Promise<string[]> {
  const names: string[] = [];
  for (const entry of await readdir(path.join(root, below), { withFileTypes: true })) {
    const name = path.posix.join(below, entry.name);
    names.push(name);
    if (entry.isDirectory()) names.push(...(await namesBelow(root, name)));
  }
  return names;
}

/**
 * Writes the entries as one compressed layer to `file`: the same entries make the same bytes, in whatever order they
 * come.
 */
export async function writeLayer(entries: readonly LayerEntry[], file: string, signal: AbortSignal): Promise<Layer> {
  const [inner, outer] = [new Counted(), new Counted()];
  const compress = createZstdCompress({
    params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL, [constants.ZSTD_c_checksumFlag]: 1 },
  });
  const sorted = [...entries].sort((a, b) => byBytes(a.path, b.path));
  const fill = async (tar: Pack): Promise<void> => {
    for (const entry of sorted) await addEntry(tar, entry);
  };
  await writeTar(file, fill, [inner, compress, outer], signal);
  return { digest: `sha256:${outer.hex()}`, diffId: `sha256:${inner.hex()}`, size: outer.bytes, unpacked: inner.bytes };
}

async function addEntry(tar: Pack, entry: LayerEntry): Promise<void> {
  const { path: name, mode, uid, gid } = entry;
  const header: Parameters<Pack['entry']>[0] = {
    name,
    mode,
    uid,
    gid,
    mtime: new Date(entry.mtime * 1000),
    type: entry.kind,
    uname: '',
    gname: '',
  };
  const add = (whole: Parameters<Pack['entry']>[0], content?: Buffer): Promise<void> =>
    new Promise((resolve, reject) => {
      const done = (error?: Error | null): void => (error ? reject(error) : resolve());
      if (content === undefined) tar.entry(whole, done);
      else tar.entry(whole, content, done);
    });
  if (entry.kind === 'directory') return add({ ...header, name: `${name}/` });
  if (entry.kind !== 'file') return add({ ...header, linkname: entry.target });
  if (typeof entry.from !== 'string') return add({ ...header, size: entry.size }, entry.from);
  if (entry.size <= WHOLE) return add({ ...header, size: entry.size }, await readFile(entry.from));
  await pipeline(createReadStream(entry.from, { highWaterMark: 1 << 20 }), tar.entry({ ...header, size: entry.size }));
}

/** Not by locale: the order of bytes is the same on every machine. */
export function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

class Counted extends Transform {
  readonly #hash: Hash = createHash('sha256');
  bytes = 0;

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: (error: null, chunk: Buffer) => void): void {
    this.#hash.update(chunk);
    this.bytes += chunk.length;
    done(null, chunk);
  }

  hex(): string {
    return this.#hash.digest('hex');
  }
}
