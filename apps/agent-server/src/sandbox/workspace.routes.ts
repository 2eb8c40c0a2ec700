import { SlipwayError } from '@slipway/errors';
import { type Call, ok, type Route } from '../http/router.js';
import type { ActionServerClient } from './action-server-client.js';

const COMMAND_TIMEOUT_S = 20;
const MAX_SUBDIRECTORIES = 1_000;

/** Files and git of the workspace: handed on to the tool process, which alone touches them. */
export function workspaceRoutes(actionServer: ActionServerClient, workspaceDir: string): Route[] {
  const forward = (method: 'GET' | 'POST', path: string, to: string): Route => ({
    method,
    path,
    access: 'session',
    handle: (call) => actionServer.forward(call, to),
  });
  const run = async (call: Call, command: string): Promise<string> => {
    const env = { TARGET: pathOf(call) };
    const result = await actionServer.runCommand({ command, timeout: COMMAND_TIMEOUT_S, env }, call.signal);
    if (result.exitCode !== 0) throw new SlipwayError('request.invalid', result.stderr.trim() || `The command ended with exit code ${result.exitCode}.`);
    return result.stdout;
  };
  return [
    forward('POST', '/api/file/upload', '/file/upload'),
    forward('GET', '/api/file/download', '/file/download'),
    forward('GET', '/api/git/changes', '/git/changes'),
    forward('GET', '/api/git/diff', '/git/diff'),
    forward('GET', '/api/git/patch', '/git/patch'),
    {
      method: 'POST',
      path: '/api/file/create_directory',
      access: 'session',
      handle: async (call) => {
        await run(call, 'mkdir -p -- "$TARGET"');
        return ok({ success: true });
      },
    },
    { method: 'GET', path: '/api/file/home', access: 'session', handle: () => ok({ home: workspaceDir, favorites: [], locations: [] }) },
    {
      method: 'GET',
      path: '/api/file/search_subdirs',
      access: 'session',
      handle: async (call) => {
        const limit = Math.min(MAX_SUBDIRECTORIES, Math.max(1, Number(call.query.get('limit') ?? 100) || 100));
        const from = Number(call.query.get('page_id') ?? 0) || 0;
        const target = pathOf(call).replace(/\/+$/, '');
        const listing = await run(
          call,
          `find "$TARGET/" -mindepth 1 -maxdepth 1 -type d ${call.query.get('include_hidden') === 'true' ? '' : "-not -name '.*'"} -printf '%f\\0'`,
        );
        const names = listing
          .split('\0')
          .filter((name) => name !== '')
          .sort();
        const items = names.slice(from, from + limit).map((name) => ({ name, path: `${target}/${name}` }));
        return ok({ items, next_page_id: names.length > from + limit ? String(from + limit) : null });
      },
    },
  ];
}

function pathOf(call: Call): string {
  const path = call.query.get('path') ?? '';
  if (!path.startsWith('/') || path.includes('\0'))
    throw new SlipwayError('request.invalid', 'path: must be absolute', { fields: [{ path: 'path', message: 'must be absolute' }] });
  return path;
}
