import { GitChange } from '@slipway/contracts/agent';
import { type FileChange, type FolderChange, MAX_LISTED_FILES } from '@slipway/contracts/repositories';
import { filesOfFolder } from '@slipway/domain/review';
import { readInTurn, textOfList } from '../sandbox-answers.js';

/** `files` as JSON text. */
export interface Listed {
  readonly files: string;
  readonly folders: readonly FolderChange[];
  readonly left: number;
}

/** How many lines they have is the page's to judge. */
const MOST = { files: MAX_LISTED_FILES, lines: Number.POSITIVE_INFINITY };

/**
 * What a sandbox answered about a folder, or left behind. A sandbox may be older than the bound, or say less than it
 * was asked for: it holds for what is answered here. @throws SyntaxError, ZodError.
 */
export async function listedChanges(text: string, folder: string): Promise<Listed> {
  const items: GitChange[] = [];
  await readInTurn(text, (item) => void items.push(GitChange.parse(item)));
  const sums = items.filter(({ files }) => files !== undefined);
  const rest = items.filter(({ files }) => files === undefined);
  const { files, folders, left } = filesOfFolder(rest, folder, MOST);
  return {
    files: await textOfList(files, toFileChange),
    folders: [...sums.filter(({ path }) => path !== folder).map(toFolderChange), ...folders],
    left: left + sums.filter(({ path }) => path === folder).reduce((sum, each) => sum + (each.files ?? 0), 0),
  };
}

function toFolderChange(item: GitChange): FolderChange {
  return {
    path: item.path,
    files: item.files ?? 1,
    additions: item.additions ?? 0,
    deletions: item.deletions ?? 0,
  };
}

function toFileChange(change: GitChange): FileChange {
  return {
    path: change.path,
    status: change.status,
    additions: change.additions ?? 0,
    deletions: change.deletions ?? 0,
    binary: change.binary ?? false,
    ...(change.hash === undefined ? {} : { hash: change.hash }),
  };
}
