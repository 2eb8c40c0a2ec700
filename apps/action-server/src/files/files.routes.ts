import { z } from 'zod';
import { PathQuery, queryOf } from '../http/query.js';
import type { Routes } from '../http/server.js';
import { createDirectory, searchSubdirectories } from './directories.js';
import { downloadFile } from './download.js';
import { uploadFile } from './upload.js';

const SubdirectoriesQuery = PathQuery.extend({
  page_id: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  include_hidden: z.stringbool().default(false),
});

export function fileRoutes(workspace: string): Routes {
  return {
    'POST /file/upload': ({ query, request }) => uploadFile(workspace, queryOf(PathQuery, query).path, request),
    'GET /file/download': ({ query, response }) => downloadFile(workspace, queryOf(PathQuery, query).path, response),
    'POST /file/create_directory': ({ query }) => createDirectory(workspace, queryOf(PathQuery, query).path),
    'GET /file/search_subdirs': ({ query }) => {
      const {
        path: directory,
        page_id: pageId,
        limit,
        include_hidden: includeHidden,
      } = queryOf(SubdirectoriesQuery, query);
      return searchSubdirectories(workspace, { path: directory, pageId, limit, includeHidden });
    },
  };
}
