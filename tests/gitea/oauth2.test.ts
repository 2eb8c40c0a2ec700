import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  type Gitea,
  type GiteaOAuth2Application,
  type GiteaUser,
  giveConsent,
  missingForGitea,
  startGitea,
} from '@slipway/testing/gitea';
import { describeUnless } from '@slipway/testing/jest';

const missing = await missingForGitea();

const CALLBACK = 'http://127.0.0.1:3000/integrations/gitea/callback';

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly expires_in: number;
}

describeUnless(missing)('OAuth2 at a real Gitea', () => {
  let gitea: Gitea;
  let ada: GiteaUser;
  let application: GiteaOAuth2Application;
  beforeAll(async () => {
    if (missing !== null) return;
    gitea = await startGitea({ say: console.log });
    ada = await gitea.admin.createUser('ada');
    application = await gitea.admin.createOAuth2Application('Slipway', [CALLBACK]);
  });
  afterAll(() => gitea?.close());

  const question = (verifier: string, state: string, redirect = CALLBACK): URL => {
    const asked = new URL(`${gitea.url}/login/oauth/authorize`);
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const pkce = { code_challenge: challenge, code_challenge_method: 'S256' };
    asked.search = String(
      new URLSearchParams({
        client_id: application.client_id,
        redirect_uri: redirect,
        response_type: 'code',
        state,
        ...pkce,
      }),
    );
    return asked;
  };
  const redeem = (form: Readonly<Record<string, string>>): Promise<Response> =>
    fetch(`${gitea.url}/login/oauth/access_token`, {
      method: 'POST',
      body: new URLSearchParams({
        client_id: application.client_id,
        client_secret: application.client_secret,
        ...form,
      }),
      headers: { accept: 'application/json' },
    });
  const whoIs = async (token: string): Promise<unknown> =>
    (await fetch(`${gitea.url}/api/v1/user`, { headers: { authorization: `Bearer ${token}` } })).json();

  it('gives a code to who consents, a pair of tokens for the code, and the next pair for the refresh token', async () => {
    const verifier = randomBytes(32).toString('base64url');
    const back = await giveConsent(ada, question(verifier, 'state-1'));
    expect([back.origin + back.pathname, back.searchParams.get('state')]).toEqual([CALLBACK, 'state-1']);
    const code = {
      grant_type: 'authorization_code',
      code: back.searchParams.get('code') ?? '',
      redirect_uri: CALLBACK,
    };

    const first = (await (await redeem({ ...code, code_verifier: verifier })).json()) as Tokens;
    expect(await whoIs(first.access_token)).toMatchObject({ login: 'ada' });
    expect(first.expires_in).toBeGreaterThan(0);
    const second = (await (
      await redeem({ grant_type: 'refresh_token', refresh_token: first.refresh_token })
    ).json()) as Tokens;
    expect(await whoIs(second.access_token)).toMatchObject({ login: 'ada' });
  });

  it('adversary: a code is worth nothing without its verifier, a second time, or for another address', async () => {
    const verifier = randomBytes(32).toString('base64url');
    const back = await giveConsent(ada, question(verifier, 'state-2'));
    const code = {
      grant_type: 'authorization_code',
      code: back.searchParams.get('code') ?? '',
      redirect_uri: CALLBACK,
    };
    expect((await redeem({ ...code, code_verifier: randomBytes(32).toString('base64url') })).status).toBe(400);

    const again = await giveConsent(ada, question(verifier, 'state-3'));
    const good = { ...code, code: again.searchParams.get('code') ?? '', code_verifier: verifier };
    expect([(await redeem(good)).status, (await redeem(good)).status]).toEqual([200, 400]);
    await expect(giveConsent(ada, question(verifier, 'state-4', 'http://127.0.0.1:3666/steal'))).rejects.toThrow(
      /nowhere/,
    );
  });
});
