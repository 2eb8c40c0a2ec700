import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { LinearWebhookClient } from '@linear/sdk/webhooks';
import * as octokit from '@octokit/webhooks-methods';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import type { SignatureScheme } from './scheme.js';
import { signedTimeRefusal, verifySignature } from './verify.js';

const github: SignatureScheme = {
  kind: 'hmac-sha256',
  header: 'x-hub-signature-256',
  encoding: 'hex',
  prefix: 'sha256=',
  key: 'utf8',
  signed: ['body'],
};
const slack: SignatureScheme = {
  kind: 'hmac-sha256',
  header: 'x-slack-signature',
  encoding: 'hex',
  prefix: 'v0=',
  key: 'utf8',
  signed: [{ text: 'v0:' }, { header: 'x-slack-request-timestamp' }, { text: ':' }, 'body'],
  time: { from: { header: 'x-slack-request-timestamp' }, unit: 's', toleranceS: 300 },
};
const standard: SignatureScheme = {
  kind: 'hmac-sha256',
  header: 'webhook-signature',
  encoding: 'base64',
  prefix: 'v1,',
  several: true,
  key: 'whsec-base64',
  signed: [{ header: 'webhook-id' }, { text: '.' }, { header: 'webhook-timestamp' }, { text: '.' }, 'body'],
  time: { from: { header: 'webhook-timestamp' }, unit: 's', toleranceS: 300 },
};
const linear: SignatureScheme = {
  kind: 'hmac-sha256',
  header: 'linear-signature',
  encoding: 'hex',
  key: 'utf8',
  signed: ['body'],
  time: { from: { bodyField: 'webhookTimestamp' }, unit: 'ms', toleranceS: 60 },
};
const token: SignatureScheme = { kind: 'token', header: 'x-gitlab-token' };
const at = (seconds: number): Date => new Date(seconds * 1000);
const check = (
  scheme: SignatureScheme,
  secret: string,
  headers: Record<string, string | string[]>,
  raw: string | Buffer,
  now = at(0),
) => verifySignature(scheme, [secret], { headers, raw: Buffer.from(raw) }, now);

describe('signatures', () => {
  it('hold for what the vendors publish as examples', () => {
    const key = "It's a Secret to Everybody";
    expect(
      check(
        github,
        key,
        { 'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17' },
        'Hello, World!',
      ),
    ).toBe(null);
    const form =
      'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c';
    const slackHeaders = {
      'x-slack-request-timestamp': '1531420618',
      'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    };
    expect(check(slack, '8f742231b10e8888abcd99yyyzzz85a5', slackHeaders, form, at(1531420618))).toBe(null);
    const standardHeaders = {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    };
    expect(
      check(standard, 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', standardHeaders, '{"test": 2432232314}', at(1614265330)),
    ).toBe(null);
    const gitlabHeaders = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': '1760000000',
      'webhook-signature': 'v1,7LJBwjs9QMHl81avhlG+2KfYGEIriKv2Li14Ex3w47Q=',
    };
    expect(
      check(
        standard,
        'whsec_QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=',
        gitlabHeaders,
        '{"object_kind":"note"}',
        at(1760000000),
      ),
    ).toBe(null);
    const body = '{"type":"Comment","action":"create","webhookTimestamp":1760000000000}';
    const linearHeaders = { 'linear-signature': '19ff9486c2f40d731d4a6492c2c72ab37084779b96ea4ea0dccafe128836bee4' };
    expect(check(linear, 'slipway-linear-secret', linearHeaders, body)).toBe(null);
  });

  it('agree with the vendors’ own verifiers on any body and any change of it', async () => {
    const text = fc.oneof(fc.string({ maxLength: 60, unit: 'binary' }), fc.json({ maxDepth: 2 }));
    await fc.assert(
      fc.asyncProperty(
        text,
        fc.string({ minLength: 1, maxLength: 40 }),
        fc.boolean(),
        async (body, secret, changed) => {
          const sent = changed ? `${body} ` : body;
          const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
          const theirs = sent === '' ? !changed : await octokit.verify(secret, sent, signature);
          expect(check(github, secret, { 'x-hub-signature-256': signature }, sent) === null).toBe(theirs);

          const whsec = `whsec_${Buffer.from(secret.padEnd(24, 'k')).toString('base64')}`;
          const now = new Date();
          const hook = new Webhook(whsec);
          // Theirs reads the body as JSON once it holds.
          const [signed, arrived] = [JSON.stringify({ body }), JSON.stringify({ body: sent })];
          const headers = {
            'webhook-id': 'm',
            'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
            'webhook-signature': hook.sign('m', now, signed),
          };
          expect(check(standard, whsec, headers, arrived, now) === null).toBe(
            holds(() => hook.verify(arrived, headers)),
          );

          const stamped = JSON.stringify({ text: sent, webhookTimestamp: now.getTime() });
          const linearSignature = createHmac('sha256', secret)
            .update(JSON.stringify({ text: body, webhookTimestamp: now.getTime() }))
            .digest('hex');
          const client = new LinearWebhookClient(secret);
          const linearTheirs = holds(() => client.verify(Buffer.from(stamped), linearSignature, now.getTime()));
          expect(check(linear, secret, { 'linear-signature': linearSignature }, stamped) === null).toBe(linearTheirs);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('are of the raw bytes: a byte-order mark, line ends and invalid UTF-8 hold as they were sent', () => {
    for (const raw of [
      Buffer.from('\ufeff{"a":1}'),
      Buffer.from('{"a":1}\r\n'),
      Buffer.from([0x7b, 0xff, 0xfe, 0x7d]),
      Buffer.from('{"ä":"😀"}'),
    ]) {
      const signature = `sha256=${createHmac('sha256', 's').update(raw).digest('hex')}`;
      expect(check(github, 's', { 'x-hub-signature-256': signature }, raw)).toBe(null);
      expect(
        check(github, 's', { 'x-hub-signature-256': signature.replace(/[0-9a-f]+$/, (hex) => hex.toUpperCase()) }, raw),
      ).toBe(null);
      expect(check(github, 's', { 'x-hub-signature-256': signature }, Buffer.concat([raw, Buffer.from(' ')]))).toBe(
        'wrong',
      );
    }
  });

  it('of an attacker are refused: none, empty, doubled, downgraded, short, long, of another key, of an empty secret', () => {
    const good = `sha256=${createHmac('sha256', 's').update('x').digest('hex')}`;
    const sha1 = `sha1=${createHmac('sha1', 's').update('x').digest('hex')}`;
    expect(check(github, 's', {}, 'x')).toBe('missing');
    expect(check(github, 's', { 'x-hub-signature-256': '' }, 'x')).toBe('missing');
    expect(check(github, 's', { 'x-hub-signature': sha1 }, 'x')).toBe('missing');
    expect(check(github, 's', { 'x-hub-signature-256': sha1 }, 'x')).toBe('malformed');
    expect(check(github, 's', { 'x-hub-signature-256': [good, good] }, 'x')).toBe('doubled');
    expect(check(github, 's', { 'x-hub-signature-256': `${good}, ${good}` }, 'x')).toBe('malformed');
    for (const text of [good.slice(0, -2), `${good}00`, `sha256=${'z'.repeat(64)}`, 'sha256='])
      expect(check(github, 's', { 'x-hub-signature-256': text }, 'x')).toBe('malformed');
    expect(check(github, 't', { 'x-hub-signature-256': good }, 'x')).toBe('wrong');
    const ofNothing = `sha256=${createHmac('sha256', '').update('x').digest('hex')}`;
    expect(check(github, '', { 'x-hub-signature-256': ofNothing }, 'x')).toBe('no-secret');
    expect(
      verifySignature(github, [], { headers: { 'x-hub-signature-256': ofNothing }, raw: Buffer.from('x') }, at(0)),
    ).toBe('no-secret');
    expect(check({ kind: 'socket' }, 's', {}, 'x')).toBe('no-secret');
  });

  it('of before and of the future are refused where a time is signed', () => {
    const signed = (when: number) => ({
      'x-slack-request-timestamp': String(when),
      'x-slack-signature': `v0=${createHmac('sha256', 's').update(`v0:${when}:x`).digest('hex')}`,
    });
    expect(check(slack, 's', signed(1_000), 'x', at(1_300))).toBe(null);
    expect(check(slack, 's', signed(1_000), 'x', at(1_301))).toBe('too-old');
    expect(check(slack, 's', signed(1_000), 'x', at(699))).toBe('too-new');
    expect(check(slack, 's', { ...signed(1_000), 'x-slack-request-timestamp': '1001' }, 'x', at(1_000))).toBe('wrong');
    expect(signedTimeRefusal(linear, { webhookTimestamp: 1_000_000 }, at(1_060))).toBe(null);
    expect(signedTimeRefusal(linear, { webhookTimestamp: 1_000_000 }, at(1_061))).toBe('too-old');
    expect(signedTimeRefusal(linear, { webhookTimestamp: '1000000' }, at(1_000))).toBe('malformed');
    expect(signedTimeRefusal(linear, Object.create({ webhookTimestamp: 1_000_000 }), at(1_000))).toBe('malformed');
    expect(signedTimeRefusal(github, {}, at(1_000))).toBe(null);
  });

  it('hold with either of two secrets while they are rotated, and one of several signatures of a header', () => {
    const headers = { 'x-gitlab-token': 'new' };
    expect(verifySignature(token, ['old', 'new'], { headers, raw: Buffer.alloc(0) }, at(0))).toBe(null);
    expect(verifySignature(token, ['old'], { headers, raw: Buffer.alloc(0) }, at(0))).toBe('wrong');
    const whsec = `whsec_${Buffer.alloc(32, 'k').toString('base64')}`;
    const signature = new Webhook(whsec).sign('m', at(100), 'x');
    const several = {
      'webhook-id': 'm',
      'webhook-timestamp': '100',
      'webhook-signature': `v1a,AAAA v1,${Buffer.alloc(32).toString('base64')} ${signature}`,
    };
    expect(check(standard, whsec, several, 'x', at(100))).toBe(null);
    const ninth = { ...several, 'webhook-signature': `${'v1,x '.repeat(8)}${signature}` };
    expect(check(standard, whsec, ninth, 'x', at(100))).toBe('malformed');
  });

  it('of a token of another algorithm, or one that is over, are refused', () => {
    const jwt: SignatureScheme = { kind: 'jwt-hs256', header: 'authorization' };
    const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const made = (alg: string, claims: object, secret = 's'): string => {
      const text = `${part({ alg })}.${part(claims)}`;
      return `Bearer ${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
    };
    expect(check(jwt, 's', { authorization: made('HS256', { exp: 200 }) }, 'x', at(100))).toBe(null);
    expect(check(jwt, 's', { authorization: made('HS256', { exp: 100 }) }, 'x', at(100))).toBe('too-old');
    expect(check(jwt, 's', { authorization: made('HS256', {}, 't') }, 'x', at(100))).toBe('wrong');
    expect(check(jwt, 's', { authorization: made('none', {}) }, 'x', at(100))).toBe('malformed');
    expect(check(jwt, 's', { authorization: `Bearer ${part({ alg: 'none' })}.${part({})}.` }, 'x', at(100))).toBe(
      'malformed',
    );
    const basic = `Basic ${Buffer.from('slipway:secret').toString('base64')}`;
    expect(check({ kind: 'basic' }, 'slipway:secret', { authorization: basic }, 'x')).toBe(null);
    expect(check({ kind: 'basic' }, 'slipway:other', { authorization: basic }, 'x')).toBe('wrong');
  });
});

function holds(verify: () => unknown): boolean {
  try {
    return verify() !== false;
  } catch {
    return false;
  }
}
