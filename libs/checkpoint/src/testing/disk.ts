import {
  appendFileSync,
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import fc from 'fast-check';
import { contentIdOf } from '../objects/content-id.js';

/** Paths are bytes here too, one a character. */
const onDisk = (path: string): Buffer => Buffer.from(path, 'latin1');

/** A few, so that operations meet: a case pair, bytes that are no UTF-8, text of several bytes, a new line. */
export const NAMES = ['a', 'b', 'A', 'c.txt', '\xff\xfe', '\xc3\xa4', 'x\ny', '-', 'é'.repeat(3)];
const SIZES = [0, 1, 17, 4_096, 70_000, 1_100_000, 2_500_000];

export type Operation =
  | { readonly kind: 'write'; readonly path: readonly number[]; readonly size: number; readonly seed: number }
  | {
      readonly kind: 'append' | 'truncate' | 'delete' | 'mkdir' | 'keep-times';
      readonly path: readonly number[];
      readonly seed: number;
    }
  | { readonly kind: 'chmod'; readonly path: readonly number[]; readonly mode: number }
  | { readonly kind: 'rename' | 'link' | 'symlink'; readonly path: readonly number[]; readonly to: readonly number[] };

const paths = fc.array(fc.nat(NAMES.length - 1), { minLength: 1, maxLength: 3 });

export const operations = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('write' as const),
        path: paths,
        size: fc.nat(SIZES.length - 1),
        seed: fc.nat(9),
      }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constantFrom(
          'append' as const,
          'truncate' as const,
          'delete' as const,
          'mkdir' as const,
          'keep-times' as const,
        ),
        path: paths,
        seed: fc.nat(99),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('chmod' as const),
        path: paths,
        mode: fc.constantFrom(0o644, 0o755, 0o600, 0o4755, 0o1777, 0o400),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constantFrom('rename' as const, 'link' as const, 'symlink' as const),
        path: paths,
        to: paths,
      }),
    },
  ),
  { minLength: 1, maxLength: 25 },
);

const pathOf = (root: string, steps: readonly number[]): string =>
  [root, ...steps.map((step) => NAMES[step] as string)].join('/');

/** Does what can be done: one that the disk refuses (a folder in the way, nothing there) is no operation. */
export function perform(root: string, list: readonly Operation[]): void {
  for (const operation of list) {
    const path = pathOf(root, operation.path);
    try {
      performOne(root, path, operation);
    } catch (error) {
      if (
        (error as NodeJS.ErrnoException).syscall === undefined &&
        (error as { code?: string }).code !== 'ERR_FS_EISDIR'
      )
        throw error;
    }
  }
}

function performOne(root: string, path: string, operation: Operation): void {
  switch (operation.kind) {
    case 'write':
      mkdirSync(onDisk(path.slice(0, path.lastIndexOf('/'))), { recursive: true });
      writeFileSync(onDisk(path), bytesOf(SIZES[operation.size] as number, operation.seed));
      break;
    case 'append':
      appendFileSync(onDisk(path), `more ${operation.seed}`);
      break;
    case 'truncate':
      truncateSync(onDisk(path), operation.seed * 65_536);
      break;
    case 'delete':
      rmSync(onDisk(path), { recursive: true });
      break;
    case 'mkdir':
      mkdirSync(onDisk(path), { recursive: true });
      break;
    case 'keep-times':
      keepTimes(path, operation.seed);
      break;
    case 'chmod':
      if (!lstatSync(onDisk(path)).isSymbolicLink()) chmodSync(onDisk(path), operation.mode);
      break;
    case 'rename':
      renameSync(onDisk(path), onDisk(pathOf(root, operation.to)));
      break;
    case 'link':
      linkSync(onDisk(path), onDisk(pathOf(root, operation.to)));
      break;
    case 'symlink':
      symlinkSync(onDisk(NAMES[operation.to[0] as number] as string), onDisk(path));
  }
}

/** Other bytes of the same length, and the time as it was: what `touch -r` and `cp -p` do. */
export function keepTimes(path: string, seed: number): void {
  const stat = lstatSync(onDisk(path));
  if (!stat.isFile() || stat.size === 0) return;
  const bytes = readFileSync(onDisk(path));
  bytes[seed % bytes.length] = (bytes[seed % bytes.length] as number) ^ 1;
  writeFileSync(onDisk(path), bytes);
  utimesSync(onDisk(path), stat.atimeMs / 1_000, stat.mtimeMs / 1_000);
}

/** Text, a long hole in the middle of large ones, then noise of a kind. */
export function bytesOf(size: number, seed: number): Buffer {
  const bytes = Buffer.alloc(size);
  let word = seed * 2_654_435_761 + 1;
  for (let at = 0; at < size; at += 1) {
    if (at > 300_000 && at < 600_000) continue;
    word = (Math.imul(word, 1_103_515_245) + 12_345) | 0;
    bytes[at] = (word >>> 16) & 0xff;
  }
  return bytes;
}

export interface Seen {
  readonly kind: string;
  readonly mode: number;
  /** Microseconds. */
  readonly mtime: number;
  readonly content: string;
  /** Least path of the same file, itself among them. */
  readonly first: string;
}

/** What is on disk, by another way than a capture's. @param without paths that are left out. */
export function look(root: string, without: (path: string) => boolean = () => false): Map<string, Seen> {
  const seen = new Map<string, Seen>();
  const firsts = new Map<string, string>();
  const into = (folder: string, prefix: string): void => {
    for (const name of readdirSync(onDisk(folder), { encoding: 'buffer' })
      .map((bytes) => bytes.toString('latin1'))
      .sort()) {
      const [path, below] = [`${folder}/${name}`, `${prefix}${name}`];
      if (without(below)) continue;
      const stat = lstatSync(onDisk(path));
      const key = `${stat.dev} ${stat.ino}`;
      if (!firsts.has(key)) firsts.set(key, below);
      const kind = stat.isDirectory() ? 'folder' : stat.isFile() ? 'file' : stat.isSymbolicLink() ? 'link' : 'other';
      seen.set(below, {
        kind,
        mode: kind === 'link' ? 0 : stat.mode & 0o1777,
        mtime: Math.round(stat.mtimeMs * 1_000),
        content:
          kind === 'file'
            ? contentIdOf(readFileSync(onDisk(path)))
            : kind === 'link'
              ? readlinkSync(onDisk(path), 'latin1')
              : '',
        first: kind === 'file' ? (firsts.get(key) as string) : '',
      });
      if (kind === 'folder') into(path, `${below}/`);
    }
  };
  into(root, '');
  return seen;
}
