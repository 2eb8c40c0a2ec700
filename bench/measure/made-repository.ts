import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';

/** Of each file. Bytes. */
const FILE_BYTES = 10_200;
const WORDS = Array.from({ length: 2_000 }, (_, index) =>
  createHash('sha1')
    .update(String(index))
    .digest('hex')
    .slice(0, 3 + (index % 7)),
);

/** Ten files of text in each of so many folders, 102 MB for 1,000 folders. */
export function makeRepository(directory: string, folders: number): void {
  for (let folder = 0; folder < folders; folder += 1) {
    mkdirSync(folderOf(directory, folder), { recursive: true });
    for (let file = 0; file < 10; file += 1)
      writeFileSync(`${folderOf(directory, folder)}/f${file}.ts`, textOf(folder * 10 + file, FILE_BYTES));
  }
  sizes.set(directory, folders);
}

const sizes = new Map<string, number>();

/** Writes other text into some files, in as many folders as there are. @returns their paths. */
export function rewrite(directory: string, { count, seed }: { count: number; seed: number }): string[] {
  const folders = sizes.get(directory) ?? 1;
  return Array.from({ length: count }, (_, index) => {
    const path = `${folderOf(directory, (index * 97 + seed) % folders)}/f${index % 10}.ts`;
    writeFileSync(path, textOf(seed * 100_000 + index, 8_540));
    return path;
  });
}

function folderOf(directory: string, folder: number): string {
  return `${directory}/d${folder % 40}/s${folder}`;
}

/** The same for the same seed; zstd makes it about three times smaller. */
function textOf(seed: number, bytes: number): string {
  const parts: string[] = [];
  let [length, word] = [0, seed];
  while (length < bytes) {
    word = (Math.imul(word, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    const next = `${WORDS[(word >>> 8) % WORDS.length]}${(word >>> 20) % 9 === 0 ? '\n' : ' '}`;
    parts.push(next);
    length += next.length;
  }
  return parts.join('');
}
