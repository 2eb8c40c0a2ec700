import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { FLUSH, type PktLine, PktLineReader, pktLine } from './pkt-lines.js';
import { judgePush, readPush, refusedPush } from './push.js';

/** Cuts bytes at any positions. */
const cut = (bytes: Buffer, at: readonly number[]): Buffer[] => {
  const places = [...new Set(at.map((each) => each % (bytes.length + 1)))].sort((one, other) => one - other);
  return [0, ...places].map((from, index) => bytes.subarray(from, places[index] ?? bytes.length));
};

/** Written slowly and by itself. */
function linesOf(bytes: Buffer): { lines: PktLine[]; broken: boolean } {
  const lines: PktLine[] = [];
  for (let at = 0; at + 4 <= bytes.length; ) {
    const digits = bytes.subarray(at, at + 4).toString('latin1');
    for (const digit of digits) if (!'0123456789abcdefABCDEF'.includes(digit)) return { lines, broken: true };
    const length = Number(`0x${digits}`);
    if (length === 0) {
      lines.push(null);
      at += 4;
    } else if (length < 4 || length > 65_520) return { lines, broken: true };
    else if (at + length > bytes.length) break;
    else {
      lines.push(bytes.subarray(at + 4, at + length));
      at += length;
    }
  }
  return { lines, broken: false };
}

describe('PktLineReader', () => {
  const payload = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes));
  const good = fc.array(fc.option(payload), { maxLength: 20 });
  const any = fc.oneof(
    good.map((lines) => Buffer.concat(lines.map((line) => (line === null ? FLUSH : pktLine(line))))),
    fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
    fc
      .string({ unit: fc.constantFrom('0', '1', '4', '5', '9', 'a', 'F', 'g', ' '), maxLength: 40 })
      .map((text) => Buffer.from(text)),
  );

  it('reads the same lines however the bytes arrive, and stops at what is no line', () => {
    fc.assert(
      fc.property(any, fc.array(fc.nat(), { maxLength: 8 }), (bytes, at) => {
        const reader = new PktLineReader();
        const lines: PktLine[] = [];
        let broken = false;
        for (const chunk of cut(bytes, at)) {
          reader.push(chunk);
          try {
            for (let line = reader.next(); line !== undefined; line = reader.next()) lines.push(line);
          } catch {
            broken = true;
            break;
          }
        }
        expect({ lines, broken }).toEqual(linesOf(bytes));
      }),
      { numRuns: 3_000 },
    );
  });
});

describe('readPush', () => {
  const capabilities = 'report-status side-band-64k';
  const ref = fc.constantFrom('refs/heads/a', 'refs/heads/slipway/x', 'refs/tags/v1', 'refs/heads/b', 'HEAD');
  const commands = fc.uniqueArray(fc.record({ ref, deletes: fc.boolean() }), {
    minLength: 1,
    maxLength: 5,
    selector: (each) => each.ref,
  });

  it('reads every command up to the flush, and holds all bytes that it took', async () => {
    await fc.assert(
      fc.asyncProperty(commands, fc.array(fc.nat(), { maxLength: 8 }), async (wanted, at) => {
        const bytes = Buffer.concat([
          ...wanted.map(({ ref: each, deletes }, index) =>
            pktLine(
              `${'0'.repeat(40)} ${(deletes ? '0' : '1').repeat(40)} ${each}${index === 0 ? `\0 ${capabilities}` : ''}`,
            ),
          ),
          FLUSH,
          Buffer.from('PACK and more'),
        ]);
        const body = Readable.from(
          cut(bytes, at).filter(({ length }) => length > 0),
          { objectMode: false },
        );
        const push = await readPush(body);
        expect(push.problem).toBeNull();
        expect(push.commands).toEqual(wanted);
        expect([...push.capabilities]).toEqual(capabilities.split(' '));
        const rest: Buffer[] = [];
        for await (const chunk of body as AsyncIterable<Buffer>) rest.push(chunk);
        expect(Buffer.concat([push.held, ...rest])).toEqual(bytes);
        const refused = judgePush(push, ['refs/heads/slipway/**']);
        const allowed = wanted.every((each) => each.ref === 'refs/heads/slipway/x' && !each.deletes);
        expect(refused.size).toBe(allowed ? 0 : wanted.length);
      }),
      { numRuns: 300 },
    );
  });

  it('answers with a report that has each reference, within the side band', () => {
    const answer = refusedPush(new Map([['refs/heads/main', 'no']]), new Set(capabilities.split(' ')), 'because');
    expect(answer.toString('latin1')).toBe(
      '0016\u0002slipway: because\n003a\u0001000eunpack ok\n0023ng refs/heads/main slipway: no\n00000000',
    );
    expect(refusedPush(new Map(), new Set(), 'because')).toEqual(FLUSH);
  });
});
