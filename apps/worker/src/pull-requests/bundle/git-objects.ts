import type { Slices } from './slices.js';
import { tooLarge, unsound } from './unsound.js';

export interface Commit {
  readonly tree: string;
  readonly parents: readonly string[];
}

export interface TreeEntry {
  readonly name: string;
  readonly kind: 'file' | 'folder' | 'link' | 'submodule';
  readonly hash: string;
}

const HEADER =
  /^tree ([0-9a-f]{40})\n((?:parent [0-9a-f]{40}\n)*)author [^\n\0<>]*<[^\n\0<>]*> \d{1,19} [+-]\d{4}\ncommitter [^\n\0<>]*<[^\n\0<>]*> \d{1,19} [+-]\d{4}\n/;
const MAX_PARENTS = 64;
const KINDS: Readonly<Record<string, TreeEntry['kind']>> = {
  '100644': 'file',
  '100755': 'file',
  '100664': 'file',
  '40000': 'folder',
  '120000': 'link',
  '160000': 'submodule',
};
/** Characters that some file systems pass over in names. */
const PASSED_OVER = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/** @throws SlipwayError `pull-request.unsound` for what git's own check calls broken. */
export function readCommit(content: Buffer): Commit {
  const text = content.toString('latin1');
  const end = text.indexOf('\n\n');
  const header = end === -1 ? text : text.slice(0, end + 1);
  const [, tree, parents = ''] = HEADER.exec(header) ?? [];
  if (tree === undefined || header.includes('\0')) throw unsound('A commit is broken.');
  const list = parents.split('\n').flatMap((line) => line.slice('parent '.length) || []);
  if (list.length > MAX_PARENTS) throw unsound(`A commit has more than ${MAX_PARENTS} parents.`);
  return { tree, parents: list };
}

/** Entries between two checks of the clock. */
const ENTRIES_A_LOOK = 256;

/**
 * @param most entries that there may be.
 * @throws SlipwayError `pull-request.unsound` for a folder that git's own check calls broken, or whose names lead out
 * of the checkout; `pull-request.too-large`.
 */
export async function readTree(content: Buffer, most: number, slices: Slices): Promise<readonly TreeEntry[]> {
  const entries: TreeEntry[] = [];
  const names = new Set<string>();
  let before: Buffer | null = null;
  for (let at = 0; at < content.length; ) {
    if (entries.length >= most) throw tooLarge('There are too many or too large folders.');
    const blank = content.indexOf(0x20, at);
    const nul = content.indexOf(0, blank + 1);
    if (blank === -1 || blank - at > 6 || nul === -1 || nul + 21 > content.length) throw unsound('A folder is broken.');
    const kind = KINDS[content.toString('latin1', at, blank)];
    const bytes = content.subarray(blank + 1, nul);
    if (kind === undefined) throw unsound('A folder holds something that is no file, folder, link or submodule.');
    // Byte by byte: two names that are no UTF-8 stay apart.
    const name = bytes.toString('latin1');
    const sorted = kind === 'folder' ? Buffer.concat([bytes, Buffer.from('/')]) : bytes;
    if (names.has(name) || (before !== null && Buffer.compare(before, sorted) >= 0))
      throw unsound('A folder has a name twice, or names out of order.');
    names.add(name);
    before = sorted;
    const shown = bytes.toString('utf8');
    assertName(shown, kind);
    entries.push({ name: shown, kind, hash: content.toString('hex', nul + 1, nul + 21) });
    at = nul + 21;
    if (entries.length % ENTRIES_A_LOOK === 0 && slices.over) await slices.rest();
  }
  return entries;
}

/** Only a name with one of these can take the place of `.git`, or cannot be. */
const LOOKED_INTO = /git|\/|[^ -~]/i;

function assertName(name: string, kind: TreeEntry['kind']): void {
  if (name === '' || name === '.' || name === '..' || name.includes('/'))
    throw unsound(`A folder has an impossible name in it.`);
  if (!LOOKED_INTO.test(name)) return;
  for (const each of name.split('\\')) {
    const plain = each.replaceAll(PASSED_OVER, '').toLowerCase();
    if (/^(?:\.git|git~\d)[ .]*(?::.*)?$/.test(plain))
      throw unsound('A folder holds something that takes the place of .git.');
    if (kind === 'link' && /^(?:\.gitmodules|gitmod~\d)[ .]*(?::.*)?$/.test(plain))
      throw unsound('.gitmodules is a link.');
  }
}

/** Addresses by which git starts no program and reads no file of the machine that it runs on. */
const HARMLESS_URL = /^(?:https?:\/\/|ssh:\/\/|git:\/\/|\.{1,2}\/|[\w.-]+@[\w.-]+:)[^\n]*$/i;

/**
 * @throws SlipwayError `pull-request.unsound` for a submodule whose address or update is a program, or whose name or
 * path leads out of the checkout.
 */
export function assertSubmodules(content: Buffer): void {
  const lines = content.toString('utf8').split('\n');
  for (const line of lines) {
    const [, section] = /^\s*\[\s*submodule\s+"(.*)"\s*\]/i.exec(line) ?? [];
    if (section?.split(/[\\/]/).includes('..')) throw unsound('A submodule has a name that leads out of the checkout.');
    const [, key = '', raw = ''] = /^\s*(?:\[[^\]]*\])?\s*([A-Za-z]+)\s*=\s*(.*)$/.exec(line) ?? [];
    const value = raw.replace(/^"(.*)"\s*$/, '$1').trim();
    const what = key.toLowerCase();
    if (line.trimEnd().endsWith('\\')) throw unsound('.gitmodules has a line that goes on in the next one.');
    if (what === 'url' && !HARMLESS_URL.test(value))
      throw unsound('A submodule has an address that starts a program or reads files.');
    if (what === 'update' && value.startsWith('!')) throw unsound('A submodule is updated by a program.');
    if (what === 'path' && (value.startsWith('-') || value.startsWith('/') || value.split('/').includes('..')))
      throw unsound('A submodule has a path that leads out of the checkout.');
  }
}
