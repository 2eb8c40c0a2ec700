import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { SlipwayError } from '@slipway/errors';
import { skipTest } from '@slipway/testing/jest';
import type { PackAddress, PackEntry, PackStore } from '../pack-store.js';

const signal = AbortSignal.timeout(120_000);
/** More than two parts of a multipart upload. */
const LARGE = 20 * 2 ** 20;

export interface PackStoreUnderTest {
  /** It refuses a write where an object is by now (`If-None-Match`). */
  readonly conditional: boolean;
  /** A store of its own, empty. */
  open(maxBytes?: number): Promise<PackStore>;
  /** Everything that lies in it, also what the store does not show. */
  leftovers(store: PackStore): Promise<readonly string[]>;
}

/** What every store of packs keeps to (pack-store.ts). `start` answers why it cannot be tested here, if so. */
export function describePackStore(name: string, start: () => PackStoreUnderTest | string): void {
  describe(`a store of packs: ${name}`, () => {
    const ready = (): PackStoreUnderTest => {
      const under = start();
      return typeof under === 'string' ? skipTest(under) : under;
    };

    it('gives back what was put, byte for byte, whole and in ranges, each organization for itself', async () => {
      const store = await ready().open();
      const [small, large] = [randomBytes(10), randomBytes(LARGE)];
      const [one, two] = [address('org_a'), address('org_a')];
      const same = { ...one, orgId: 'org_b' };
      for (const [pack, content] of [
        [one, small],
        [two, large],
        [same, Buffer.from('theirs')],
      ] as const)
        expect(await store.put(pack, sourceOf(content), signal)).toEqual({ outcome: 'stored', bytes: content.length });
      expect(await read(store, one)).toEqual(small);
      expect(hash(await read(store, two))).toBe(hash(large));
      expect((await read(store, same)).toString()).toBe('theirs');
      for (const [begin, length] of [
        [0, 1],
        [9, 1],
        [3, 7],
      ] as const)
        expect(await read(store, one, [begin, length])).toEqual(small.subarray(begin, begin + length));
      expect(hash(await read(store, two, [LARGE - 9_000_000, 9_000_000]))).toBe(hash(large.subarray(-9_000_000)));
      expect(await store.get(address('org_a'), null, signal)).toBeNull();
      expect(await store.get(address('org_a'), { start: 0, length: 1 }, signal)).toBeNull();
    });

    it('answers a range beyond the end with an error, never with fewer bytes', async () => {
      const store = await ready().open();
      const pack = address('org_a');
      await store.put(pack, sourceOf(randomBytes(10)), signal);
      for (const range of [
        [5, 6],
        [10, 1],
        [1_000, 5],
      ] as const)
        await expect(read(store, pack, range)).rejects.toMatchObject({ code: 'sandbox.archive-unavailable' });
      for (const [start, length] of [
        [-1, 2],
        [0, 0],
        [0.5, 1],
      ] as const)
        await expect(store.get(pack, { start, length }, signal)).rejects.toMatchObject({ code: 'request.invalid' });
    });

    it('never replaces a pack, and lets one of several puts at once win, whole', async () => {
      const { conditional, open } = ready();
      const store = await open();
      const pack = address('org_a');
      expect((await store.put(pack, sourceOf(Buffer.from('first')), signal)).outcome).toBe('stored');
      const late = sourceOf(Buffer.from('second'));
      expect(await store.put(pack, late, signal)).toEqual({ outcome: 'there' });
      expect(late.destroyed).toBe(true);
      expect((await read(store, pack)).toString()).toBe('first');
      const contested = address('org_a');
      const contents = [1, 2, 3, 4].map(() => randomBytes(9 * 2 ** 20));
      const answers = await Promise.all(contents.map((content) => store.put(contested, sourceOf(content), signal)));
      const winners = contents.filter((_content, index) => answers[index]?.outcome === 'stored').map(hash);
      if (conditional) expect(winners).toHaveLength(1);
      expect(winners).toContain(hash(await read(store, contested)));
    });

    it('leaves nothing of a put that breaks, is too long or is aborted', async () => {
      const under = ready();
      const store = await under.open(LARGE);
      const files = await under.leftovers(store);
      for (const size of [10, LARGE - 10]) {
        const breaking = Readable.from(
          (async function* () {
            yield randomBytes(size);
            throw new SlipwayError('sandbox.unreachable', 'the sandbox went away');
          })(),
        );
        const refusal = { code: 'sandbox.unreachable' };
        await expect(store.put(address('org_a'), breaking, signal)).rejects.toMatchObject(refusal);
        const control = new AbortController();
        const endless = new Readable({ read() {} });
        endless.push(randomBytes(size));
        endless.once('data', () => setImmediate(() => control.abort(new Error('not wanted any more'))));
        endless.pause();
        await expect(store.put(address('org_a'), endless, control.signal)).rejects.toThrow('not wanted any more');
        expect(endless.destroyed).toBe(true);
      }
      await expect(store.put(address('org_a'), sourceOf(Buffer.alloc(LARGE + 1)), signal)).rejects.toMatchObject({
        code: 'sandbox.archive-too-large',
      });
      expect(await under.leftovers(store)).toEqual(files);
      expect(await entries(store)).toEqual([]);
    });

    it('lists every pack in the order of its key with its size and age, from behind any of them', async () => {
      const store = await ready().open();
      const before = Date.now();
      const packs = ['org', 'org-a', 'org_a', 'Org'].flatMap((org) => [address(org), address(org), address(org)]);
      for (const [index, pack] of packs.entries()) await store.put(pack, sourceOf(randomBytes(index + 1)), signal);
      const found = await entries(store);
      const keys = found.map(keyOf);
      expect(keys).toEqual(packs.map(keyOf).sort());
      for (const { orgId, packId, bytes, storedAt } of found) {
        expect(bytes).toBe(packs.findIndex((pack) => keyOf(pack) === keyOf({ orgId, packId })) + 1);
        expect(Math.abs(storedAt.getTime() - before)).toBeLessThan(60_000);
      }
      for (const [index, entry] of found.entries())
        expect((await entries(store, entry)).map(keyOf)).toEqual(keys.slice(index + 1));
      expect((await entries(store, { orgId: 'org-a', packId: '0'.repeat(32) })).map(keyOf)).toEqual(
        keys.filter((key) => key > `org-a/${'0'.repeat(32)}`),
      );
    });

    it('deletes a pack for good, any number of times, and no other', async () => {
      const under = ready();
      const store = await under.open();
      const [kept, gone] = [address('org_a'), address('org_a')];
      for (const pack of [kept, gone]) await store.put(pack, sourceOf(Buffer.from('x')), signal);
      for (const _time of [1, 2]) await store.delete(gone, signal);
      await store.delete(address('org_nobody'), signal);
      expect([await store.get(gone, null, signal), (await entries(store)).map(keyOf)]).toEqual([null, [keyOf(kept)]]);
    });

    it('takes no id that could lead elsewhere', async () => {
      const under = ready();
      const store = await under.open();
      const id = '0'.repeat(32);
      const names = ['', '.', '..', '../x', 'a/b', 'a\0', 'x'.repeat(65)];
      const addresses = [
        ...names.map((orgId) => ({ orgId, packId: id })),
        ...[...names, id.slice(1), `${id}0`, id.replace('0', 'A')].map((packId) => ({ orgId: 'org', packId })),
      ];
      const refusal = { code: 'request.invalid' };
      for (const pack of addresses) {
        await expect(store.put(pack, sourceOf(Buffer.from('x')), signal)).rejects.toMatchObject(refusal);
        await expect(store.get(pack, null, signal)).rejects.toMatchObject(refusal);
        await expect(store.delete(pack, signal)).rejects.toMatchObject(refusal);
        await expect(entries(store, pack)).rejects.toMatchObject(refusal);
      }
      expect(await under.leftovers(store)).toEqual([]);
    });

    it('does nothing for a caller that has gone', async () => {
      const under = ready();
      const store = await under.open();
      const gone = AbortSignal.abort(new Error('gone'));
      const pack = address('org_a');
      await store.put(pack, sourceOf(Buffer.from('x')), signal);
      await expect(store.put(address('org_a'), sourceOf(Buffer.from('x')), gone)).rejects.toThrow('gone');
      await expect(store.get(pack, null, gone)).rejects.toThrow('gone');
      await expect(store.delete(pack, gone)).rejects.toThrow('gone');
      await expect(entries(store, null, gone)).rejects.toThrow('gone');
      expect((await entries(store)).map(keyOf)).toEqual([keyOf(pack)]);
    });
  });
}

/** A pack of the organization that there is not yet. */
export function address(orgId: string): PackAddress {
  return { orgId, packId: randomBytes(16).toString('hex') };
}

function keyOf({ orgId, packId }: PackAddress): string {
  return `${orgId}/${packId}`;
}

export function sourceOf(content: Buffer, step = 65_536): Readable {
  return Readable.from(
    (function* () {
      for (let at = 0; at < content.length; at += step) yield content.subarray(at, at + step);
    })(),
  );
}

async function entries(store: PackStore, after: PackAddress | null = null, until = signal): Promise<PackEntry[]> {
  const found: PackEntry[] = [];
  for await (const entry of store.list(after, until)) found.push(entry);
  return found;
}

async function read(store: PackStore, pack: PackAddress, range?: readonly [number, number]): Promise<Buffer> {
  const wanted = range === undefined ? null : { start: range[0], length: range[1] };
  const stream = await store.get(pack, wanted, signal);
  if (stream === null) throw new Error('the pack is not there');
  return buffer(stream);
}

function hash(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
