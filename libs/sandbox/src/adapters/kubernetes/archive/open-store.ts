import { fileURLToPath } from 'node:url';
import { SlipwayError } from '@slipway/errors';
import { DirectoryStore } from './directory-store.js';
import { openS3Store } from './s3-store.js';
import type { WorkspaceStore } from './workspace-store.js';

/**
 * The store that `WORKSPACE_STORE` names: `file:///folder` or `s3://bucket/prefix?region=…&endpoint=…`. Asks nothing of
 * it. @throws SlipwayError `config.invalid`
 */
export async function openWorkspaceStore(url: URL): Promise<WorkspaceStore> {
  if (url.protocol === 'file:') return new DirectoryStore(fileURLToPath(url));
  if (url.hostname === '')
    throw new SlipwayError('config.invalid', 'configuration:\n  WORKSPACE_STORE: names no bucket');
  const endpoint = url.searchParams.get('endpoint');
  const region = url.searchParams.get('region');
  const prefix = url.pathname.replace(/^\//, '').replace(/([^/])$/, '$1/');
  return openS3Store({
    bucket: url.hostname,
    prefix,
    ...(region === null ? {} : { region }),
    // Stores other than AWS have no host name for each bucket.
    ...(endpoint === null ? {} : { endpoint, pathStyle: true }),
  });
}
