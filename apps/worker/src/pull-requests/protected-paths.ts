import { type HostTree, ProviderRefusal, type RefusalKind } from '@slipway/integrations';
import type { VerifiedBundle } from './bundle/verify-bundle.js';

/** What runs with the repository's own rights, or tells people and agents what to do: a push there is a decision of a person. */
const PROTECTED_PATHS = [
  '.github/workflows',
  '.github/actions',
  '.github/CODEOWNERS',
  '.gitea/workflows',
  '.gitea/CODEOWNERS',
  '.forgejo/workflows',
  '.gitlab-ci.yml',
  '.gitmodules',
  'CODEOWNERS',
  'docs/CODEOWNERS',
  'AGENTS.md',
  'CLAUDE.md',
  '.claude',
  '.cursor',
  '.agents',
  '.openhands',
  '.slipway',
] as const;

/** Names of one folder to hashes; `null`: it cannot be read as a whole, so it may hold anything. */
type Folder = ReadonlyMap<string, string> | null;

/**
 * Protected paths at which the branch holds what none of the commits holds there, by the hashes of what stands at them. The commits are the git host's own: one that
 * the sandbox names alone may hold the change already.
 * Folders are read from the bundle where it has them, else from the git host, which is asked for few: what is the same on both sides is not looked into.
 * @param commits each is asked for only when those before it leave something changed; `null`: there is none.
 */
export async function changedProtectedPaths(
  bundle: VerifiedBundle,
  commits: readonly (() => Promise<string | null>)[],
  treeOf: (sha: string) => Promise<HostTree>,
): Promise<readonly string[]> {
  const folder = folders(bundle, treeOf);
  let changed: readonly string[] = PROTECTED_PATHS;
  for (const next of commits) {
    if (changed.length === 0) break;
    const commit = await next();
    if (commit !== null) changed = await changedSince(commit, changed, bundle.tree, folder);
  }
  return changed;
}

function folders(bundle: VerifiedBundle, treeOf: (sha: string) => Promise<HostTree>): (hash: string) => Promise<Folder> {
  const known = new Map<string, Promise<Folder>>();
  return (hash) => {
    const own = bundle.folder(hash);
    if (own !== undefined) return Promise.resolve(new Map(own.map((entry) => [entry.name, entry.hash])));
    let asked = known.get(hash);
    if (asked === undefined) {
      asked = treeOf(hash).then(({ whole, entries }) => (whole ? entries : null), unreadable);
      known.set(hash, asked);
    }
    return asked;
  };
}

/** A host that is away is asked again later; one that will not show a folder has it taken for changed. */
function unreadable(error: unknown): null {
  if (error instanceof ProviderRefusal && SAYS_NO.has(error.kind)) return null;
  throw error;
}
const SAYS_NO: ReadonlySet<RefusalKind> = new Set(['missing', 'invalid', 'conflict', 'unreadable']);

async function changedSince(commit: string, paths: readonly string[], tree: string, folder: (hash: string) => Promise<Folder>): Promise<readonly string[]> {
  const differs = async (path: readonly string[], before: string | undefined, after: string | undefined): Promise<boolean> => {
    if (before === after) return false;
    const [name, ...rest] = path;
    if (name === undefined || before === undefined || after === undefined) return name === undefined || (await somewhere(path, before ?? after));
    const [old, now] = await Promise.all([folder(before), folder(after)]);
    return old === null || now === null || differs(rest, old.get(name), now.get(name));
  };
  /** Whether there is anything at the path on the one side that has its beginning. */
  const somewhere = async (path: readonly string[], root: string | undefined): Promise<boolean> => {
    let hash = root;
    for (const name of path) {
      if (hash === undefined) return false;
      const entries = await folder(hash);
      if (entries === null) return true;
      hash = entries.get(name);
    }
    return hash !== undefined;
  };
  const changed: string[] = [];
  for (const path of paths) if (await differs(path.split('/'), commit, tree)) changed.push(path);
  return changed;
}
