import type { FolderChange } from './by-folder.js';
import { lineHash } from './line-hash.js';

/**
 * A name for what a list of changes shows: two alike show the same files with the same content, and folders with as
 * much in them.
 */
export function seenHash(
  files: ReadonlyArray<{ readonly path: string; readonly hash?: string | undefined }>,
  folders: readonly FolderChange[] = [],
): string {
  return lineHash(
    [
      ...files.map(({ path, hash }) => JSON.stringify([path, hash ?? null])),
      ...folders.map((folder) => JSON.stringify([folder.path, folder.files, folder.additions, folder.deletions])),
    ]
      .sort()
      .join('\n'),
  );
}
