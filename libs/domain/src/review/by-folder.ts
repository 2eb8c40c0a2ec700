/** A folder with changed files that are not listed one by one. */
export interface FolderChange {
  /** Without a slash at its end. */
  readonly path: string;
  readonly files: number;
  readonly additions: number;
  readonly deletions: number;
}

interface Changed {
  readonly path: string;
  readonly additions?: number | undefined;
  readonly deletions?: number | undefined;
}

/** What of a folder is listed. */
export interface FolderListing<T> {
  readonly files: readonly T[];
  readonly folders: readonly FolderChange[];
  /** Files right in the folder that are neither listed nor in one of `folders`. */
  readonly left: number;
}

/** How much is listed one by one. */
export interface ListedAtMost {
  readonly files: number;
  /** Changed lines of them together. */
  readonly lines: number;
}

/**
 * All files below a folder where there are no more than `most`; else those right in it, at most as many files, and the
 * folders in it with what they hold. Every file is listed, in one of `folders`, or counted in `left`.
 * @param folder `''`: all.
 */
export function filesOfFolder<T extends Changed>(
  files: readonly T[],
  folder: string,
  most: ListedAtMost,
): FolderListing<T> {
  const atMost = most.files;
  const begins = folder === '' ? '' : `${folder}/`;
  const below = files.filter(({ path }) => path.startsWith(begins));
  const lines = below.reduce((sum, { additions = 0, deletions = 0 }) => sum + additions + deletions, 0);
  if (below.length <= atMost && lines <= most.lines) return { files: below, folders: [], left: 0 };
  const direct: T[] = [];
  const folders = new Map<string, FolderChange>();
  for (const file of below) {
    const slash = file.path.indexOf('/', begins.length);
    if (slash < 0) {
      direct.push(file);
      continue;
    }
    const path = file.path.slice(0, slash);
    const { files: count, additions, deletions } = folders.get(path) ?? { files: 0, additions: 0, deletions: 0 };
    folders.set(path, {
      path,
      files: count + 1,
      additions: additions + (file.additions ?? 0),
      deletions: deletions + (file.deletions ?? 0),
    });
  }
  // Those with most files first where there are more than can be listed.
  const listed = [...folders.values()].sort((a, b) => b.files - a.files).slice(0, atMost);
  const beyond = below.length - direct.length - listed.reduce((sum, { files: count }) => sum + count, 0);
  return {
    files: direct.slice(0, atMost),
    folders: listed.sort((a, b) => (a.path < b.path ? -1 : 1)),
    left: Math.max(0, direct.length - atMost) + beyond,
  };
}
