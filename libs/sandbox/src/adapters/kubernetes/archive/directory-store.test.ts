import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { DirectoryStore } from './directory-store.js';
import { describeWorkspaceStore } from './testing/workspace-store.contract.js';

const root = mkdtempSync(path.join(os.tmpdir(), 'slipway-store-'));
const directories = new Map<unknown, string>();
const signal = AbortSignal.timeout(30_000);

function openStore(maxBytes?: number): { store: DirectoryStore; directory: string } {
  const directory = path.join(root, String(directories.size));
  const store = new DirectoryStore(directory, maxBytes);
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

describeWorkspaceStore('a directory', () => ({
  open: async (maxBytes) => openStore(maxBytes).store,
  leftovers: async (store) => filesOf(directories.get(store) as string),
}));

describe('a store in a directory', () => {
  it('shows no half of what a killed process was writing, and clears it away in time', async () => {
    const { store, directory } = openStore();
    await store.put('a', 'workspace', Readable.from([Buffer.from('whole')]), signal);
    const script = `
      import { Readable } from 'node:stream';
      import { DirectoryStore } from ${JSON.stringify(new URL('directory-store.js', import.meta.url).href)};
      const endless = Readable.from((async function* () { for (;;) yield Buffer.alloc(1e6, 1); })());
      await new DirectoryStore(${JSON.stringify(directory)}).put('a', 'workspace', endless, new AbortController().signal);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' });
    const draft = await until('it writes', () => filesOf(directory).find((file) => file.endsWith('.draft')));
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect((await buffer((await store.get('a', 'workspace', signal)) as Readable)).toString()).toBe('whole');
    expect(await store.list(signal)).toEqual(['a']);
    utimesSync(path.join(directory, draft), new Date(0), new Date(0));
    await store.put('a', 'workspace', Readable.from([Buffer.from('newer')]), signal);
    expect(filesOf(directory)).toEqual([path.join('a', 'workspace.tar.zst')]);
  });

  it('says that it does not work when its directory cannot be used', async () => {
    const file = path.join(root, 'a-file');
    writeFileSync(file, '');
    const store = new DirectoryStore(file);
    const refusal = { code: 'sandbox.archive-unavailable', detail: expect.stringContaining('ENOTDIR') };
    await expect(store.list(signal)).rejects.toMatchObject(refusal);
    await expect(store.exists('a', signal)).rejects.toMatchObject(refusal);
    await expect(store.put('a', 'workspace', Readable.from([Buffer.from('x')]), signal)).rejects.toMatchObject(refusal);
  });
});
