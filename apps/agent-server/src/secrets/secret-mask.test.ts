import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { stopwatch } from '@slipway/testing';
import fc from 'fast-check';
import { DeltaMask } from './delta-mask.js';
import { HIDDEN, SecretMask } from './secret-mask.js';

/** Cuts a text into pieces of the given lengths, again and again. */
function* pieces(text: string, cuts: readonly number[]): Generator<{ at: number; piece: string }> {
  for (let at = 0, index = 0; at < text.length; index += 1) {
    const piece = text.slice(at, at + (cuts[index % cuts.length] as number));
    yield { at, piece };
    at += piece.length;
  }
}
const cuts = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 });
/** Long enough to be hidden, and nothing that could be part of what stands in its place. */
const secret = fc
  .string({
    unit: fc.constantFrom('A', 'b', '1', '2', '/', '+', '%', ' ', '"', '\n', 'é', '€', '𝄞'),
    minLength: 6,
    maxLength: 30,
  })
  .filter((value) => value.trim().length >= 6);

describe('secrets', () => {
  it('never leave in pieces of text, however the text is cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('abcd1234', 'abcd1234efgh', 'abcd', 'x', 'ab', '1234', '-', 'efgh'), {
          maxLength: 20,
        }),
        cuts,
        (words, lengths) => {
          const mask = new SecretMask();
          mask.addNamed({ SHORT: 'abcd1234', LONG: 'abcd1234efgh', OTHER: 'abcd-x' });
          const text = words.join('');
          const deltas = new DeltaMask(mask);
          let shown = '';
          for (const { at, piece } of pieces(text, lengths)) {
            const out = deltas.next({ responseId: 'r', channel: 'content', offset: at, text: piece });
            if (out !== null) {
              expect(out.offset).toBe(shown.length);
              shown += out.text;
            }
          }
          for (const value of ['abcd1234', 'abcd-x']) expect(shown).not.toContain(value);
          expect(mask.text(text).startsWith(shown)).toBe(true);
        },
      ),
    );
  });

  it('stay hidden where pieces of several texts come in turns, and each text has its own offsets', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 12, maxLength: 60 }),
        cuts,
        (turns, lengths) => {
          const mask = new SecretMask();
          mask.addNamed({ SHORT: 'abcd1234' });
          const text = 'x abcd1234 y abcd1234';
          const left = ['a', 'b', 'c'].map((responseId) => ({
            responseId,
            waiting: [...pieces(text, lengths)],
            shown: '',
          }));
          const deltas = new DeltaMask(mask);
          for (const turn of [...turns, ...[0, 1, 2].flatMap((at) => text.split('').map(() => at))]) {
            const one = left[turn] as (typeof left)[number];
            const next = one.waiting.shift();
            if (next === undefined) continue;
            const out = deltas.next({
              responseId: one.responseId,
              channel: 'progress',
              offset: next.at,
              text: next.piece,
            });
            if (out === null) continue;
            expect([out.responseId, out.offset]).toEqual([one.responseId, one.shown.length]);
            one.shown += out.text;
          }
          for (const { shown } of left) expect(mask.text(text).startsWith(shown) && shown.startsWith('x ')).toBe(true);
        },
      ),
    );
  });

  it('are found as they are, in URLs, JSON, base64 at any place and hex, in a text and in a stream of bytes cut anywhere', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(secret, { minLength: 1, maxLength: 4 }),
        fc.string({ maxLength: 5 }),
        cuts,
        async (values, before, lengths) => {
          const mask = new SecretMask();
          mask.addNamed(Object.fromEntries(values.map((value, index) => [`N${index}`, value])));
          const printed = values.flatMap((value) => [
            value,
            encodeURIComponent(value),
            JSON.stringify({ in: value }),
            Buffer.from(`${before}${value}${before}`).toString('base64'),
            Buffer.from(value).toString('base64url'),
            Buffer.from(value).toString('hex'),
          ]);
          const text = printed.join('  |  ');
          const bytes = Buffer.from(text);
          const chunks: Buffer[] = [];
          const source = Readable.from(
            [...pieces(bytes.toString('latin1'), lengths)].map(({ piece }) => Buffer.from(piece, 'latin1')),
          );
          for await (const chunk of source.pipe(mask.stream())) chunks.push(chunk as Buffer);
          const streamed = Buffer.concat(chunks).toString('utf8');
          expect(streamed).toBe(mask.text(text));
          for (const value of values) {
            const raw = Buffer.from(value);
            for (const form of [
              value,
              encodeURIComponent(value),
              JSON.stringify(value).slice(1, -1),
              raw.toString('hex'),
            ])
              expect(streamed).not.toContain(form);
            // What can be decoded around the mask is not the value.
            for (const part of streamed.split(/[^A-Za-z0-9+/_=-]+/))
              expect(Buffer.from(part, 'base64').includes(raw)).toBe(false);
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  it('of many lines are found line by line too, and the frame of a key is left alone', () => {
    const mask = new SecretMask();
    const key = `-----BEGIN PRIVATE KEY-----\n${'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC'}\n${'BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj'}\n-----END PRIVATE KEY-----\n`;
    mask.addNamed({ KEY: key });
    expect(mask.text('> MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----BEGIN PRIVATE KEY-----')).toBe(
      '> <secret:KEY>\n-----BEGIN PRIVATE KEY-----',
    );
    expect(mask.text(`[${key.replaceAll('\n', '\r\n')}]`)).toBe('[<secret:KEY>]');
    const wrapped = Buffer.from(key)
      .toString('base64')
      .match(/.{1,76}/g) as string[];
    expect(mask.text(wrapped.join('\n'))).toBe(wrapped.map(() => '<secret:KEY>').join('\n'));
  });

  it('are hidden wherever text stands in an event, also in the names of fields, and what binds events together is left alone', () => {
    const mask = new SecretMask();
    mask.add(['terminal']);
    mask.addNamed({ TOKEN: 'sekret' });
    const event = {
      id: 'sekret',
      timestamp: 't',
      source: 'agent',
      kind: 'AgentErrorEvent',
      tool_name: 'terminal',
      tool_call_id: 'sekret',
      error: 'in sekret',
      more: { 'of sekret': 1 },
    } as never;
    expect(mask.event(event)).toEqual({
      id: 'sekret',
      timestamp: 't',
      source: 'agent',
      kind: 'AgentErrorEvent',
      tool_name: HIDDEN,
      tool_call_id: 'sekret',
      error: 'in <secret:TOKEN>',
      more: { 'of <secret:TOKEN>': 1 },
    });
  });

  it('too short to be hidden are left, and a name that gives its value away is not shown', () => {
    const mask = new SecretMask();
    mask.addNamed({ PIN: '12345', MY_PASSWORD: 'PASSWORD' });
    expect(mask.text('12345 PASSWORD')).toBe(`12345 ${HIDDEN}`);
  });

  it('five hundred of them cost a megabyte of output less than half a second', () => {
    const mask = new SecretMask();
    const noise = (length: number, seed: number): string =>
      Array.from({ length }, (_, index) => ((seed * 7919 + index * index * 31 + index * 17) % 36).toString(36)).join(
        '',
      );
    mask.addNamed(Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`S${index}`, noise(40, index + 1)])));
    const text = noise(1_000_000, 1009);
    const passed = stopwatch();
    mask.text(text);
    expect(passed()).toBeLessThan(500);
  });
});
