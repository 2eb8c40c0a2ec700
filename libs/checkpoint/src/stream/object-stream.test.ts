import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { CheckpointObject } from '../objects/checkpoint-object.js';
import { contentIdOf } from '../objects/content-id.js';
import { readObjectStream, writeObjectStream } from './object-stream.js';

const objects = fc.array(
  fc.record({ kind: fc.constantFrom('tree' as const, 'chunk' as const), bytes: fc.uint8Array({ maxLength: 300 }) }),
  { maxLength: 8 },
);
const withId = ({ kind, bytes }: { kind: 'tree' | 'chunk'; bytes: Uint8Array }): CheckpointObject => ({
  kind,
  id: contentIdOf(bytes),
  bytes: Buffer.from(bytes),
});

async function written(list: readonly CheckpointObject[], trailer: unknown): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of writeObjectStream(list, () => trailer)) parts.push(Buffer.from(part));
  return Buffer.concat(parts);
}

async function* inParts(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(bytes: Uint8Array, size = 64): Promise<{ objects: CheckpointObject[]; trailer: unknown }> {
  const stream = readObjectStream(inParts(bytes, size), 2 ** 20);
  const found: CheckpointObject[] = [];
  for await (const object of stream.objects) found.push(object);
  return { objects: found, trailer: stream.trailer() };
}

describe('an object stream', () => {
  it('is read as it was written, however it is cut into parts', async () => {
    await fc.assert(
      fc.asyncProperty(objects, fc.integer({ min: 1, max: 400 }), fc.jsonValue(), async (list, size, trailer) => {
        const all = list.map(withId);
        const json = JSON.parse(JSON.stringify(trailer)) as unknown;
        expect(await read(await written(all, json), size)).toEqual({ objects: all, trailer: json });
      }),
    );
  });

  it('with one byte changed, cut, or prolonged never gives another object or another end', async () => {
    await fc.assert(
      fc.asyncProperty(objects, fc.nat(), fc.integer({ min: 1, max: 255 }), async (list, at, mask) => {
        const all = list.map(withId);
        const bytes = await written(all, { complete: true });
        const flipped = Buffer.from(bytes);
        flipped[at % bytes.length] = (flipped[at % bytes.length] as number) ^ mask;
        const same = await read(flipped).then(
          (got) => got.objects.map(({ id }) => id).join() === all.map(({ id }) => id).join() && got.trailer !== null,
          () => null,
        );
        // Only the kind of an object may change: nothing but what asks for it says which it is.
        expect(same === null || same).toBe(true);
        await expect(read(bytes.subarray(0, at % bytes.length))).rejects.toMatchObject({ code: 'checkpoint.broken' });
        await expect(read(Buffer.concat([bytes, Buffer.of(1)]))).rejects.toMatchObject({ code: 'checkpoint.broken' });
      }),
    );
  });

  it('that claims a long object is refused before anything is allocated for it', async () => {
    const head = Buffer.alloc(37);
    head[0] = 2;
    head.writeUInt32LE(0xffffffff, 33);
    await expect(read(head)).rejects.toMatchObject({ code: 'checkpoint.too-large' });
  });

  it('whose objects fail has no end', async () => {
    async function* failing(): AsyncGenerator<CheckpointObject> {
      yield withId({ kind: 'chunk', bytes: Buffer.from('a') });
      throw new Error('disk');
    }
    const parts: Buffer[] = [];
    const sent = (async () => {
      for await (const part of writeObjectStream(failing(), () => null)) parts.push(Buffer.from(part));
    })();
    await expect(sent).rejects.toThrow('disk');
    await expect(read(Buffer.concat(parts))).rejects.toMatchObject({ code: 'checkpoint.broken' });
  });

  it('longer than its bound is refused', async () => {
    const bytes = await written([withId({ kind: 'chunk', bytes: Buffer.alloc(2_000) })], null);
    const stream = readObjectStream(inParts(bytes, 100), 1_000);
    const all = (async () => {
      for await (const object of stream.objects) void object;
    })();
    await expect(all).rejects.toMatchObject({ code: 'checkpoint.too-large' });
    expect(() => stream.trailer()).toThrow(/has not ended/);
  });
});
