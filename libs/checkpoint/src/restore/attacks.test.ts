import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { afterAll, describe, expect, it } from '@jest/globals';
import * as library from '../index.js';
import { type Library, Place } from '../testing/checkpoints.js';
import { withDefect } from '../testing/defect.js';
import { look } from '../testing/disk.js';

const places: Place[] = [];
afterAll(() => {
  for (const place of places) place.remove();
});
function placeOf(tested: Library = library, store?: Place['store']): Place {
  const place = new Place(tested, store);
  places.push(place);
  return place;
}

/** A checkpoint with a folder `a` of some files, to be restored where `a` is a link to outside. */
async function overLink(tested: Library): Promise<{ outside: string[]; place: Place }> {
  const from = placeOf(tested);
  mkdirSync(`${from.project}/a`);
  for (let index = 0; index < 5; index += 1) writeFileSync(`${from.project}/a/f${index}`, `inside ${index}`);
  const captured = await from.capture();
  const place = placeOf(tested, from.store);
  const outside = `${place.folder}/outside`;
  mkdirSync(outside);
  symlinkSync(outside, `${place.project}/a`);
  await place.restore(captured.root, 'blank').catch(() => null);
  return { outside: readdirSync(outside), place };
}

/** Something happens after folders were made and before the first file is written. */
async function restoreWhile(place: Place, root: string, happens: () => void): Promise<void> {
  await place.restore(root, 'blank', happens).catch(() => null);
}

const RACER = `
  const { renameSync, symlinkSync, unlinkSync } = require('node:fs');
  const [folder, outside] = process.argv.slice(1);
  process.stdout.write('ready');
  for (;;) {
    try { renameSync(folder, folder + '.aside'); symlinkSync(outside, folder); } catch {}
    try { unlinkSync(folder); } catch {}
    try { renameSync(folder + '.aside', folder); } catch {}
  }`;

/** Swaps a folder for a link to outside and back, as fast as it can. */
async function race(folder: string, outside: string): Promise<ChildProcess> {
  const racer = spawn(process.execPath, ['-e', RACER, folder, outside], { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(racer.stdout as NodeJS.ReadableStream, 'data');
  return racer;
}

describe('Y2: a restore', () => {
  it('replaces a link that is in the way of a folder, and writes nothing behind it', async () => {
    const { outside, place } = await overLink(library);
    expect(outside).toEqual([]);
    expect(lstatSync(`${place.project}/a`).isDirectory()).toBe(true);
    expect(readFileSync(`${place.project}/a/f3`, 'utf8')).toBe('inside 3');
  });

  it('writes 0 bytes outside while a program swaps its folder for a link, again and again', async () => {
    const from = placeOf();
    mkdirSync(`${from.project}/a`);
    for (let index = 0; index < 300; index += 1) writeFileSync(`${from.project}/a/f${index}`, `one ${index}`);
    const one = await from.capture();
    for (let index = 0; index < 300; index += 1) writeFileSync(`${from.project}/a/f${index}`, `two ${index}`);
    const outside = `${from.folder}/outside`;
    mkdirSync(outside);
    writeFileSync(`${outside}/f7`, 'not ours');
    const two = await from.capture();
    for (const root of [one.root, two.root, one.root]) {
      const racer = await race(`${from.project}/a`, outside);
      await from.restore(root, 'covered').catch(() => null);
      racer.kill('SIGKILL');
      await once(racer, 'exit');
      expect(readdirSync(outside)).toEqual(['f7']);
      expect(readFileSync(`${outside}/f7`, 'utf8')).toBe('not ours');
      const { project } = from;
      if (existsSync(`${project}/a.aside`)) {
        rmSync(`${project}/a`, { recursive: true, force: true });
        renameSync(`${project}/a.aside`, `${project}/a`);
      }
      await from.capture();
    }
  }, 60_000);

  it('that took a link for a folder and opened what it leads to would be found', async () => {
    const followed = await withDefect({
      file: 'restore/folder-handle.js',
      line: 'const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;',
      instead:
        'const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_DIRECTORY, O_NONBLOCK } = constants; const O_NOFOLLOW = 0;',
    });
    // A link that was made between the look and the open: here the look itself is passed over.
    const place = placeOf(followed);
    mkdirSync(`${place.project}/a`);
    for (const name of ['f', 'g', 'h']) writeFileSync(`${place.project}/a/${name}`, name);
    const one = await place.capture();
    const outside = `${place.folder}/outside`;
    mkdirSync(outside);
    for (const [tested, written] of [
      [library, 0],
      [followed, 3],
    ] as const) {
      const target = placeOf(tested, place.store);
      await restoreWhile(target, one.root, () => {
        rmSync(`${target.project}/a`, { recursive: true });
        symlinkSync(outside, `${target.project}/a`);
      });
      expect(readdirSync(outside)).toHaveLength(written);
    }
  });
});

describe('a restore in place', () => {
  it('leaves what was written after the last capture, and names it', async () => {
    const place = placeOf();
    writeFileSync(`${place.project}/a`, 'one');
    writeFileSync(`${place.project}/b`, 'one');
    const one = await place.capture();
    writeFileSync(`${place.project}/a`, 'two');
    writeFileSync(`${place.project}/b`, 'two');
    await place.capture();
    writeFileSync(`${place.project}/a`, 'saved by a user meanwhile');
    const applied = await place.restore(one.root, 'covered');
    expect(applied).toMatchObject({
      exact: false,
      kept: { count: 1, named: [{ path: 'project/a', reason: 'changed-since' }] },
    });
    expect(readFileSync(`${place.project}/a`, 'utf8')).toBe('saved by a user meanwhile');
    expect(readFileSync(`${place.project}/b`, 'utf8')).toBe('one');
    // The next capture has it.
    const next = await place.capture();
    expect(next.root).toBe((await place.scan()).root);
  });

  it('that was killed is repeated, and leaves no temporary file', async () => {
    const place = placeOf();
    for (const name of ['a', 'b', 'c']) writeFileSync(`${place.project}/${name}`, `one ${name}`);
    const one = await place.capture();
    const before = look(place.project);
    for (const name of ['a', 'b', 'c']) writeFileSync(`${place.project}/${name}`, `two ${name}`);
    await place.capture();
    // As it was in the middle: one file is as it should be, another is half written under its temporary name.
    writeFileSync(`${place.project}/a`, 'one a');
    writeFileSync(`${place.project}/.slipway-restore-00ff-1`, 'one');
    expect(await place.restore(one.root, 'covered')).toMatchObject({ exact: true, kept: { count: 0 } });
    expect(look(place.project)).toEqual(before);
  });

  it('is refused for false bytes under an id, and for objects that are missing', async () => {
    const place = placeOf();
    writeFileSync(`${place.project}/a`, 'one');
    const one = await place.capture();
    writeFileSync(`${place.project}/a`, 'two');
    const two = await place.capture();
    for (const [id, object] of place.store)
      if (Buffer.from(object.bytes).toString() === 'one') place.store.set(id, { ...object, bytes: Buffer.from('eno') });
    await expect(place.restore(one.root, 'covered')).rejects.toMatchObject({ code: 'checkpoint.broken' });
    expect(readFileSync(`${place.project}/a`, 'utf8')).toBe('two');
    expect((await place.capture()).contentHash).toBe(two.contentHash);
  });
});
