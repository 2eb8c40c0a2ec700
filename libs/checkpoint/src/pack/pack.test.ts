import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { CheckpointObject } from '../objects/checkpoint-object.js';
import { contentIdOf } from '../objects/content-id.js';
import { openPack } from './open-pack.js';
import { seal } from './pack-format.js';
import type { PackIdentity, WrittenPack } from './pack-types.js';
import { writePacks } from './write-packs.js';

const signal = AbortSignal.timeout(120_000);
const KEY = Buffer.alloc(32, 7);

interface Stored {
  readonly identity: PackIdentity;
  readonly body: Buffer;
}

function object(kind: 'tree' | 'chunk', bytes: Uint8Array): CheckpointObject {
  return { kind, id: contentIdOf(bytes), bytes };
}

async function pack(
  objects: Iterable<CheckpointObject>,
  orgId = 'org-1',
): Promise<{ packs: Stored[]; written: readonly WrittenPack[] }> {
  const packs: Stored[] = [];
  const written = await writePacks({
    objects,
    nextPack: () => ({ orgId, packId: `pack-${packs.length}`, key: KEY }),
    store: async (identity, body) => {
      const parts: Buffer[] = [];
      for await (const part of body) parts.push(part);
      packs.push({ identity, body: Buffer.concat(parts) });
    },
    signal,
  });
  return { packs, written };
}

async function unpack({ identity, body }: Stored): Promise<CheckpointObject[]> {
  const getRange = (offset: number, length: number): Promise<Buffer> =>
    Promise.resolve(body.subarray(offset, offset + length));
  const reader = await openPack({ identity, bytes: body.length, getRange });
  const found: CheckpointObject[] = [];
  for await (const each of reader.objects(null)) found.push({ ...each, bytes: Buffer.from(each.bytes) });
  return found;
}

const contents = fc.oneof(
  fc.uint8Array({ minLength: 1, maxLength: 2_000 }),
  fc
    .record({ byte: fc.nat(255), length: fc.integer({ min: 1, max: 900_000 }) })
    .map(({ byte, length }) => Buffer.alloc(length, byte)),
  fc.integer({ min: 250_000, max: 300_000 }).map((length) => Buffer.concat([randomBytes(length)])),
);
const lists = fc
  .array(fc.record({ kind: fc.constantFrom('tree' as const, 'chunk' as const), bytes: contents }), {
    minLength: 1,
    maxLength: 12,
  })
  .map((list) => [
    ...new Map(list.map(({ kind, bytes }) => [contentIdOf(bytes), object(kind, Buffer.from(bytes))])).values(),
  ]);
const byId = (list: readonly CheckpointObject[]): unknown[] => list.map(({ kind, id }) => `${kind} ${id}`).sort();
const BROKEN = { code: expect.stringMatching(/^checkpoint\.(broken|too-large)$/) };

describe('a pack', () => {
  it('gives each object back, trees first', async () => {
    await fc.assert(
      fc.asyncProperty(lists, async (list) => {
        const { packs, written } = await pack(list);
        const [only] = packs as [Stored];
        const found = await unpack(only);
        expect(byId(found)).toEqual(byId(list));
        for (const { id, bytes } of found) expect(contentIdOf(bytes)).toBe(id);
        const firstChunk = found.findIndex(({ kind }) => kind === 'chunk');
        if (firstChunk !== -1) expect(found.slice(firstChunk).every(({ kind }) => kind === 'chunk')).toBe(true);
        expect(written).toEqual([
          { packId: 'pack-0', bytes: only.body.length, plainBytes: expect.any(Number), objects: list.length },
        ]);
      }),
      { numRuns: 60 },
    );
  });

  it('gives only what is wanted, and reads no frame of the others', async () => {
    const list = Array.from({ length: 40 }, () => object('chunk', randomBytes(200_000)));
    const { packs } = await pack(list);
    const { identity, body } = packs[0] as Stored;
    let read = 0;
    const reader = await openPack({
      identity,
      bytes: body.length,
      getRange: (offset, length) => {
        read += length;
        return Promise.resolve(body.subarray(offset, offset + length));
      },
    });
    read = 0;
    const wanted = list[20] as CheckpointObject;
    expect(reader.has(wanted.id)).toBe(true);
    expect(Buffer.from(await reader.read(wanted.id)).equals(wanted.bytes)).toBe(true);
    expect(read).toBeLessThan(300_000);
  });

  it('ends at 64 MiB, and the next takes over', async () => {
    function* many(): Generator<CheckpointObject> {
      for (let index = 0; index < 35; index += 1) yield object('chunk', Buffer.alloc(2 ** 21, index + 1));
    }
    const { packs, written } = await pack(many());
    expect(written.map(({ objects }) => objects)).toEqual([32, 3]);
    expect(packs.map(({ identity }) => identity.packId)).toEqual(['pack-0', 'pack-1']);
    expect((await unpack(packs[1] as Stored)).length).toBe(3);
  });

  it('is not written at all for no object', async () => {
    expect(await pack([])).toEqual({ packs: [], written: [] });
  });

  it('P17: with a byte flipped, cut or added anywhere is an error, never other bytes', async () => {
    const list = [
      object('tree', Buffer.from('a tree')),
      object('chunk', Buffer.alloc(50_000, 1)),
      object('chunk', randomBytes(300_000)),
    ];
    const { packs } = await pack(list);
    const { identity, body } = packs[0] as Stored;
    await fc.assert(
      fc.asyncProperty(fc.nat(body.length - 1), fc.integer({ min: 1, max: 255 }), async (at, mask) => {
        const flipped = Buffer.from(body);
        flipped[at] = (flipped[at] as number) ^ mask;
        await expect(unpack({ identity, body: flipped })).rejects.toMatchObject(BROKEN);
        await expect(unpack({ identity, body: body.subarray(0, at) })).rejects.toMatchObject(BROKEN);
        await expect(
          unpack({ identity, body: Buffer.concat([body.subarray(0, at), Buffer.of(mask), body.subarray(at)]) }),
        ).rejects.toMatchObject(BROKEN);
      }),
      { numRuns: 300 },
    );
  });

  it('P17: of another organization, name or key, or with frames of another pack, is an error', async () => {
    const list = [object('chunk', randomBytes(200_000)), object('chunk', randomBytes(200_000))];
    const { packs } = await pack(list);
    const { identity, body } = packs[0] as Stored;
    for (const other of [{ orgId: 'org-2' }, { packId: 'pack-9' }, { key: Buffer.alloc(32, 8) }])
      await expect(unpack({ identity: { ...identity, ...other }, body })).rejects.toMatchObject(BROKEN);
    // Both frames have one length: swapped, replayed from an older pack of the same name, or the footer of that one.
    const length = 200_016;
    const swapped = Buffer.concat([
      body.subarray(length, 2 * length),
      body.subarray(0, length),
      body.subarray(2 * length),
    ]);
    await expect(unpack({ identity, body: swapped })).rejects.toMatchObject(BROKEN);
    const replayed = Buffer.concat([body.subarray(0, length), body.subarray(0, length), body.subarray(2 * length)]);
    await expect(unpack({ identity, body: replayed })).rejects.toMatchObject(BROKEN);
    const { packs: later } = await pack([object('chunk', randomBytes(200_000)), object('chunk', randomBytes(200_000))]);
    const mixed = Buffer.concat([body.subarray(0, 2 * length), (later[0] as Stored).body.subarray(2 * length)]);
    await expect(unpack({ identity, body: mixed })).rejects.toMatchObject(BROKEN);
  });

  it('binds a frame to its number: without that, a swap of equal frames would be found by ids only', () => {
    const identity = { orgId: 'o', packId: 'p', key: KEY };
    const plain = Buffer.from('same');
    expect(seal(identity, 0, plain).equals(seal(identity, 1, plain))).toBe(false);
  });

  it('whose body is not read to its end rejects', async () => {
    const written = writePacks({
      objects: [object('chunk', Buffer.from('a'))],
      nextPack: () => ({ orgId: 'o', packId: 'p', key: KEY }),
      store: () => Promise.resolve(),
      signal,
    });
    await expect(written).rejects.toThrow(/not read to its end/);
  });
});
