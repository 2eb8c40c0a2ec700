import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import * as library from '../index.js';
import { Place } from '../testing/checkpoints.js';
import { look, operations, perform } from '../testing/disk.js';
import { diffTrees } from './diff-trees.js';
import type { Difference } from './diff-types.js';

const places: Place[] = [];
afterAll(() => {
  for (const place of places) place.remove();
});
function placeOf(): Place {
  const place = new Place(library);
  places.push(place);
  return place;
}

async function differences(place: Place, from: string, to: string): Promise<{ list: Difference[]; loaded: number }> {
  const list: Difference[] = [];
  let loaded = 0;
  const load = (id: string): Promise<Uint8Array> => {
    loaded += 1;
    return Promise.resolve(place.store.get(id)?.bytes as Uint8Array);
  };
  for await (const each of diffTrees({ from, to, load, signal: AbortSignal.timeout(20_000) })) list.push(each);
  return { list, loaded };
}

describe('a difference of two checkpoints', () => {
  it('names what was added, changed, deleted, renamed, and had its mode set', async () => {
    const place = placeOf();
    const at = (name: string): string => `${place.project}/${name}`;
    mkdirSync(at('folder'));
    for (const name of ['changed', 'deleted', 'renamed', 'mode', 'folder/inside', 'same'])
      writeFileSync(at(name), `bytes of ${name}`);
    const one = await place.capture();
    writeFileSync(at('changed'), 'others');
    rmSync(at('deleted'));
    renameSync(at('renamed'), at('renamed-to'));
    chmodSync(at('mode'), 0o755);
    renameSync(at('folder'), at('folder-to'));
    writeFileSync(at('added'), 'new');
    const two = await place.capture();
    expect((await differences(place, one.root, two.root)).list).toEqual([
      { kind: 'changed', path: 'project/changed', what: 'file', size: 6 },
      { kind: 'mode', path: 'project/mode', from: 0o644, to: 0o755 },
      { kind: 'renamed', path: 'project/folder-to', from: 'project/folder', what: 'folder' },
      { kind: 'added', path: 'project/added', what: 'file', size: 3 },
      { kind: 'renamed', path: 'project/renamed-to', from: 'project/renamed', what: 'file' },
      { kind: 'deleted', path: 'project/deleted', what: 'file', size: 16 },
    ]);
  });

  it('enters no folder that is equal', async () => {
    const place = placeOf();
    for (let index = 0; index < 50; index += 1) mkdirSync(`${place.project}/f${index}`);
    for (let index = 0; index < 50; index += 1) writeFileSync(`${place.project}/f${index}/a`, String(index));
    const one = await place.capture();
    writeFileSync(`${place.project}/f7/a`, 'other');
    const two = await place.capture();
    // Both sides of the root, the project and the one folder.
    expect(await differences(place, one.root, two.root)).toEqual({ list: [expect.anything()], loaded: 6 });
  });

  it('says of any two states which paths are there on one side only, or have other bytes', async () => {
    await fc.assert(
      fc.asyncProperty(operations, operations, async (first, second) => {
        const place = placeOf();
        perform(place.project, first);
        const [one, before] = [await place.capture(), look(place.project)];
        perform(place.project, second);
        const [two, after] = [await place.capture(), look(place.project)];
        const { list } = await differences(place, one.root, two.root);
        const patched = new Set([...before.keys()].map((path) => `project/${path}`));
        const below = (path: string): string[] => [...patched].filter((each) => each.startsWith(`${path}/`));
        for (const each of list.filter(({ kind }) => kind === 'renamed')) {
          if (each.kind !== 'renamed') continue;
          for (const inside of each.what === 'folder' ? below(each.from) : []) {
            patched.delete(inside);
            patched.add(`${each.path}${inside.slice(each.from.length)}`);
          }
          patched.delete(each.from);
        }
        for (const { kind, path } of list) if (kind === 'deleted') patched.delete(path);
        for (const { kind, path } of list) if (kind === 'added' || kind === 'renamed') patched.add(path);
        expect([...patched].sort()).toEqual([...after.keys()].map((path) => `project/${path}`).sort());
        const changed = new Set(list.filter(({ kind }) => kind === 'changed').map(({ path }) => path));
        for (const [path, now] of after) {
          const old = before.get(path);
          if (old?.kind !== now.kind || now.kind === 'folder') continue;
          expect(changed.has(`project/${path}`)).toBe(old.content !== now.content);
        }
      }),
      { numRuns: 40 },
    );
  });
});
