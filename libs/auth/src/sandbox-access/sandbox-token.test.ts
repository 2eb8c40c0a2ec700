import { describe, expect, it } from '@jest/globals';
import { SlipwayError } from '@slipway/errors';
import { SignJWT } from 'jose';
import { SANDBOX_TOKEN_PREFIX, SANDBOX_TOKEN_SECONDS, SandboxTokens } from './sandbox-token.js';

const SECRET = 'a sandbox secret of thirty-two characters';
const CLAIMS = {
  jti: 'sbx_1',
  org: 'org_1',
  sub: 'usr_1',
  conversation: '0198c0de-0000-7000-8000-000000000001',
  port: 8000,
};
const key = new TextEncoder().encode(SECRET);
const later = (seconds: number): Date => new Date(Date.now() + seconds * 1000);

async function codeOf(answer: Promise<unknown>): Promise<string> {
  return answer.then(
    () => 'accepted',
    (error: unknown) => (error instanceof SlipwayError ? error.code : String(error)),
  );
}

describe('SandboxTokens', () => {
  const tokens = new SandboxTokens(SECRET);

  it('reads the claims that it signed, the first time and from memory, for minutes and never beyond the end of the access', async () => {
    const { token, expiresAt } = await tokens.sign(CLAIMS, new Date(), later(86_400));
    expect(expiresAt.getTime() - Date.now()).toBeLessThanOrEqual(SANDBOX_TOKEN_SECONDS * 1000);
    const elsewhere = new SandboxTokens(SECRET);
    expect(elsewhere.remembered(token)).toBeNull();
    for (let time = 0; time < 2; time += 1) expect((await elsewhere.verify(token)).claims).toEqual(CLAIMS);
    expect(elsewhere.remembered(token)?.claims).toEqual(CLAIMS);
    const short = await tokens.sign(CLAIMS, new Date(), later(30));
    expect(short.expiresAt.getTime()).toBeLessThanOrEqual(later(30).getTime());
  });

  it('refuses what is absent, of another secret or audience, unsigned, of another algorithm, without an end or an access, or over', async () => {
    const make = (): SignJWT =>
      new SignJWT(CLAIMS)
        .setProtectedHeader({ alg: 'HS256' })
        .setAudience('slipway-sandbox-access')
        .setExpirationTime('1m');
    const prefixed = async (jwt: Promise<string>): Promise<string> => `${SANDBOX_TOKEN_PREFIX}${await jwt}`;
    const unsigned = `${SANDBOX_TOKEN_PREFIX}${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(JSON.stringify({ ...CLAIMS, aud: 'slipway-sandbox-access', exp: 9_999_999_999 })).toString('base64url')}.`;
    const refused = [
      '',
      'x',
      SANDBOX_TOKEN_PREFIX,
      `${SANDBOX_TOKEN_PREFIX}a.b.c`,
      unsigned,
      await make().sign(key),
      `${(await tokens.sign(CLAIMS, new Date(), later(60))).token}x`,
      (await new SandboxTokens(`${SECRET}!`).sign(CLAIMS, new Date(), later(60))).token,
      await prefixed(make().setAudience('slipway-ingest').sign(key)),
      await prefixed(make().setExpirationTime(1).sign(key)),
      await prefixed(
        new SignJWT(CLAIMS)
          .setProtectedHeader({ alg: 'HS384' })
          .setAudience('slipway-sandbox-access')
          .setExpirationTime('1m')
          .sign(key),
      ),
      await prefixed(
        new SignJWT(CLAIMS).setProtectedHeader({ alg: 'HS256' }).setAudience('slipway-sandbox-access').sign(key),
      ),
      await prefixed(
        new SignJWT({ ...CLAIMS, port: 0 })
          .setProtectedHeader({ alg: 'HS256' })
          .setAudience('slipway-sandbox-access')
          .setExpirationTime('1m')
          .sign(key),
      ),
    ];
    for (const token of refused) expect(await codeOf(tokens.verify(token))).toBe('auth.missing');
  });
});
