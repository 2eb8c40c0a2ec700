import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { afterAll, describe, expect, it } from '@jest/globals';
import * as library from '../index.js';
import { Place } from '../testing/checkpoints.js';
import { UNBOUNDED } from './capture-types.js';

const places: Place[] = [];
afterAll(() => {
  for (const place of places) place.remove();
});
function placeOf(store?: Place['store']): Place {
  const place = new Place(library, store);
  places.push(place);
  return place;
}

/** Grows, and is cut again before it is large: its length differs at each look, whatever steps the clock has. */
const WRITER = `
  const { openSync, writeSync, ftruncateSync } = require('node:fs');
  const file = openSync(process.argv[1], 'r+');
  process.stdout.write('ready');
  for (let at = 300_000; ; at = at > 900_000 ? 300_000 : at + 7) {
    if (at === 300_000) ftruncateSync(file, at);
    writeSync(file, 'written', at);
  }`;

describe('T10: a file that is written to all the time', () => {
  it('is captured, said to be torn, and read again by the next capture', async () => {
    const place = placeOf();
    const file = `${place.project}/hot`;
    writeFileSync(file, 'x');
    const writer: ChildProcess = spawn(process.execPath, ['-e', WRITER, file], { stdio: ['ignore', 'pipe', 'ignore'] });
    await once(writer.stdout as NodeJS.ReadableStream, 'data');
    let torn = 0;
    for (let tries = 0; tries < 200 && torn === 0; tries += 1) torn = (await place.capture()).torn.count;
    writer.kill('SIGKILL');
    await once(writer, 'exit');
    expect(torn).toBe(1);
    const after = await place.capture();
    expect(after).toMatchObject({ torn: { count: 0 } });
    expect(after.root).toBe((await place.scan()).root);
  }, 60_000);
});

describe('T9: much and deep', () => {
  it('folders more than 256 deep are left out, with a word', async () => {
    const place = placeOf();
    mkdirSync(`${place.project}/${'d/'.repeat(600)}`, { recursive: true });
    const captured = await place.capture();
    expect(captured.skipped).toMatchObject({ count: 1, named: [{ reason: 'too-deep' }] });
    const other = placeOf(place.store);
    expect(await other.restore(captured.root, 'blank')).toMatchObject({ exact: true });
  });

  it('a sparse file of 1 GiB with 1 MiB of data is 1 MiB, also when restored', async () => {
    const place = placeOf();
    const file = openSync(`${place.project}/sparse`, 'w');
    ftruncateSync(file, 2 ** 30);
    writeSync(file, Buffer.alloc(2 ** 20, 7), 0, 2 ** 20, 500 * 2 ** 20);
    closeSync(file);
    const captured = await place.capture();
    expect(captured.newBytes).toBeLessThan(1.1 * 2 ** 20);
    expect(captured.logicalBytes).toBe(2 ** 30);
    const other = placeOf(place.store);
    expect(await other.restore(captured.root, 'blank')).toMatchObject({ exact: true });
    expect(lstatSync(`${other.project}/sparse`).blocks * 512).toBeLessThan(2 * 2 ** 20);
  }, 60_000);

  it('a folder of 20,000 files is captured with the memory of its entries', async () => {
    const place = placeOf();
    mkdirSync(`${place.project}/many`);
    for (let index = 0; index < 20_000; index += 1)
      writeFileSync(`${place.project}/many/file-${index}`, `${index % 50}`);
    const captured = await place.capture();
    expect(captured).toMatchObject({ files: 20_000, complete: true });
    // Equal content is given once.
    expect(captured.newObjects).toBeLessThan(60);
  }, 60_000);
});

describe('classes of paths', () => {
  it('leaves out sockets, locks of git and caches, drops setuid, and names them', async () => {
    const place = placeOf();
    mkdirSync(`${place.project}/.git`);
    mkdirSync(`${place.home}/.cache`);
    writeFileSync(`${place.project}/.git/index.lock`, '');
    writeFileSync(`${place.project}/yarn.lock`, 'kept');
    writeFileSync(`${place.home}/.cache/c`, '');
    writeFileSync(`${place.project}/setuid`, '');
    chmodSync(`${place.project}/setuid`, 0o6755);
    const server = createServer().listen(`${place.project}/socket`);
    await once(server, 'listening');
    const captured = await place.capture();
    server.close();
    expect(captured.skipped.count).toBe(3);
    expect(captured.skipped.named.map(({ path, reason }) => `${reason} ${path}`).sort()).toEqual([
      'cache home/.cache',
      'lock project/.git/index.lock',
      'special project/socket',
    ]);
    const other = placeOf(place.store);
    await other.restore(captured.root, 'blank');
    expect(lstatSync(`${other.project}/setuid`).mode & 0o7777).toBe(0o755);
    expect(readFileSync(`${other.project}/yarn.lock`, 'utf8')).toBe('kept');
  });

  it('captures a heavy folder by generation: referenced while waited for, read in the background', async () => {
    const place = placeOf();
    mkdirSync(`${place.project}/node_modules/a`, { recursive: true });
    writeFileSync(`${place.project}/node_modules/a/index.js`, 'one');
    expect(await place.capture({ heavy: 'reference' })).toMatchObject({ complete: false, files: 0 });
    const one = await place.capture({ heavy: 'capture' });
    expect(one).toMatchObject({ complete: true, files: 1 });
    expect(await place.capture({ heavy: 'reference' })).toMatchObject({ root: one.root, complete: true, read: 0 });
    mkdirSync(`${place.project}/node_modules/b`);
    writeFileSync(`${place.project}/node_modules/b/index.js`, 'two');
    expect(await place.capture({ heavy: 'reference' })).toMatchObject({
      complete: false,
      deferred: { count: 1, named: [{ path: 'project/node_modules/', reason: 'heavy' }] },
    });
    const two = await place.capture({ heavy: 'capture' });
    expect(two).toMatchObject({ complete: true, files: 2, root: (await place.scan()).root });
  });

  it('defers what is over a budget, says so, and has it the next time', async () => {
    const place = placeOf();
    for (const name of ['a', 'b', 'c', 'd']) writeFileSync(`${place.project}/${name}`, name);
    const budgets = { ...UNBOUNDED, newEntries: 2 };
    const some = await place.capture({ budgets });
    expect(some).toMatchObject({ complete: false, read: 2, deferred: { count: 2 } });
    // Restored in place it leaves what it does not have.
    expect(await place.restore(some.root, 'covered')).toMatchObject({ exact: true, kept: { count: 0 }, deleted: 0 });
    expect(readFileSync(`${place.project}/d`, 'utf8')).toBe('d');
    expect(await place.capture({ budgets })).toMatchObject({ complete: true });
    expect((await place.capture()).root).toBe((await place.scan()).root);
  });

  it('a staging that fails loses nothing: the next capture gives all of it again', async () => {
    const place = placeOf();
    writeFileSync(`${place.project}/a`, 'one');
    await place.capture();
    writeFileSync(`${place.project}/a`, 'two');
    const full = { put: () => Promise.reject(new Error('staging is full')) };
    await expect(place.capture({ sink: full })).rejects.toThrow('staging is full');
    const captured = await place.capture();
    expect(captured.newBytes).toBeGreaterThan(0);
    const other = placeOf(place.store);
    expect(await other.restore(captured.root, 'blank')).toMatchObject({ exact: true });
  });

  it('a damaged index costs a whole reading and nothing else', async () => {
    const place = placeOf();
    for (const name of ['a', 'b']) writeFileSync(`${place.project}/${name}`, name);
    const { root } = await place.capture();
    const bytes = readFileSync(place.indexFile);
    for (const at of [4, 40, 200, bytes.length - 20]) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] as number) ^ 0x55;
      writeFileSync(place.indexFile, changed);
      expect((await place.capture()).root).toBe(root);
    }
  });
});
