import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { SlipwayError } from '@slipway/errors';
import { skipTest } from '@slipway/testing/jest';
import type { WorkspaceStore } from '../workspace-store.js';

const signal = AbortSignal.timeout(120_000);
/** More than two parts of a multipart upload. */
const LARGE = 20 * 2 ** 20;

export interface StoreUnderTest {
  /** A store of its own, empty; of one part it takes `maxBytes`. */
  open(maxBytes?: number): Promise<WorkspaceStore>;
  /** Everything that lies in it, also what the store does not show: names of files or keys. */
  leftovers(store: WorkspaceStore): Promise<readonly string[]>;
}

/**
 * What every store of workspaces keeps to (workspace-store.ts). `store` answers why it cannot be tested here, if so.
 */
export function describeWorkspaceStore(name: string, start: () => StoreUnderTest | string): void {
  describe(`a store of workspaces: ${name}`, () => {
    const ready = (): StoreUnderTest => {
      const under = start();
      return typeof under === 'string' ? skipTest(under) : under;
    };
    const of = (content: Buffer, step = 65_536): Readable =>
      Readable.from(
        (function* () {
          for (let at = 0; at < content.length; at += step) yield content.subarray(at, at + step);
        })(),
      );
    const read = async (store: WorkspaceStore, workspace: string): Promise<Buffer | null> => {
      const stream = await store.get(workspace, 'workspace', signal);
      return stream === null ? null : buffer(stream);
    };
    const hash = (content: Buffer | null): string =>
      content === null ? 'nothing' : createHash('sha256').update(content).digest('hex');

    it('gives back what was put, byte for byte, each part and workspace for itself, and the newest', async () => {
      const under = ready();
      const store = await under.open();
      const contents = { small: randomBytes(10), large: randomBytes(LARGE), empty: Buffer.alloc(0) };
      for (const [workspace, content] of Object.entries(contents))
        expect(await store.put(workspace, 'workspace', of(content), signal)).toEqual({ bytes: content.length });
      await store.put('small', 'conversations', of(Buffer.from('log')), signal);
      for (const [workspace, content] of Object.entries(contents))
        expect(hash(await read(store, workspace))).toBe(hash(content));
      expect((await buffer((await store.get('small', 'conversations', signal)) as Readable)).toString()).toBe('log');
      expect(await store.get('large', 'conversations', signal)).toBeNull();
      await store.put('large', 'workspace', of(contents.small), signal);
      expect(hash(await read(store, 'large'))).toBe(hash(contents.small));
    });

    it('knows a workspace from its mark or first part to its end, and nothing of it afterwards', async () => {
      const under = ready();
      const store = await under.open();
      expect([
        await store.list(signal),
        await store.exists('sb-a', signal),
        await store.get('sb-a', 'workspace', signal),
      ]).toEqual([[], false, null]);
      await store.mark('sb-a', signal);
      await store.put('sb-b', 'workspace', of(Buffer.from('b')), signal);
      await store.put('sb-bb', 'conversations', of(Buffer.from('b')), signal);
      await store.mark('sb-b', signal);
      expect([...(await store.list(signal))].sort()).toEqual(['sb-a', 'sb-b', 'sb-bb']);
      expect([
        await store.exists('sb-a', signal),
        await store.exists('sb-b', signal),
        await store.exists('sb', signal),
      ]).toEqual([true, true, false]);
      expect([await read(store, 'sb-a'), (await read(store, 'sb-b'))?.toString()]).toEqual([null, 'b']);
      for (const _time of [1, 2]) await store.delete('sb-b', signal);
      await store.delete('sb-a', signal);
      expect([await store.list(signal), await store.exists('sb-b', signal), await read(store, 'sb-b')]).toEqual([
        ['sb-bb'],
        false,
        null,
      ]);
      expect((await under.leftovers(store)).filter((file) => !file.includes('sb-bb'))).toEqual([]);
    });

    it('keeps what was there when a put breaks, is too long or is aborted, and leaves nothing of the new', async () => {
      const under = ready();
      const store = await under.open(LARGE);
      await store.put('kept', 'workspace', of(Buffer.from('as it was')), signal);
      const files = await under.leftovers(store);
      const breaking = (after: number): Readable =>
        Readable.from(
          (async function* () {
            yield randomBytes(after);
            throw new SlipwayError('sandbox.unreachable', 'the sandbox went away');
          })(),
        );
      for (const size of [10, LARGE - 10]) {
        for (const workspace of ['kept', 'fresh'])
          await expect(store.put(workspace, 'workspace', breaking(size), signal)).rejects.toMatchObject({
            code: 'sandbox.unreachable',
          });
      }
      await expect(store.put('kept', 'workspace', of(Buffer.alloc(LARGE + 1)), signal)).rejects.toMatchObject({
        code: 'sandbox.archive-too-large',
      });
      for (const size of [10, LARGE - 10]) {
        const control = new AbortController();
        const endless = new Readable({ read() {} });
        endless.push(randomBytes(size));
        endless.once('data', () => setImmediate(() => control.abort(new Error('not wanted any more'))));
        endless.pause();
        await expect(store.put('kept', 'workspace', endless, control.signal)).rejects.toThrow('not wanted any more');
        expect(endless.destroyed).toBe(true);
      }
      expect((await read(store, 'kept'))?.toString()).toBe('as it was');
      expect(await read(store, 'fresh')).toBeNull();
      expect(await under.leftovers(store)).toEqual(files);
    });

    it('lets one of several puts at once win, whole, and a get read what was there when it began', async () => {
      const under = ready();
      const store = await under.open();
      const contents = [1, 2, 3, 4].map(() => randomBytes(9 * 2 ** 20));
      await store.put('shared', 'workspace', of(contents[0] as Buffer), signal);
      const reading = (await store.get('shared', 'workspace', signal)) as Readable;
      await Promise.all(contents.slice(1).map((content) => store.put('shared', 'workspace', of(content), signal)));
      expect(hash(await buffer(reading))).toBe(hash(contents[0] as Buffer));
      expect(contents.slice(1).map(hash)).toContain(hash(await read(store, 'shared')));
    });

    it('takes no name that could lead elsewhere', async () => {
      const under = ready();
      const store = await under.open();
      for (const name of ['', '.', '..', '../x', 'a/b', 'A', 'a_b', '-a', 'a-', 'a\0', 'x'.repeat(64)]) {
        const refusal = { code: 'request.invalid' };
        await expect(store.put(name, 'workspace', of(Buffer.from('x')), signal)).rejects.toMatchObject(refusal);
        await expect(store.get(name, 'workspace', signal)).rejects.toMatchObject(refusal);
        await expect(store.mark(name, signal)).rejects.toMatchObject(refusal);
        await expect(store.exists(name, signal)).rejects.toMatchObject(refusal);
        await expect(store.delete(name, signal)).rejects.toMatchObject(refusal);
      }
      await expect(store.put('a', '../b' as 'workspace', of(Buffer.from('x')), signal)).rejects.toMatchObject({
        code: 'request.invalid',
      });
      expect(await under.leftovers(store)).toEqual([]);
    });

    it('does nothing for a caller that has gone', async () => {
      const under = ready();
      const store = await under.open();
      const gone = AbortSignal.abort(new Error('gone'));
      await expect(store.mark('a', gone)).rejects.toThrow('gone');
      await expect(store.list(gone)).rejects.toThrow('gone');
      await expect(store.put('a', 'workspace', of(Buffer.from('x')), gone)).rejects.toThrow('gone');
      expect(await under.leftovers(store)).toEqual([]);
    });
  });
}
