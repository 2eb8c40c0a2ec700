import { OpenVscodeRequest } from '@slipway/contracts/sandboxes';
import { jsonBody } from '../http/body.js';
import type { Routes } from '../http/server.js';
import type { VscodeServer } from './vscode-server.js';

export const vscodeRoutes = (vscode: VscodeServer): Routes => ({
  'GET /vscode/status': async () => vscode.status(),
  'POST /vscode/open': async ({ request }) => vscode.open((await jsonBody(request, OpenVscodeRequest)).host),
});
