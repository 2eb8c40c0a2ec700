import type { ReviewThread } from '@slipway/contracts/conversations';
import type { FileChange } from '@slipway/contracts/repositories';
import { byChapter } from '@slipway/domain/review';

/** How the files are listed: in the order of understanding, or by path. */
export type Order = 'chapters' | 'paths';

/** The files whose path has every word of the filter, in order. `*` stands for anything. */
export function filesInOrder(files: readonly FileChange[], order: Order, filter: string): readonly FileChange[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean).map(patternOf);
  const found = files.filter(({ path }) => words.every((word) => word.test(path.toLowerCase())));
  return order === 'paths' ? found : byChapter(found).flatMap((chapter) => chapter.files);
}

function patternOf(word: string): RegExp {
  const parts = word.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(parts.length === 1 ? (parts[0] ?? '') : `${parts.join('.*')}$`);
}

/** Viewed as it is now: one that was changed since is not. */
export function isViewed({ path, hash }: FileChange, viewed: ReadonlyMap<string, string>): boolean {
  return hash !== undefined && viewed.get(path) === hash;
}

/**
 * The open thread that comes next, or before with `by` of -1: files in their order, within one by line. Without a
 * current thread it is the first of the file that is shown, or of the next that has one.
 */
export function threadBeside(
  threads: readonly ReviewThread[],
  files: readonly FileChange[],
  { path, thread }: { readonly path: string | null; readonly thread: string | null },
  by: 1 | -1,
): ReviewThread | null {
  const places = new Map(files.map((file, index) => [file.path, index]));
  const placeOf = ({ anchor }: ReviewThread): number => places.get(anchor.path) ?? -1;
  const open = threads
    .filter((each) => (each.resolvedAt === null || each.id === thread) && placeOf(each) >= 0)
    .sort((a, b) => placeOf(a) - placeOf(b) || a.anchor.line - b.anchor.line || a.number - b.number);
  const current = open.find(({ id }) => id === thread);
  if (current !== undefined && current.anchor.path === path) return open[open.indexOf(current) + by] ?? null;
  const here = path === null ? 0 : (places.get(path) ?? 0);
  return (
    (by === 1 ? open.find((each) => placeOf(each) >= here) : open.findLast((each) => placeOf(each) <= here)) ?? null
  );
}
