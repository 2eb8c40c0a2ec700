import type { CredentialUse } from '@slipway/contracts/credentials';
import type { UpstreamOptions } from '../forward/upstream.js';
import type { Issued, TokenCredential } from './issued.js';
import { askForToken, rejection, unreachable } from './token-endpoint.js';

const TYPES = 'urn:ietf:params:oauth:token-type:';
/** What may be sent as a bearer token. */
const ISSUED: ReadonlySet<string | undefined> = new Set([`${TYPES}access_token`, `${TYPES}jwt`]);

/**
 * RFC 8693: a token of this installation for one of the server that trusts it.
 * @throws SlipwayError `credential.rejected`, `credential.unreachable`.
 */
export async function exchangeToken(
  { name, use, value, identity }: TokenCredential<Extract<CredentialUse, { form: 'token-exchange' }>>,
  rules: UpstreamOptions,
): Promise<Issued> {
  const { tokenUrl, audience, resource, scope, clientId, clientAuth } = use;
  const question = {
    name,
    tokenUrl,
    parameters: {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: identity?.toString() ?? '',
      subject_token_type: `${TYPES}jwt`,
      requested_token_type: `${TYPES}access_token`,
      audience,
      resource,
      scope,
    },
    client: { clientId, clientAuth, secret: value.toString() },
  };
  const answer = await askForToken(question, rules).catch((error: unknown) => {
    throw rejection(question, error);
  });
  if (!ISSUED.has(answer.issued_token_type))
    throw unreachable(new URL(tokenUrl).hostname, 'its answer does not say that it has issued an access token');
  return { value: answer.access_token, seconds: answer.expires_in };
}
