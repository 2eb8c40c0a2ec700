import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { SlipwayError } from '@slipway/errors';
import { DirectoryPackStore } from './directory-pack-store.js';
import { PACK_PREFIX, type PackStore } from './pack-store.js';
import { openS3PackStore } from './s3-pack-store.js';

/**
 * Packs beside the workspaces of the store that `WORKSPACE_STORE` names, in a folder or prefix of their own. Asks
 * nothing of it. @throws SlipwayError `config.invalid`
 */
export async function openPackStore(url: URL): Promise<PackStore> {
  if (url.protocol === 'file:') return new DirectoryPackStore(path.join(fileURLToPath(url), PACK_PREFIX));
  if (url.hostname === '')
    throw new SlipwayError('config.invalid', 'configuration:\n  WORKSPACE_STORE: names no bucket');
  const endpoint = url.searchParams.get('endpoint');
  const region = url.searchParams.get('region');
  const prefix = url.pathname.replace(/^\//, '').replace(/([^/])$/, '$1/');
  return openS3PackStore({
    bucket: url.hostname,
    prefix: `${prefix}${PACK_PREFIX}`,
    ...(region === null ? {} : { region }),
    // Stores other than AWS have no host name for each bucket.
    ...(endpoint === null ? {} : { endpoint, pathStyle: true }),
  });
}
