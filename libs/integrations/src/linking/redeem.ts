import { z } from 'zod';
import type { ProviderClient } from '../calls/provider-client.js';
import { ProviderRefusal } from '../calls/provider-refusal.js';
import { fields } from '../reading/fields.js';
import type { Account, AccountLinking, Connect, OAuthApp, OAuthEndpoints } from './account-linking.js';

/** GitHub refuses with 200 and an `error`. */
const token = fields({ access_token: z.string().min(1).max(8_192).optional(), error: z.string().max(200).optional() });

export interface Redeemed {
  readonly account: Account;
  /** Why the token could not be ended; `null`: it is ended, or the provider has no call for that. */
  readonly notRevoked: ProviderRefusal | null;
}

/**
 * Who consented: redeems the code, asks whose the token is, and ends the token. The token is in no answer, so it is
 * used for nothing else.
 * @param act what the user consented to beside it, with the token, before that ends.
 * @throws ProviderRefusal `invalid` for a code that the provider does not take; as every call otherwise.
 */
export async function redeemForAccount(
  linking: AccountLinking,
  {
    baseUrl,
    app,
    code,
    redirectUri,
    verifier,
    workspace,
  }: {
    readonly baseUrl: string;
    readonly app: OAuthApp;
    readonly code: string;
    readonly redirectUri: string;
    readonly verifier: string;
    readonly workspace: string | null;
  },
  connect: Connect,
  act?: (account: Account, api: ProviderClient) => Promise<void>,
): Promise<Redeemed> {
  const sent = {
    grant_type: 'authorization_code',
    client_id: app.clientId,
    client_secret: app.clientSecret,
    code,
    redirect_uri: redirectUri,
    code_verifier: verifier,
  };
  const accessToken = await redeemCode(linking.endpoints(baseUrl).token, sent, connect);
  try {
    const api = connect(linking.apiUrl(baseUrl), `Bearer ${accessToken}`);
    const account = await linking.whoIs(api, { baseUrl, workspace });
    await act?.(account, api);
    return { account, notRevoked: await end() };
  } catch (thrown) {
    await end();
    throw thrown;
  }

  async function end(): Promise<ProviderRefusal | null> {
    try {
      await linking.revoke?.({ baseUrl, app, token: accessToken }, connect);
      return null;
    } catch (thrown) {
      if (thrown instanceof ProviderRefusal) return thrown;
      throw thrown;
    }
  }
}

/**
 * Exchanges a code for the token of whoever consented. @throws ProviderRefusal `invalid` for a code that the provider
 * does not take; as every call otherwise.
 */
export async function redeemCode(
  { baseUrl, path, format }: OAuthEndpoints['token'],
  sent: Readonly<Record<string, string>>,
  connect: Connect,
): Promise<string> {
  const { body } = await connect(baseUrl, null).call({
    method: 'POST',
    path,
    [format === 'json' ? 'body' : 'form']: sent,
    answer: token,
  });
  if (body.access_token !== undefined) return body.access_token;
  const details = {
    kind: body.error === undefined ? 'unreadable' : 'invalid',
    status: 200,
    retryAt: null,
    outcomeUnknown: false,
  } as const;
  throw new ProviderRefusal(`POST ${path}: ${body.error === undefined ? 'no token' : 'the code is refused'}`, details);
}
