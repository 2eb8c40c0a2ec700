import path from 'node:path';
import type { Config } from '../config.js';
import { ok, type Route } from '../http/router.js';
import type { ActionServerClient } from './action-server-client.js';

const FALLBACK_BASE = 'http://localhost:60001';

/** VS Code in the browser, at OpenHands' addresses. Asking for its address starts it; asking for its status does not. */
export function vscodeRoutes(actionServer: ActionServerClient, { HOST, WORKSPACE_DIR }: Pick<Config, 'HOST' | 'WORKSPACE_DIR'>): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/vscode/url',
      access: 'session',
      handle: async ({ query, signal }) => {
        const opened = await actionServer.openVscode(HOST, signal);
        if (!opened.open) return ok({ url: null, reason: opened.reason });
        const base = (query.get('base_url') ?? FALLBACK_BASE).replace(/\/+$/, '');
        const folder = path.resolve(WORKSPACE_DIR, query.get('workspace_dir') ?? '.');
        return ok({ url: `${base}/?${new URLSearchParams({ tkn: opened.token, folder })}`, reason: null });
      },
    },
    { method: 'GET', path: '/api/vscode/status', access: 'session', handle: async () => ok(await actionServer.vscodeStatus()) },
  ];
}
