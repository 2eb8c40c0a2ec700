import { AGENT_ROUTES } from '@slipway/contracts/agent';
import { SlipwayError } from '@slipway/errors';
import { ok, type Route, serve } from '../http/router.js';
import type { SecretMask } from '../secrets/secret-mask.js';
import type { ActionServerClient } from './action-server-client.js';
import { credentialsIn } from './mcp-secrets.js';

/** Longest test, and what it takes besides. Milliseconds. */
const TEST_MS = 130_000;

/** OpenHands' test of a server's settings: reached from inside the sandbox, as an agent would. */
export function mcpRoutes(actionServer: ActionServerClient, mask: SecretMask): Route[] {
  return [
    serve(AGENT_ROUTES.testMcpServer, async (call) => {
      const asked = await call.body();
      mask.add(credentialsIn({ [asked.name]: asked.server }));
      const { status, body } = await actionServer.request(
        'POST',
        '/mcp/test',
        asked,
        AbortSignal.any([call.signal, AbortSignal.timeout(TEST_MS)]),
      );
      if (status >= 300)
        throw new SlipwayError(
          'sandbox.tool-unavailable',
          'The tool process of the sandbox did not try the server. Try again.',
        );
      return ok(JSON.parse(mask.text(JSON.stringify(body))) as object);
    }),
  ];
}
