import path from 'node:path';
import { AGENT_ROUTES, type AgentRoute } from '@slipway/contracts/agent';
import { parseOrThrow } from '@slipway/errors';
import { z } from 'zod';
import type { Conversations } from '../conversations/conversations.js';
import { ok, type Route, serve } from '../http/router.js';
import type { SecretMask } from '../secrets/secret-mask.js';
import type { ActionServerClient } from './action-server-client.js';

const ArchiveQuery = z.looseObject({
  format: z.enum(['git-delta', 'tar.gz']).default('git-delta'),
  base_ref: z.string().max(200).optional(),
});

/** Files and git of the workspace: handed on to the tool process, which alone touches them. */
export function workspaceRoutes(
  conversations: Conversations,
  actionServer: ActionServerClient,
  workspaceDir: string,
  mask: SecretMask,
): Route[] {
  const forward = (method: 'GET' | 'POST', where: string): Route => ({
    method,
    path: `/api${where}`,
    access: 'session',
    handle: (call) => actionServer.forward(call, where),
  });
  /** What people are shown of files, as text. */
  const masked = (where: string): Route => ({
    ...forward('GET', where),
    handle: (call) => actionServer.forward(call, where, mask.stream()),
  });
  /** Against the beginning of a turn, once that is remembered. */
  const compared = (route: Route): Route => ({
    ...route,
    handle: async (call) => {
      const turn = call.query.get('turn');
      if (turn !== null) await actionServer.turnMarked(turn);
      return route.handle(call);
    },
  });
  /** Of the platform's routes: the tool process has them without the prefix. */
  const toolPath = ({ path: address }: AgentRoute): string => address.replace(/^\/api/, '');
  const shown = (entry: AgentRoute): Route =>
    serve(entry, (call) => actionServer.forward(call, toolPath(entry), mask.stream()));
  return [
    serve(AGENT_ROUTES.uploadFile, async (call) => {
      const { status, body } = await actionServer.forwardForJson(call, '/file/upload');
      const { path: file, sizeBytes } = body as { path?: unknown; sizeBytes?: unknown };
      return ok(status < 300 ? { success: true, file_size: sizeBytes, path: file } : body, status);
    }),
    { ...forward('GET', '/file/download'), handle: (call) => actionServer.download(call, '/file/download') },
    forward('GET', '/file/zip'),
    forward('POST', '/file/unzip'),
    forward('POST', '/file/create_directory'),
    forward('GET', '/file/search_subdirs'),
    compared(shown(AGENT_ROUTES.changes)),
    compared(masked('/git/diff')),
    compared(shown(AGENT_ROUTES.patch)),
    // Bytes of git objects: nothing in them can be masked.
    serve(AGENT_ROUTES.bundle, (call) => actionServer.forward(call, toolPath(AGENT_ROUTES.bundle))),
    shown(AGENT_ROUTES.commits),
    shown(AGENT_ROUTES.markLook),
    shown(AGENT_ROUTES.repositories),
    // Numbers: nothing in them can be masked.
    serve(AGENT_ROUTES.fingerprints, (call) => actionServer.forward(call, toolPath(AGENT_ROUTES.fingerprints))),
    {
      ...masked('/git/commits/:sha/changes'),
      handle: (call) => {
        call.query.set('commit', call.params['sha'] ?? '');
        return actionServer.forward(call, '/git/commit_changes', mask.stream());
      },
    },
    {
      method: 'GET',
      path: '/api/file/archive',
      access: 'session',
      // A patch unless something else is asked for, as OpenHands' clients expect.
      handle: (call) => {
        const { format, base_ref } = parseOrThrow(ArchiveQuery, Object.fromEntries(call.query));
        if (format === 'tar.gz') return actionServer.forward(call, '/file/tar');
        if (base_ref !== undefined && base_ref !== '') call.query.set('base', base_ref);
        return actionServer.forward(call, '/git/patch', mask.stream());
      },
    },
    ...['', '/:file*'].map(
      (rest): Route => ({
        method: 'GET',
        path: `/api/conversations/:id/workspace${rest}`,
        access: 'session',
        handle: async (call) => {
          const { working_dir } = (await conversations.get(call.params['id'])).info().workspace;
          // A download never runs in a browser with the rights of this server.
          call.query.set('path', path.posix.join(working_dir, call.params['file'] ?? 'index.html'));
          return actionServer.forward(call, '/file/download');
        },
      }),
    ),
    {
      method: 'GET',
      path: '/api/file/home',
      access: 'session',
      handle: () => ok({ home: workspaceDir, favorites: [], locations: [] }),
    },
  ];
}
