import { ok, type Route } from '../http/router.js';
import type { ActionServerClient } from './action-server-client.js';

/** Files and git of the workspace: handed on to the tool process, which alone touches them. */
export function workspaceRoutes(actionServer: ActionServerClient, workspaceDir: string): Route[] {
  const forward = (method: 'GET' | 'POST', path: string): Route => ({
    method,
    path: `/api${path}`,
    access: 'session',
    handle: (call) => actionServer.forward(call, path),
  });
  return [
    {
      method: 'POST',
      path: '/api/file/upload',
      access: 'session',
      handle: async (call) => {
        const { status, body } = await actionServer.forwardForJson(call, '/file/upload');
        const { path, sizeBytes } = body as { path?: unknown; sizeBytes?: unknown };
        return ok(status < 300 ? { success: true, file_size: sizeBytes, path } : body, status);
      },
    },
    forward('GET', '/file/download'),
    forward('POST', '/file/create_directory'),
    forward('GET', '/file/search_subdirs'),
    forward('GET', '/git/changes'),
    forward('GET', '/git/diff'),
    forward('GET', '/git/patch'),
    { method: 'GET', path: '/api/file/home', access: 'session', handle: () => ok({ home: workspaceDir, favorites: [], locations: [] }) },
  ];
}
