import type { Stats } from 'node:fs';
import { COLUMN, COLUMNS, type FolderBlock } from '../index-file/folder-block.js';

/** Latest and earliest time that a tree has, in the years 2112 and 1827. Microseconds since 1970. */
const MAX_TIME = 2 ** 52 - 1;

/** To the microsecond: what `utimes` of Node can set, and reads back after rounding. */
export function mtimeOf({ mtimeMs }: Stats): number {
  return Math.max(-MAX_TIME, Math.min(MAX_TIME, Math.round(mtimeMs * 1_000)));
}

/** What a tree has of a mode: no setuid, no setgid. */
export function modeOf({ mode }: Stats): number {
  return mode & 0o1777;
}

export function numbersOf(stat: Stats): Float64Array {
  const numbers = new Float64Array(COLUMNS);
  numbers[COLUMN.dev] = stat.dev;
  numbers[COLUMN.ino] = stat.ino;
  numbers[COLUMN.mode] = stat.mode;
  numbers[COLUMN.nlink] = stat.nlink;
  numbers[COLUMN.size] = stat.size;
  numbers[COLUMN.mtime] = stat.mtimeMs;
  numbers[COLUMN.ctime] = stat.ctimeMs;
  return numbers;
}

/** Whether nothing was written, moved or set since: ctime sees what keeps size and mtime. */
export function sameStat(block: FolderBlock, index: number, stat: Stats): boolean {
  const { numbers } = block;
  const at = index * COLUMNS;
  return (
    numbers[at + COLUMN.ctime] === stat.ctimeMs &&
    numbers[at + COLUMN.mtime] === stat.mtimeMs &&
    numbers[at + COLUMN.size] === stat.size &&
    numbers[at + COLUMN.ino] === stat.ino &&
    numbers[at + COLUMN.mode] === stat.mode &&
    numbers[at + COLUMN.nlink] === stat.nlink &&
    numbers[at + COLUMN.dev] === stat.dev
  );
}

export function equalStats(one: Stats, other: Stats): boolean {
  return (
    one.ctimeMs === other.ctimeMs &&
    one.mtimeMs === other.mtimeMs &&
    one.size === other.size &&
    one.ino === other.ino &&
    one.mode === other.mode &&
    one.dev === other.dev
  );
}
