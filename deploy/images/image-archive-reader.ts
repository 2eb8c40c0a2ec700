import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { type ExtractEvents, extract } from 'tar-stream';
import { runCommand } from './run-command.ts';

/** A path of the image as a container sees it, all layers laid over each other. */
export interface ImageFile {
  readonly kind: 'directory' | 'file' | 'link' | 'other';
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Of a link: where it points. */
  readonly target: string;
  /** Of a file. */
  readonly sha256: string;
  /** The first 64 KiB of a file; all of one that was asked for whole. */
  readonly head: Buffer;
}

export interface ReadImage {
  readonly architecture: string;
  readonly config: {
    readonly User?: string;
    readonly Entrypoint?: readonly string[];
    readonly Env?: readonly string[];
    readonly Volumes?: Readonly<Record<string, unknown>>;
  };
  /** By path without a leading slash. */
  readonly files: ReadonlyMap<string, ImageFile>;
}

interface Descriptor {
  readonly mediaType?: string;
  readonly digest: string;
  readonly platform?: { readonly architecture: string; readonly os: string };
}

const HEAD_BYTES = 64 << 10;
const MINUTES = 60_000;

/**
 * Reads an OCI archive, whoever wrote it: ours, `docker save` (from 25 on), `ctr images export`, buildah. @throws Error
 * that says what about it is not one.
 */
export async function readImageArchive(
  archive: string,
  architecture: string,
  signal: AbortSignal,
  keepWhole: (path: string) => boolean = () => false,
): Promise<ReadImage> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-image-'));
  try {
    await runCommand('tar', ['-xf', path.resolve(archive), '-C', folder], { timeout: 10 * MINUTES, signal });
    const blob = ({ digest }: Descriptor): string => path.join(folder, 'blobs', ...digest.split(':'));
    const index = JSON.parse(
      await readFile(path.join(folder, 'index.json'), 'utf8').catch((error: unknown) => {
        throw new Error(
          `${archive} is no OCI archive: it has no index.json. Write one with \`docker save\` of Docker 25 or newer, or with buildah.`,
          {
            cause: error,
          },
        );
      }),
    ) as { manifests: Descriptor[] };
    let manifest = chosen(index.manifests, architecture, archive);
    let body = JSON.parse(await readFile(blob(manifest), 'utf8')) as {
      manifests?: Descriptor[];
      config: Descriptor;
      layers: Descriptor[];
    };
    if (body.manifests !== undefined) {
      manifest = chosen(body.manifests, architecture, archive);
      body = JSON.parse(await readFile(blob(manifest), 'utf8')) as typeof body;
    }
    const { architecture: made, config } = JSON.parse(await readFile(blob(body.config), 'utf8')) as {
      architecture: string;
      config?: ReadImage['config'];
    };
    const files = new Map<string, ImageFile>();
    for (const layer of body.layers) await layOver(files, blob(layer), signal, keepWhole);
    return { architecture: made, config: config ?? {}, files };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * The file that a path means, links followed inside of the image as the kernel would; `undefined`: there is none, or
 * the links run in a circle.
 */
export function lookUp(files: ReadonlyMap<string, ImageFile>, wanted: string, hops = 0): ImageFile | undefined {
  if (hops > 40) return undefined;
  const parts = wanted.split('/').filter((part) => part !== '');
  for (let length = 1; length <= parts.length; length += 1) {
    const at = parts.slice(0, length).join('/');
    const file = files.get(at);
    if (file?.kind !== 'link') {
      if (length === parts.length) return file;
      continue;
    }
    const rest = parts.slice(length).join('/');
    return lookUp(
      files,
      path.posix.join(
        file.target.startsWith('/') ? file.target : path.posix.join(path.posix.dirname(`/${at}`), file.target),
        rest,
      ),
      hops + 1,
    );
  }
  return undefined;
}

function chosen(manifests: readonly Descriptor[], architecture: string, archive: string): Descriptor {
  const found = manifests.find(
    ({ platform }) => platform === undefined || (platform.os === 'linux' && platform.architecture === architecture),
  );
  if (found === undefined) throw new Error(`${archive} holds no image for linux/${architecture}.`);
  return found;
}

async function layOver(
  files: Map<string, ImageFile>,
  blob: string,
  signal: AbortSignal,
  keepWhole: (path: string) => boolean,
): Promise<void> {
  const magic = await firstBytes(blob);
  const decompress =
    magic.readUInt16BE(0) === 0x1f8b
      ? createGunzip()
      : magic.readUInt32LE(0) === 0xfd2fb528
        ? createZstdDecompress()
        : new PassThrough();
  const reader = extract();
  const read = (async () => {
    const fresh = new Set<string>();
    for await (const entry of reader) {
      const at = path.posix.join('/', entry.header.name).replace(/^\/|\/$/g, '');
      const name = path.posix.basename(at);
      const folder = path.posix.dirname(at) === '.' ? '' : path.posix.dirname(at);
      if (name === '.wh..wh..opq') remove(files, folder, fresh, false);
      else if (name.startsWith('.wh.')) remove(files, path.posix.join(folder, name.slice(4)), fresh, true);
      else {
        const file = await fileOf(entry, files, keepWhole(at) ? Number.POSITIVE_INFINITY : HEAD_BYTES);
        if (file.kind !== 'directory') remove(files, at, fresh, true);
        if (at !== '') files.set(at, file);
        fresh.add(at);
      }
      entry.resume();
    }
  })();
  read.catch((error: unknown) => reader.destroy(error instanceof Error ? error : new Error(String(error))));
  await Promise.all([
    pipeline(createReadStream(blob, { highWaterMark: 1 << 20 }), decompress, reader, { signal }),
    read,
  ]);
}

/** A whiteout hides what lower layers have; not what its own layer brings. */
function remove(files: Map<string, ImageFile>, at: string, fresh: ReadonlySet<string>, itself: boolean): void {
  if (itself && !fresh.has(at)) files.delete(at);
  const below = at === '' ? '' : `${at}/`;
  if (!itself || files.get(at) === undefined)
    for (const name of files.keys()) if (name.startsWith(below) && !fresh.has(name)) files.delete(name);
}

async function fileOf(
  entry: ExtractEvents['entry'][1],
  files: ReadonlyMap<string, ImageFile>,
  kept: number,
): Promise<ImageFile> {
  const { type, mode, uid, gid, linkname } = entry.header;
  const common = { mode: mode & 0o7777, uid, gid, target: '', sha256: '', head: Buffer.alloc(0) };
  if (type === 'directory') return { ...common, kind: 'directory' };
  if (type === 'symlink') return { ...common, kind: 'link', target: linkname };
  // A second name of a file that came before.
  if (type === 'link') return files.get(path.posix.join('/', linkname).slice(1)) ?? { ...common, kind: 'other' };
  if (type !== 'file' && type !== 'contiguous-file') return { ...common, kind: 'other' };
  const hash = createHash('sha256');
  const head: Buffer[] = [];
  let length = 0;
  for await (const chunk of entry as AsyncIterable<Buffer>) {
    hash.update(chunk);
    if (length < kept) head.push(chunk.subarray(0, Math.min(chunk.length, kept - length)));
    length += chunk.length;
  }
  return { ...common, kind: 'file', sha256: hash.digest('hex'), head: Buffer.concat(head) };
}

async function firstBytes(file: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of createReadStream(file, { end: 7 })) chunks.push(chunk as Buffer);
  return Buffer.concat([...chunks, Buffer.alloc(8)]).subarray(0, 8);
}
