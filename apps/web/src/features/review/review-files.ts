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
