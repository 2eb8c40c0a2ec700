import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { openWorkspaceStore } from '../adapters/kubernetes/index.js';
import { DirectoryPackStore } from './directory-pack-store.js';
import { openPackStore } from './open-pack-store.js';
import type { PackStore } from './pack-store.js';
import { address, describePackStore, sourceOf } from './testing/pack-store.contract.js';

const root = mkdtempSync(path.join(os.tmpdir(), 'slipway-packs-'));
const directories = new Map<PackStore, string>();
const signal = AbortSignal.timeout(30_000);

function openStore(maxBytes?: number): { store: DirectoryPackStore; directory: string } {
  const directory = path.join(root, String(directories.size));
  const store = new DirectoryPackStore(directory, maxBytes === undefined ? {} : { maxBytes });
  directories.set(store, directory);
  return { store, directory };
}
function filesOf(directory: string): string[] {
  try {
    return readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => path.relative(directory, path.join(entry.parentPath, entry.name)));
  } catch {
    return [];
  }
}

afterAll(() => rmSync(root, { recursive: true, force: true }));

describePackStore('a directory', () => ({
  conditional: true,
  open: async (maxBytes) => openStore(maxBytes).store,
  leftovers: async (store) => filesOf(directories.get(store) as string),
}));

describe('a store of packs in a directory', () => {
  it('shows nothing of what a killed process was writing, and clears it away a day later', async () => {
    const { store, directory } = openStore();
    const pack = address('org_a');
    const script = `
      import { Readable } from 'node:stream';
      import { DirectoryPackStore } from ${JSON.stringify(new URL('directory-pack-store.js', import.meta.url).href)};
      const endless = Readable.from((async function* () { for (;;) yield Buffer.alloc(1e6, 1); })());
      const store = new DirectoryPackStore(${JSON.stringify(directory)}, { maxBytes: 1e12 });
      await store.put(${JSON.stringify(pack)}, endless, new AbortController().signal);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' });
    const draft = await until('it writes', () => filesOf(directory).find((file) => file.endsWith('.draft')));
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await store.get(pack, null, signal)).toBeNull();
    const listed = async (): Promise<number> => {
      let count = 0;
      for await (const _entry of store.list(null, signal)) count += 1;
      return count;
    };
    expect([await listed(), filesOf(directory).length]).toEqual([0, 1]);
    utimesSync(path.join(directory, draft), new Date(0), new Date(0));
    expect([await listed(), filesOf(directory).length]).toEqual([0, 0]);
    expect((await store.put(pack, sourceOf(Buffer.from('x')), signal)).outcome).toBe('stored');
  });

  it('says that it does not work when its directory cannot be used', async () => {
    const file = path.join(root, 'a-file');
    writeFileSync(file, '');
    const store = new DirectoryPackStore(file);
    const refusal = { code: 'sandbox.archive-unavailable', detail: expect.stringContaining('ENOTDIR') };
    await expect(store.put(address('org_a'), sourceOf(Buffer.from('x')), signal)).rejects.toMatchObject(refusal);
    await expect(store.list(null, signal)[Symbol.asyncIterator]().next()).rejects.toMatchObject(refusal);
  });

  it('lies beside the store of workspaces, which does not see it', async () => {
    const url = pathToFileURL(path.join(root, 'both'));
    await (await openPackStore(url)).put(address('org_a'), sourceOf(Buffer.from('x')), signal);
    expect(filesOf(path.join(root, 'both', '_packs'))).toHaveLength(1);
    expect(await (await openWorkspaceStore(url)).list(signal)).toEqual([]);
  });
});
