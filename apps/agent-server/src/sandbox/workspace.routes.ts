import type { SecretMask } from '../conversations/secret-mask.js';
import { ok, type Route } from '../http/router.js';
import type { ActionServerClient } from './action-server-client.js';

/** Files and git of the workspace: handed on to the tool process, which alone touches them. */
export function workspaceRoutes(actionServer: ActionServerClient, workspaceDir: string, mask: SecretMask): Route[] {
  const forward = (method: 'GET' | 'POST', path: string): Route => ({
    method,
    path: `/api${path}`,
    access: 'session',
    handle: (call) => actionServer.forward(call, path),
  });
  /** What people are shown of files, as text. */
  const masked = (path: string): Route => ({ ...forward('GET', path), handle: (call) => actionServer.forward(call, path, mask.stream()) });
  /** Against the beginning of a turn, once that is remembered. */
  const compared = (path: string): Route => ({
    ...masked(path),
    handle: async (call) => {
      const turn = call.query.get('turn');
      if (turn !== null) await actionServer.turnMarked(turn);
      return actionServer.forward(call, path, mask.stream());
    },
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
    forward('GET', '/file/zip'),
    forward('POST', '/file/unzip'),
    forward('POST', '/file/create_directory'),
    forward('GET', '/file/search_subdirs'),
    compared('/git/changes'),
    compared('/git/diff'),
    compared('/git/patch'),
    masked('/git/commits'),
    masked('/git/repositories'),
    {
      ...masked('/git/commits/:sha/changes'),
      handle: (call) => {
        call.query.set('commit', call.params['sha'] ?? '');
        return actionServer.forward(call, '/git/commit_changes', mask.stream());
      },
    },
    { method: 'GET', path: '/api/file/home', access: 'session', handle: () => ok({ home: workspaceDir, favorites: [], locations: [] }) },
  ];
}
