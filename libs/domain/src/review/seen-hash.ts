import { lineHash } from './line-hash.js';

/** A name for what a list of changes shows: two alike show the same files with the same content. */
export function seenHash(files: ReadonlyArray<{ readonly path: string; readonly hash?: string | undefined }>): string {
  return lineHash(
    files
      .map(({ path, hash }) => JSON.stringify([path, hash ?? null]))
      .sort()
      .join('\n'),
  );
}
