import { parseOrThrow } from '@slipway/errors';
import { z } from 'zod';
import { PathQuery } from '../http/query.js';
import type { Routes } from '../http/server.js';
import { sendTar } from './folder-archive.js';
import type { WorkspaceArchive } from './workspace-archive.js';

const NameOfFiles = z
  .string()
  .min(1)
  .max(500)
  .refine((name) => !name.includes('\0'), 'it holds a NUL character');
const TarQuery = PathQuery.extend({
  use_default_excludes: z.stringbool().default(true),
  exclude: z.array(NameOfFiles).max(100),
});

export function archiveRoutes(archive: WorkspaceArchive, workspace: string): Routes {
  return {
    'GET /archive/workspace': ({ response, signal }) => archive.send(response, signal),
    'PUT /archive/workspace': ({ request, response, signal }) => archive.take(request, response, signal),
    'GET /file/tar': ({ query, response, signal }) => {
      const {
        path: folder,
        use_default_excludes: without,
        exclude,
      } = parseOrThrow(TarQuery, { ...Object.fromEntries(query), exclude: query.getAll('exclude') });
      return sendTar(workspace, { path: folder, whole: !without, exclude }, response, signal);
    },
  };
}
