import { createPrivateKey, sign } from 'node:crypto';
import type { CredentialUse } from '@slipway/contracts/credentials';
import { z } from 'zod';
import type { UpstreamOptions } from '../forward/upstream.js';
import { refused } from '../judge/refusal.js';
import type { Issued, TokenCredential } from './issued.js';
import { BearerText, callServer, rejected, unreachable } from './token-endpoint.js';

/** Against a clock of ours that is ahead, as GitHub advises. Seconds. */
const BEFORE_SECONDS = 60;
/** GitHub takes no more than ten minutes from its own now. Seconds. */
const AFTER_SECONDS = 540;
/** A token is not used in its last minutes: a clone or a push may be long. Seconds. */
const SPARE_SECONDS = 600;

const TokenAnswer = z.object({ token: BearerText, expires_at: z.iso.datetime({ offset: true }) });

type GithubUse = Extract<CredentialUse, { form: 'github-app' }>;

/**
 * A token of an installation of a GitHub App, for the repositories and permissions of the credential.
 * @throws SlipwayError `credential.rejected`, `credential.unreachable`.
 */
export async function installationToken(
  { name, use, value }: TokenCredential<GithubUse>,
  rules: UpstreamOptions,
  now: Date,
): Promise<Issued & { readonly revoke: () => Promise<void> }> {
  const { apiUrl, installationId, account, repositories, permissions } = use;
  const { hostname } = new URL(apiUrl);
  if (repositories.length === 0)
    throw refused(
      'credential.rejected',
      'rejected',
      `${name} is for the repository of the conversation, and this conversation works on none of ${account}.`,
    );
  const { status, json } = await callServer(
    {
      method: 'POST',
      url: at(apiUrl, `/app/installations/${installationId}/access_tokens`),
      headers: headersOf(appToken(use, value, now), name),
      body: JSON.stringify({ repositories, permissions }),
    },
    rules,
  );
  if (status !== 201) {
    if (status >= 500 || status === 429 || status < 400) throw unreachable(hostname, `it answers ${status}`);
    throw rejected(hostname, name, `it answers ${status} for installation ${installationId}`);
  }
  const token = TokenAnswer.safeParse(json);
  if (!token.success) throw unreachable(hostname, 'its answer has no token');
  const { token: text, expires_at } = token.data;
  return {
    value: text,
    seconds: Math.max(0, (Date.parse(expires_at) - now.getTime()) / 1000 - SPARE_SECONDS),
    revoke: async () => {
      const url = at(apiUrl, '/installation/token');
      await callServer({ method: 'DELETE', url, headers: headersOf(text, name), body: '' }, rules);
    },
  };
}

/** Below the path of GitHub Enterprise, `/api/v3`, too. */
const at = (apiUrl: string, path: string): URL => new URL(`${apiUrl.replace(/\/+$/, '')}${path}`);

const headersOf = (token: string, name: string): Record<string, string> => ({
  authorization: `Bearer ${token}`,
  accept: 'application/vnd.github+json',
  'accept-encoding': 'identity',
  'content-type': 'application/json',
  'user-agent': `slipway/${name}`,
  'x-github-api-version': '2022-11-28',
});

/** Of the App itself (RS256). */
function appToken({ appId }: GithubUse, key: Buffer, now: Date): string {
  const seconds = Math.floor(now.getTime() / 1000);
  const part = (content: object): string => Buffer.from(JSON.stringify(content)).toString('base64url');
  const claims = { iat: seconds - BEFORE_SECONDS, exp: seconds + AFTER_SECONDS, iss: appId };
  const signed = `${part({ alg: 'RS256', typ: 'JWT' })}.${part(claims)}`;
  return `${signed}.${sign('sha256', Buffer.from(signed), createPrivateKey(key)).toString('base64url')}`;
}
