import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { WholeFrames } from './whole-frames.js';

const STREAM = Buffer.from(': a\n\nevent: x\ndata: {"a":1}\n\ndata: 1\r\n\r\ndata: ü\n\n\ndata: 2\n\ndata: half');

describe('WholeFrames', () => {
  it('keeps every byte in its place, and says nothing that ends in the middle of a frame but the very last', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(STREAM.length), { maxLength: 12 }), (cuts) => {
        const frames = new WholeFrames();
        const places = [0, ...cuts.sort((a, b) => a - b), STREAM.length];
        const said = places
          .slice(1)
          .map((place, index) => frames.push(STREAM.subarray(places[index], place))?.toString('utf8') ?? '');
        for (const piece of said) expect(piece === '' || /\n\r?\n$/.test(piece)).toBe(true);
        expect(said.join('') + (frames.end()?.toString('utf8') ?? '')).toBe(STREAM.toString('utf8'));
      }),
    );
  });

  it('holds no frame back that is whole, even if its last byte comes alone', () => {
    const frames = new WholeFrames();
    expect(frames.push(Buffer.from('data: 1\n'))).toBeNull();
    expect(frames.push(Buffer.from('\n'))?.toString()).toBe('data: 1\n\n');
    expect(frames.push(Buffer.from('data: 2\r\n\r'))).toBeNull();
    expect(frames.push(Buffer.from('\n'))?.toString()).toBe('data: 2\r\n\r\n');
    const whole = Buffer.from('data: 3\n\n');
    expect(frames.push(whole)).toBe(whole);
  });

  it('holds little, whatever comes', () => {
    const frames = new WholeFrames();
    const sent = frames.push(Buffer.alloc(10 * 1024 * 1024, 0x61));
    expect([sent?.length, frames.end()]).toEqual([10 * 1024 * 1024, null]);
  });
});
