import path from 'node:path';
import { AGENT_ROUTES } from '@slipway/contracts/agent';
import type { Config } from '../config.js';
import { ok, type Route, serve } from '../http/router.js';
import type { ActionServerClient } from './action-server-client.js';

const FALLBACK_BASE = 'http://localhost:60001';

/**
 * VS Code in the browser, at OpenHands' addresses. Asking for its address starts it; asking for its status does not.
 */
export function vscodeRoutes(
  actionServer: ActionServerClient,
  { HOST, WORKSPACE_DIR }: Pick<Config, 'HOST' | 'WORKSPACE_DIR'>,
): Route[] {
  return [
    serve(AGENT_ROUTES.editor, async ({ query, signal }) => {
      const opened = await actionServer.openVscode(HOST, signal);
      if (!opened.open) return ok({ url: null, reason: opened.reason });
      const base = (query.get('base_url') ?? FALLBACK_BASE).replace(/\/+$/, '');
      const folder = path.resolve(WORKSPACE_DIR, query.get('workspace_dir') ?? '.');
      return ok({ url: `${base}/?${new URLSearchParams({ tkn: opened.token, folder })}`, reason: null });
    }),
    {
      method: 'GET',
      path: '/api/vscode/status',
      access: 'session',
      handle: async () => ok(await actionServer.vscodeStatus()),
    },
  ];
}
