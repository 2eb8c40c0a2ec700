import { type Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { fileError } from '../files/disk-space.js';

/** Most entries of a listing. */
const MAX_ENTRIES = 2_000;

/** The directory two levels deep, without hidden entries, as the agent reads it. */
export async function viewDirectory(directory: string): Promise<string> {
  const lines: string[] = [`${directory}/`];
  let hidden = 0;
  const list = async (folder: string, depth: number): Promise<void> => {
    for (const entry of await entriesOf(folder, depth)) {
      if (entry.name.startsWith('.')) {
        if (depth === 1) hidden += 1;
        continue;
      }
      if (lines.length > MAX_ENTRIES) return;
      const full = path.join(folder, entry.name);
      lines.push(entry.isDirectory() ? `${full}/` : full);
      if (entry.isDirectory() && depth < 2) await list(full, depth + 1);
    }
  };
  await list(directory, 1);
  const more = lines.length > MAX_ENTRIES ? `\n\nOnly the first ${MAX_ENTRIES} entries are listed.` : '';
  const note =
    hidden === 0
      ? ''
      : `\n\n${hidden} hidden files/directories in this directory are excluded. You can use 'ls -la ${directory}' to see them.`;
  return `Here's the files and directories up to 2 levels deep in ${directory}, excluding hidden items:\n${lines.join('\n')}${more}${note}`;
}

/** A folder below that may not be read is listed as empty; the one that was asked for is an error. */
async function entriesOf(folder: string, depth: number): Promise<Dirent[]> {
  try {
    return (await readdir(folder, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (depth === 1) throw fileError(error, folder);
    return [];
  }
}
