import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { FINGERPRINT_BYTES } from '../index-file/folder-block.js';
import { diskPath } from './disk-path.js';

/** What says which dependencies a folder should have; they lie beside it. */
const LOCK_FILES = [
  'package.json',
  'package-lock.json',
  'npm-shrinkwrap.json',
  'yarn.lock',
  'pnpm-lock.yaml',
  'bun.lock',
  'bun.lockb',
  'requirements.txt',
  'poetry.lock',
  'uv.lock',
  'Pipfile.lock',
  'Cargo.lock',
  'go.sum',
  'pom.xml',
];

/**
 * Changes when a heavy folder was made anew: its lock files, its own times, and those of what lies directly in it (that
 * see what is added or removed one level deeper). Blind to a write deeper down: its generation is then an old one.
 * @param parent @param folder paths of bytes, one a character.
 */
export function fingerprintOf(parent: string, folder: string, stat: Stats): Buffer {
  const sum = createHash('sha256');
  let [count, newest] = [0, 0];
  for (const name of LOCK_FILES) {
    const found = lookAt(`${parent}/${name}`);
    if (found !== undefined) sum.update(`${name} ${found.size} ${found.mtimeMs} ${found.ctimeMs}\n`);
  }
  for (const name of readdirSync(diskPath(folder), { encoding: 'latin1' })) {
    const found = lookAt(`${folder}/${name}`);
    count += 1;
    newest = Math.max(newest, found?.ctimeMs ?? 0);
  }
  sum.update(`${stat.dev} ${stat.ino} ${stat.ctimeMs} ${stat.mtimeMs} ${count} ${newest}`);
  return sum.digest().subarray(0, FINGERPRINT_BYTES);
}

function lookAt(path: string): Stats | undefined {
  try {
    return lstatSync(diskPath(path), { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
