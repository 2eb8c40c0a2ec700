import { PathQuery, queryOf } from '../http/query.js';
import type { Routes } from '../http/server.js';
import { extractUpload } from './extract-zip.js';
import { sendZip } from './send-zip.js';

export function zipRoutes(workspace: string): Routes {
  return {
    'GET /file/zip': ({ query, response, signal }) =>
      sendZip(workspace, queryOf(PathQuery, query).path, response, signal),
    'POST /file/unzip': ({ query, request, signal }) =>
      extractUpload(workspace, queryOf(PathQuery, query).path, request, signal),
  };
}
