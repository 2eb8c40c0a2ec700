import { describe, expect, it } from '@jest/globals';
import { SlipwayError } from '@slipway/errors';
import { SignJWT } from 'jose';
import { IngestTokens } from './ingest-token.js';

const SECRET = 'an ingest secret of thirty-two characters';
const CLAIMS = { org: 'org_1', conversation: '0198c0de-0000-7000-8000-000000000001', epoch: 3 };
const key = new TextEncoder().encode(SECRET);

async function codeOf(answer: Promise<unknown>): Promise<string> {
  return answer.then(
    () => 'accepted',
    (error: unknown) => (error instanceof SlipwayError ? error.code : String(error)),
  );
}

describe('IngestTokens', () => {
  const tokens = new IngestTokens(SECRET);

  it('reads the claims that it signed, bare or as an Authorization header, the first time and from memory', async () => {
    const token = await tokens.sign(CLAIMS, 60);
    const elsewhere = new IngestTokens(SECRET);
    for (const given of [token, `Bearer ${token}`, `bearer ${token}`, token])
      expect(await elsewhere.verify(given)).toEqual(CLAIMS);
  });

  it('refuses what is absent, not a token, of another secret, for another audience, unsigned, without an end, or over', async () => {
    const make = (): SignJWT =>
      new SignJWT(CLAIMS).setProtectedHeader({ alg: 'HS256' }).setAudience('slipway-ingest').setExpirationTime('1m');
    const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(JSON.stringify({ ...CLAIMS, aud: 'slipway-ingest', exp: 9_999_999_999 })).toString('base64url')}.`;
    const refused = [
      undefined,
      '',
      'x',
      'a.b.c',
      unsigned,
      await new IngestTokens(`${SECRET}!`).sign(CLAIMS, 60),
      await make().setAudience('slipway-session').sign(key),
      await new SignJWT(CLAIMS).setProtectedHeader({ alg: 'HS256' }).setAudience('slipway-ingest').sign(key),
      await make().setExpirationTime(1).sign(key),
      await new SignJWT({ ...CLAIMS, epoch: 0 })
        .setProtectedHeader({ alg: 'HS256' })
        .setAudience('slipway-ingest')
        .setExpirationTime('1m')
        .sign(key),
    ];
    for (const token of refused) expect(await codeOf(tokens.verify(token))).toBe('auth.missing');
  });
});
