import type { GitChange } from '@slipway/contracts/agent';
import { filesOfFolder } from '@slipway/domain/review';

/** The changes below a folder; of more than `atMost`, folders stand for the files in them. @param folder `''`: all. */
export function listed(changes: readonly GitChange[], folder: string, atMost: number | undefined): GitChange[] {
  const { files, folders, left } = filesOfFolder(changes, folder, {
    files: atMost ?? Number.POSITIVE_INFINITY,
    lines: Number.POSITIVE_INFINITY,
  });
  return [
    ...files,
    ...folders.map((each): GitChange => ({ status: 'UPDATED', ...each })),
    ...(left === 0 ? [] : [{ status: 'UPDATED' as const, path: folder, files: left }]),
  ];
}
