import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { AnswerReader } from './answer-reader.js';

/** The answer of a reader that gets the text in pieces cut at these places. */
function readInPieces(
  text: string | Buffer,
  cuts: readonly number[] = [],
  maxBytes = 1_000,
): ReturnType<AnswerReader['push']> {
  const reader = new AnswerReader(maxBytes);
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  const places = [0, ...[...cuts].map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  let answer: ReturnType<AnswerReader['push']> = null;
  for (let index = 1; index < places.length; index += 1)
    answer ??= reader.push(bytes.subarray(places[index - 1], places[index]));
  return answer ?? reader.end();
}

const BODY = '{"state":"dormant","ä":"€"}';
const bytes = Buffer.byteLength(BODY);
const chunked = (...parts: string[]): string =>
  [...parts, ''].map((part) => `${Buffer.byteLength(part).toString(16)}\r\n${part}\r\n`).join('');

describe('an answer of a sandbox', () => {
  const whole: ReadonlyArray<readonly [string, string, { status: number; body: string; keeps: boolean }]> = [
    [
      'of a length',
      `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n${BODY}`,
      { status: 200, body: BODY, keeps: true },
    ],
    [
      'in chunks',
      `HTTP/1.1 409 Conflict\r\ntransfer-encoding: chunked\r\n\r\n${chunked(BODY.slice(0, 5), BODY.slice(5))}`,
      { status: 409, body: BODY, keeps: true },
    ],
    ['until the end', `HTTP/1.1 200 OK\r\n\r\n${BODY}`, { status: 200, body: BODY, keeps: false }],
    [
      'that closes',
      `HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok`,
      { status: 200, body: 'ok', keeps: false },
    ],
    ['of an old server', `HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok`, { status: 200, body: 'ok', keeps: false }],
    ['without a body', 'HTTP/1.1 204 No Content\r\nx: y\r\n\r\n', { status: 204, body: '', keeps: true }],
    [
      'with bytes that nobody asked for',
      'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 200',
      { status: 200, body: 'ok', keeps: false },
    ],
  ];
  for (const [what, text, answer] of whole) {
    if (what === 'with bytes that nobody asked for')
      it(`${what} is the last one of its connection`, () => expect(readInPieces(text)).toEqual(answer));
    else
      it(`${what} is read whole, wherever it is cut`, () => {
        fc.assert(
          fc.property(fc.array(fc.nat(1_000), { maxLength: 8 }), (cuts) =>
            expect(readInPieces(text, cuts)).toEqual(answer),
          ),
        );
      });
  }

  const refused: ReadonlyArray<readonly [string, string, string]> = [
    ['longer than allowed, by its length', `HTTP/1.1 200 OK\r\ncontent-length: 1001\r\n\r\n`, 'longer than 1000 bytes'],
    [
      'longer than allowed, in chunks',
      `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunked('x'.repeat(600), 'x'.repeat(600))}`,
      'longer than 1000 bytes',
    ],
    ['longer than allowed, until the end', `HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(1_001)}`, 'longer than 1000 bytes'],
    ['with an endless head', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(20_000)}`, 'head of the answer is too long'],
    ['with two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nok', 'malformed'],
    [
      'with a length and chunks',
      'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\nok',
      'malformed',
    ],
    ['with a length that is none', 'HTTP/1.1 200 OK\r\ncontent-length: -2\r\n\r\nok', 'malformed'],
    ['with a chunk that is none', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nok', 'malformed'],
    [
      'with a chunk that ends elsewhere',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nokay\r\n',
      'malformed',
    ],
    ['that is no HTTP', 'SSH-2.0-OpenSSH_9\r\n\r\n', 'malformed'],
  ];
  for (const [what, text, message] of refused)
    it(`${what} is refused`, () => expect(() => readInPieces(text)).toThrow(message));

  it('that breaks off is none', () => {
    for (const [what, text] of whole)
      if (what === 'of a length' || what === 'in chunks')
        for (let cut = 0; cut < Buffer.byteLength(text); cut += 1)
          expect(readInPieces(Buffer.from(text).subarray(0, cut))).toBeNull();
  });
});
