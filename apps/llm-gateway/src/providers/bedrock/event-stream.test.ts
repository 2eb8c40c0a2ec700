import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { writeMessage } from '../test-event-stream.js';
import { EventStreamReader, type StreamMessage } from './event-stream.js';

/** AWS's own example of the format: one header of text, a payload of 13 bytes. */
const PUBLISHED = Buffer.from(
  '0000003d0000002007fd83960c636f6e74656e742d747970650700106170706c69636174696f6e2f6a736f6e7b27666f6f273a27626172277d8d9c08b1',
  'hex',
);

const read = (reader: EventStreamReader, bytes: Buffer, places: readonly number[]): StreamMessage[] =>
  [...places, bytes.length].flatMap((place, index) => reader.push(bytes.subarray(places[index - 1] ?? 0, place)));

describe('EventStreamReader', () => {
  it('reads the published example, and so does what the tests write', () => {
    const [message] = new EventStreamReader().push(PUBLISHED);
    expect([...(message?.headers ?? [])]).toEqual([['content-type', 'application/json']]);
    expect(message?.payload.toString()).toBe("{'foo':'bar'}");
    expect(writeMessage({ 'content-type': 'application/json' }, Buffer.from("{'foo':'bar'}"))).toEqual(PUBLISHED);
  });

  it('reads the same cut at every byte, and however else', () => {
    const bytes = Buffer.concat([PUBLISHED, writeMessage({ ':event-type': 'grüße' }, Buffer.alloc(0)), PUBLISHED]);
    const whole = new EventStreamReader().push(bytes).map(({ headers, payload }) => [[...headers], payload.toString()]);
    expect(whole).toHaveLength(3);
    const seen = (places: readonly number[]): unknown =>
      read(new EventStreamReader(), bytes, places).map(({ headers, payload }) => [[...headers], payload.toString()]);
    expect(seen(Array.from({ length: bytes.length }, (_, index) => index))).toEqual(whole);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 8 }), (cuts) =>
        expect(seen(cuts.sort((one, other) => one - other))).toEqual(whole),
      ),
      { numRuns: 50 },
    );
  });

  it('stops at the first byte that was changed on the way, wherever it is', () => {
    for (let at = 0; at < PUBLISHED.length; at += 1) {
      const changed = Buffer.from(PUBLISHED);
      changed[at] = (changed[at] ?? 0) ^ 0x10;
      const reader = new EventStreamReader();
      expect(reader.push(changed)).toEqual([]);
      expect(reader.broken).toMatch(/checksum/);
      expect(reader.push(PUBLISHED)).toEqual([]);
    }
  });

  it('takes no message of more than 4 MiB and holds nothing of it, and says when a stream ends inside of one', () => {
    const huge = writeMessage({}, Buffer.alloc(5 * 1024 * 1024));
    const reader = new EventStreamReader();
    expect(reader.push(huge.subarray(0, 100))).toEqual([]);
    expect([reader.broken, reader.cut]).toEqual([expect.stringContaining('bytes'), false]);
    const short = new EventStreamReader();
    short.push(PUBLISHED.subarray(0, 20));
    expect([short.broken, short.cut]).toEqual([null, true]);
  });

  it('never fails, whatever passes', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 64 })), (parts) =>
        parts.forEach((part) => void new EventStreamReader().push(Buffer.from(part))),
      ),
    );
    // Sound checksums around any headers.
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 40 }),
        (headers) => void new EventStreamReader().push(writeMessage(Buffer.from(headers), Buffer.from('{}'))),
      ),
    );
  });
});
