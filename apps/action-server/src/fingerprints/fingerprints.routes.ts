import { PathQuery, queryOf } from '../http/query.js';
import type { Routes } from '../http/server.js';
import type { WorkspaceFingerprints } from './workspace-fingerprints.js';

/** Of the text of the workspace, for whoever compares with it what leaves. */
export function fingerprintRoutes(fingerprints: WorkspaceFingerprints): Routes {
  return {
    'GET /file/fingerprints': ({ query, signal }) => fingerprints.of(queryOf(PathQuery, query).path, signal),
  };
}
