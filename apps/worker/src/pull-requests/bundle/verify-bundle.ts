import { assertSubmodules, type Commit, readCommit, readTree, type TreeEntry } from './git-objects.js';
import { BUNDLE_LIMITS, type Bundle, contentOf, type PackedObject, readBundle } from './read-bundle.js';
import { Slices } from './slices.js';
import { unsound } from './unsound.js';

/** A bundle whose every object was verified. */
export interface VerifiedBundle {
  readonly head: string;
  readonly pack: Buffer;
  /** Of the head. */
  readonly tree: string;
  readonly parents: readonly string[];
  readonly commits: number;
  /** Whether the branch has this commit: it is in the bundle, or a parent of one that is. */
  standsOn(hash: string): boolean;
  /** Of a commit of it; `undefined`: it is not in the bundle, so the git host has it. */
  parentsOf(hash: string): readonly string[] | undefined;
  /** A folder of it; `undefined`: it is not in the bundle, so the git host has it. */
  folder(hash: string): readonly TreeEntry[] | undefined;
}

const MAX_DEPTH = 300;
const SUBMODULES = '.gitmodules';

/**
 * Reads and verifies a whole bundle: every object is reached from the one branch, the branch goes back to `base`, and
 * commits and folders are as git's own check wants them. Parents that are not in it are commits of the git host, which
 * refuses those that it does not know.
 * @throws SlipwayError `pull-request.unsound`, `pull-request.too-large`.
 */
export async function verifyBundle(bytes: Buffer, base: string, signal: AbortSignal): Promise<VerifiedBundle> {
  const slices = new Slices(signal);
  const bundle = await readBundle(bytes, slices);
  const { objects, head, prerequisites } = bundle;
  if (!prerequisites.has(base)) throw unsound('It does not stand on the commit that the work began from.');
  const commits = new Map<string, Commit>();
  const folders = new Map<string, readonly TreeEntry[]>();
  const reached = new Set<string>();
  const outside = new Set<string>();
  const roots: string[] = [];
  for (const queue = [head]; queue.length > 0; ) {
    const hash = queue.pop() as string;
    if (commits.has(hash)) continue;
    const commit = readCommit(contentOfType(objects, hash, 'commit'));
    if (slices.over) await slices.rest();
    commits.set(hash, commit);
    reached.add(hash);
    roots.push(commit.tree);
    if (commit.parents.length === 0) throw unsound('A commit has no parent: the branch has a new root.');
    for (const parent of commit.parents)
      if (objects.has(parent)) queue.push(parent);
      else if (prerequisites.has(parent)) outside.add(parent);
      else throw unsound(`The commit ${parent.slice(0, 12)} is missing.`);
  }
  if (!outside.has(base)) throw unsound('The branch does not go back to the commit that the work began from.');
  let left: number = BUNDLE_LIMITS.entries;
  for (const queue = roots.map((hash) => ({ hash, depth: 0 })); queue.length > 0; ) {
    const { hash, depth } = queue.pop() as { hash: string; depth: number };
    if (folders.has(hash) || !objects.has(hash)) continue;
    if (depth > MAX_DEPTH) throw unsound('Folders are nested too deeply.');
    const entries = await readTree(contentOfType(objects, hash, 'tree'), left, slices);
    left -= entries.length;
    folders.set(hash, entries);
    reached.add(hash);
    for (const entry of entries) {
      const object = objects.get(entry.hash);
      if (entry.kind === 'folder') queue.push({ hash: entry.hash, depth: depth + 1 });
      else if (object !== undefined && entry.kind !== 'submodule') {
        if (object.type !== 'blob') throw unsound('A file is none.');
        reached.add(entry.hash);
        if (entry.name.toLowerCase() === SUBMODULES) assertSubmodules(contentOf(bundle, object));
      }
    }
    if (slices.over) await slices.rest();
  }
  if (reached.size !== objects.size) throw unsound('It holds objects that do not belong to the branch.');
  const { tree, parents } = commits.get(head) as Commit;
  return {
    head,
    pack: bundle.pack,
    tree,
    parents,
    commits: commits.size,
    standsOn: (hash) => commits.has(hash) || outside.has(hash),
    parentsOf: (hash) => commits.get(hash)?.parents,
    folder: (hash) => folders.get(hash),
  };
}

function contentOfType(objects: Bundle['objects'], hash: string, type: PackedObject['type']): Buffer {
  const object = objects.get(hash);
  if (object?.type !== type || object.content === null)
    throw unsound(`The ${type === 'tree' ? 'folder' : type} ${hash.slice(0, 12)} is missing, or something else.`);
  return object.content;
}
