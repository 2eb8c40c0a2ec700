import { ArchivePart } from '@slipway/contracts/agent';
import { SlipwayError } from '@slipway/errors';
import { WORKSPACE_NAME } from './workspace-store.js';

/** The name as it is. @throws SlipwayError `request.invalid`: nothing else may become a part of a path or a key. */
export function workspaceName(workspace: string): string {
  if (WORKSPACE_NAME.test(workspace)) return workspace;
  throw new SlipwayError(
    'request.invalid',
    'That is no name of a workspace: it has lower-case letters, digits and hyphens, at most 63.',
  );
}

/** Where a part is, below the store's own folder or prefix. @throws SlipwayError `request.invalid`. */
export function archiveKey(workspace: string, part: ArchivePart): string {
  if (!ArchivePart.safeParse(part).success)
    throw new SlipwayError('request.invalid', 'That is no part of a workspace.');
  return `${workspaceName(workspace)}/${part}.tar.zst`;
}
