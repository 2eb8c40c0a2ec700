import type { Dirent, Stats } from 'node:fs';
import { lstat, readdir, readlink, stat } from 'node:fs/promises';
import path from 'node:path';
import {
  type FileEntry,
  type ListDirectoryAction,
  MAX_LISTED_ENTRIES,
  MAX_OBSERVATION_LENGTH,
} from '@slipway/contracts/actions';
import { fileError } from '../files/disk-space.js';
import { notADirectory, searchPlace } from './search-place.js';

export interface Listing {
  readonly text: string;
  readonly directory: string;
  readonly entries: readonly FileEntry[];
  readonly total: number;
  readonly truncated: boolean;
}

/**
 * What is in a directory, hidden entries too, by name; with `recursive` also one level below. Nothing is opened: pipes
 * and devices are only named.
 */
export async function listDirectory(
  action: ListDirectoryAction,
  options: { readonly directory: string; readonly signal: AbortSignal },
): Promise<Listing> {
  const { place, found } = await searchPlace(options.directory, action.dir_path);
  if (!found.isDirectory()) throw notADirectory(place);
  const entries: FileEntry[] = [];
  const lines: string[] = [];
  let total = 0;
  let length = 0;
  const take = async (folder: string, depth: number): Promise<void> => {
    const names = await namesIn(folder, depth);
    total += names.length;
    for (const entry of names) {
      options.signal.throwIfAborted();
      if (entries.length >= MAX_LISTED_ENTRIES || length > MAX_OBSERVATION_LENGTH - 1_000) break;
      const full = path.join(folder, entry.name);
      const { listed, line } = await describe(full, path.relative(place, full));
      entries.push(listed);
      lines.push(line);
      length += line.length + 1;
      if (action.recursive && depth === 1 && entry.isDirectory()) await take(full, 2);
    }
  };
  await take(place, 1);
  const truncated = entries.length < total;
  const more = truncated
    ? `\n[Only the first ${entries.length} of ${total} entries are listed. List a directory below, or use glob.]`
    : '';
  const text = total === 0 ? `${place} is empty.` : `${place}:\n${lines.join('\n')}${more}`;
  return { text, directory: place, entries, total, truncated };
}

/** A folder below that may not be read is listed as empty; the one that was asked for is an error. */
async function namesIn(folder: string, depth: number): Promise<Dirent[]> {
  try {
    return (await readdir(folder, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (depth === 1) throw fileError(error, folder);
    return [];
  }
}

async function describe(full: string, shown: string): Promise<{ listed: FileEntry; line: string }> {
  const own = await lstat(full).catch(() => undefined);
  const target = own?.isSymbolicLink() === true ? await readlink(full).catch(() => '?') : undefined;
  const found = target === undefined ? own : ((await stat(full).catch(() => undefined)) ?? own);
  const isDirectory = found?.isDirectory() === true;
  const size = found?.isFile() === true ? found.size : 0;
  const listed = {
    name: path.basename(full),
    path: full,
    is_directory: isDirectory,
    size,
    modified_time: new Date(found?.mtimeMs ?? 0).toISOString(),
  };
  return {
    listed,
    line: `${shown}${isDirectory ? '/' : ''}${target === undefined ? '' : ` -> ${target}`}${remark(found)}`,
  };
}

function remark(found: Stats | undefined): string {
  if (found === undefined) return ' (gone)';
  if (found.isFile()) return ` (${found.size} bytes)`;
  if (found.isFIFO()) return ' (pipe)';
  if (found.isSocket()) return ' (socket)';
  if (found.isCharacterDevice() || found.isBlockDevice()) return ' (device)';
  return '';
}
