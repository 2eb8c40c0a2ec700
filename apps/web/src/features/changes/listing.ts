import { type Changes, MAX_LISTED_FILES } from '@slipway/contracts/repositories';
import { filesOfFolder } from '@slipway/domain/review';

/** What a page shows at once; beyond it, a folder is chosen first. */
const MOST = { files: MAX_LISTED_FILES, lines: 200_000 };

type Listing = Pick<Changes, 'files' | 'folders' | 'left'>;

/** The files of a folder to list one by one, and its folders where there are too many. @param folder `''`: all. */
export function listingOf(changes: Listing, folder: string): Listing {
  const { files, folders, left } = filesOfFolder(changes.files, folder, MOST);
  return { files: [...files], folders: [...folders, ...changes.folders], left: left + changes.left };
}

interface Totals {
  readonly files: number;
  readonly additions: number;
  readonly deletions: number;
}

/** Of all files, listed or not; of those that are `left` out, only how many there are is known. */
export function totalsOf({ files, folders, left }: Listing): Totals {
  const parts = [...files, ...folders];
  return {
    files: files.length + folders.reduce((sum, each) => sum + each.files, 0) + left,
    additions: parts.reduce((sum, { additions }) => sum + additions, 0),
    deletions: parts.reduce((sum, { deletions }) => sum + deletions, 0),
  };
}
