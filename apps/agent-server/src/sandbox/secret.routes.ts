import { SandboxSecrets } from '@slipway/contracts';
import { parseOrThrow } from '@slipway/errors';
import type { SecretMask } from '../conversations/secret-mask.js';
import { ok, type Route, readJson } from '../http/router.js';
import type { ActionServerClient } from './action-server-client.js';
import { gitCredentialEnv } from './git-credentials.js';

/** Takes over what the conversation may have. Masked before any command can print it; kept in memory, and in no file. */
export function secretRoutes(actionServer: ActionServerClient, mask: SecretMask): Route[] {
  return [
    {
      method: 'POST',
      path: '/api/slipway/secrets',
      access: 'session',
      handle: async ({ request }) => {
        const { variables, git } = parseOrThrow(SandboxSecrets, await readJson(request));
        mask.addNamed(variables);
        for (const { name, username, password } of git) {
          mask.addNamed({ [name]: password });
          // As HTTP sends them together.
          mask.addNamed({ [name]: `${username}:${password}` });
        }
        actionServer.setSecrets({ ...variables, ...gitCredentialEnv(git) });
        return ok({ success: true });
      },
    },
  ];
}
