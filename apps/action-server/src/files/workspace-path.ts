import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { SlipwayError } from '@slipway/errors';
import { fileError } from './disk-space.js';

/**
 * Where clients expect the workspace of every sandbox. OpenHands' `OpenHandsCloudWorkspace` works in a folder below it
 * by default.
 */
const COMMON_NAME = '/workspace';

/**
 * A path as this sandbox knows it: what a client names below `/workspace` is below the workspace, wherever that is, so
 * that the process backend has the same paths as pods. Every other path stays as it is.
 */
export function asWorkspacePath(workspace: string, wanted: string): string {
  if (workspace === COMMON_NAME || workspace.startsWith(`${COMMON_NAME}/`)) return wanted;
  const normal = path.posix.normalize(wanted);
  if (normal !== COMMON_NAME && !normal.startsWith(`${COMMON_NAME}/`)) return wanted;
  return path.join(workspace, normal.slice(COMMON_NAME.length));
}

/**
 * The real path of something in the workspace, whether it exists or not; relative paths begin at the workspace.
 * Links are followed first, so none leads out. @throws SlipwayError `file.outside-workspace`, `request.invalid`.
 */
export async function insideWorkspace(workspace: string, wanted: string): Promise<string> {
  if (wanted.includes('\0')) throw new SlipwayError('request.invalid', 'The path holds a NUL character.');
  const root = await realpath(workspace);
  const resolved = await realpathOfDeepest(path.resolve(root, asWorkspacePath(root, wanted)));
  if (resolved !== root && !resolved.startsWith(`${root}${path.sep}`))
    throw new SlipwayError('file.outside-workspace', `${wanted} is outside the workspace.`);
  return resolved;
}

/** `realpath` for what may not exist yet: that of its deepest folder that does, and the remainder unchanged. */
async function realpathOfDeepest(absolute: string): Promise<string> {
  const rest: string[] = [];
  for (let folder = absolute; ; folder = path.dirname(folder)) {
    try {
      return path.join(await realpath(folder), ...rest);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || folder === path.dirname(folder))
        throw fileError(error, absolute);
      rest.unshift(path.basename(folder));
    }
  }
}
