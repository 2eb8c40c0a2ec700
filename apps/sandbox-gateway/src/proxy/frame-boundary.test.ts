import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { closeFrame, FrameBoundary } from './frame-boundary.js';

/** A frame by RFC 6455, 5.2. */
function frame(length: number, masked: boolean, opcode = 2): Buffer {
  const mask = masked ? 0x80 : 0;
  const head = length < 126 ? Buffer.alloc(2) : Buffer.alloc(length < 65_536 ? 4 : 10);
  head[0] = 0x80 | opcode;
  head[1] = mask | (length < 126 ? length : length < 65_536 ? 126 : 127);
  if (head.length === 4) head.writeUInt16BE(length, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, randomBytes((masked ? 4 : 0) + length)]);
}

describe('FrameBoundary', () => {
  it('is between two frames after the last byte of each one, however the bytes are cut', () => {
    const frames = [0, 1, 125, 126, 127, 65_535, 65_536, 70_000, 0].flatMap((length) => [
      frame(length, false),
      frame(length, true),
    ]);
    const bytes = Buffer.concat(frames);
    const ends = new Set<number>([0]);
    let end = 0;
    for (const { length } of frames) {
      end += length;
      ends.add(end);
    }
    for (const size of [1, 2, 3, 7, 1_000, 65_536]) {
      const boundary = new FrameBoundary();
      for (let at = 0; at < bytes.length; at += size) {
        const chunk = bytes.subarray(at, at + size);
        boundary.push(chunk);
        if (boundary.between !== ends.has(at + chunk.length))
          throw new Error(`wrong after ${at + chunk.length} bytes in pieces of ${size}`);
      }
      expect(boundary.between).toBe(true);
      expect(boundary.closed).toBe(false);
    }
  });

  it('knows that a close frame has passed', () => {
    const boundary = new FrameBoundary();
    boundary.push(Buffer.concat([frame(3, false), closeFrame(1012, 'come again')]));
    expect(boundary.between).toBe(true);
    expect(boundary.closed).toBe(true);
  });
});
