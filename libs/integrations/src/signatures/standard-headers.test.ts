import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { standardHeaders } from './standard-headers.js';

describe('the headers of a message by Standard Webhooks', () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const old = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;

  it('are those of the published example', () => {
    const at = new Date(1_614_265_330_000);
    const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', body: '{"test": 2432232314}', at };
    expect(standardHeaders(['MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'], message)).toEqual({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  it('are believed by the package of others, with either secret while one is replaced', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const body = JSON.stringify({ text });
        const headers = standardHeaders([secret, old], { id: 'msg_1', body, at: new Date() });
        for (const each of [secret, old]) expect(new Webhook(each).verify(body, headers)).toEqual({ text });
        expect(() =>
          new Webhook(old).verify(body, standardHeaders([secret], { id: 'msg_1', body, at: new Date() })),
        ).toThrow();
        expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow();
      }),
    );
  });
});
