import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { InternalSignature, type SignedRequest } from './internal-signature.js';

const SECRET = 'a-secret-of-at-least-32-characters';
const NOW = new Date('2026-03-01T12:00:00Z');
const NONCE = 'n'.repeat(22);
const REQUEST: SignedRequest = { method: 'POST', path: '/internal/egress/v1/decide', body: '{"host":"a.example"}' };
const after = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1000);

describe('a request between two processes', () => {
  it('is taken once, within 30 s of either clock', () => {
    for (const seconds of [-30, 0, 30]) {
      const receiver = new InternalSignature(SECRET, 'egress');
      const header = new InternalSignature(SECRET, 'egress').sign(REQUEST, NOW, NONCE);
      expect(receiver.accepts(header, REQUEST, after(seconds))).toBe(true);
      expect(receiver.accepts(header, REQUEST, after(seconds))).toBe(false);
    }
    for (const seconds of [-31, 31])
      expect(
        new InternalSignature(SECRET, 'egress').accepts(
          new InternalSignature(SECRET, 'egress').sign(REQUEST, NOW, NONCE),
          REQUEST,
          after(seconds),
        ),
      ).toBe(false);
  });

  it('adversary: is refused again for as long as it could be in time, however many come between', () => {
    const [sender, receiver] = [new InternalSignature(SECRET, 'egress'), new InternalSignature(SECRET, 'egress')];
    const header = sender.sign(REQUEST, after(30), NONCE);
    expect(receiver.accepts(header, REQUEST, NOW)).toBe(true);
    for (let each = 0; each < 1_000; each += 1)
      expect(receiver.accepts(sender.sign(REQUEST, after(30), `${NONCE}${each}`), REQUEST, after(30))).toBe(true);
    for (const seconds of [1, 30, 59, 60]) expect(receiver.accepts(header, REQUEST, after(seconds))).toBe(false);
  });

  it('adversary: is refused under another secret or purpose, and with any part changed', () => {
    const header = new InternalSignature(SECRET, 'egress').sign(REQUEST, NOW, NONCE);
    const takes = (given: string, request: SignedRequest, secret = SECRET, purpose = 'egress'): boolean =>
      new InternalSignature(secret, purpose).accepts(given, request, NOW);
    expect(takes(header, REQUEST, 'another-secret-of-at-least-32-chars')).toBe(false);
    expect(takes(header, REQUEST, SECRET, 'other')).toBe(false);
    for (const part of ['method', 'path', 'body'] as const)
      expect(takes(header, { ...REQUEST, [part]: `${REQUEST[part]} ` })).toBe(false);
    fc.assert(
      fc.property(fc.nat({ max: header.length - 1 }), fc.constantFrom('', 'A', '.', '1', '\0'), (at, put) => {
        const changed = header.slice(0, at) + put + header.slice(at + 1);
        fc.pre(changed !== header);
        expect(takes(changed, REQUEST)).toBe(false);
      }),
    );
    fc.assert(fc.property(fc.string(), (text) => expect(takes(text, REQUEST)).toBe(false)));
  });

  it('has an answer that is good for it alone', () => {
    const signature = new InternalSignature(SECRET, 'egress');
    const [one, other] = [signature.sign(REQUEST, NOW, NONCE), signature.sign(REQUEST, NOW, `${NONCE}2`)];
    const given = signature.signAnswer(one, '{"decision":"allow"}');
    expect(signature.acceptsAnswer(one, '{"decision":"allow"}', given)).toBe(true);
    expect(signature.acceptsAnswer(other, '{"decision":"allow"}', given)).toBe(false);
    expect(signature.acceptsAnswer(one, '{"decision":"deny"}', given)).toBe(false);
    expect(signature.acceptsAnswer(one, '{"decision":"allow"}', null)).toBe(false);
  });
});
