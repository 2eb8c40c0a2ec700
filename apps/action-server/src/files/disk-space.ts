import { statfs } from 'node:fs/promises';
import { SlipwayError } from '@slipway/errors';

/** What an ordinary user may still write there. Bytes; infinite when the system does not say. */
export async function freeBytes(path: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(path);
    return bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

export function isDiskFull(error: unknown): boolean {
  return error instanceof Error && ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '');
}

/** What the system says of files that are no ordinary ones, such as those of /proc, and of names that cannot be. */
const REFUSALS: ReadonlySet<string> = new Set(
  'ENAMETOOLONG ELOOP EEXIST EIO ENXIO EINVAL ENODEV EBUSY EXDEV ENOTEMPTY ENOTSUP EOPNOTSUPP ETXTBSY EFBIG ESPIPE EAGAIN'.split(
    ' ',
  ),
);

/**
 * The failure as the caller should have it: a full disk and a missing or forbidden file have codes of their own,
 * anything else is ours.
 */
export function fileError(error: unknown, path: string): unknown {
  if (isDiskFull(error))
    return new SlipwayError('sandbox.disk-full', `${path} was not written: the disk of the sandbox is full.`, {
      cause: error,
    });
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return new SlipwayError('file.not-found', `There is no file ${path}.`, { cause: error });
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
    return new SlipwayError('request.invalid', `${path} cannot be accessed: permission denied.`, { cause: error });
  if (code === 'EISDIR') return new SlipwayError('request.invalid', `${path} is a directory.`, { cause: error });
  if (code !== undefined && REFUSALS.has(code))
    return new SlipwayError('request.invalid', `${path} cannot be used: ${code}.`, { cause: error });
  return error;
}
