import { type FolderAt, type HostTree, ProviderRefusal, type RefusalKind } from '@slipway/integrations';
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
  '.gitlab',
  '.circleci',
  '.buildkite',
  '.drone.yml',
  '.travis.yml',
  '.woodpecker',
  '.woodpecker.yml',
  'Jenkinsfile',
  'azure-pipelines.yml',
  'bitbucket-pipelines.yml',
  '.gitmodules',
  'CODEOWNERS',
  'docs/CODEOWNERS',
  'AGENTS.md',
  'CLAUDE.md',
  'GEMINI.md',
  '.claude',
  '.codex',
  '.cursor',
  '.cursorrules',
  '.gemini',
  '.mcp.json',
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
  treeOf: (folder: FolderAt) => Promise<HostTree>,
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

/** The hash of a folder, with where it stands in a commit of the git host, if that is known. */
type ReadFolder = (hash: string, at: FolderAt['at']) => Promise<Folder>;

function folders(bundle: VerifiedBundle, treeOf: (folder: FolderAt) => Promise<HostTree>): ReadFolder {
  const asked = new Map<string, Promise<Folder>>();
  const found = new Map<string, Folder>();
  return (hash, at) => {
    const own = bundle.folder(hash);
    if (own !== undefined) return Promise.resolve(new Map(own.map((entry) => [entry.name, entry.hash])));
    // The same hash is the same folder, wherever it stands; one that was not found without its place may be found with it.
    const known = found.get(hash);
    if (known !== undefined) return Promise.resolve(known);
    const key = at === null ? hash : `${hash} ${at.commit}:${at.path}`;
    let answer = asked.get(key);
    if (answer === undefined) {
      answer = treeOf({ hash, at }).then(({ whole, entries }) => {
        if (!whole) return null;
        found.set(hash, entries);
        return entries;
      }, unreadable);
      asked.set(key, answer);
    }
    return answer;
  };
}

/** A host that is away is asked again later; one that will not show a folder has it taken for changed. */
function unreadable(error: unknown): null {
  if (error instanceof ProviderRefusal && SAYS_NO.has(error.kind)) return null;
  throw error;
}
const SAYS_NO: ReadonlySet<RefusalKind> = new Set(['missing', 'invalid', 'conflict', 'unreadable']);

async function changedSince(commit: string, paths: readonly string[], tree: string, folder: ReadFolder): Promise<readonly string[]> {
  /** The side of the commit has a place at the host; that of the bundle has none. */
  const placed = (walked: readonly string[], isCommit: boolean): FolderAt['at'] => (isCommit ? { commit, path: walked.join('/') } : null);
  const differs = async (path: readonly string[], depth: number, before: string | undefined, after: string | undefined): Promise<boolean> => {
    if (before === after) return false;
    const name = path[depth];
    if (name === undefined || before === undefined || after === undefined)
      return name === undefined || (await somewhere(path, depth, before ?? after, before !== undefined));
    const [old, now] = await Promise.all([folder(before, placed(path.slice(0, depth), true)), folder(after, null)]);
    return old === null || now === null || differs(path, depth + 1, old.get(name), now.get(name));
  };
  /** Whether there is anything at the path on the one side that has its beginning. */
  const somewhere = async (path: readonly string[], depth: number, root: string | undefined, isCommit: boolean): Promise<boolean> => {
    let hash = root;
    for (let at = depth; at < path.length; at += 1) {
      if (hash === undefined) return false;
      const entries = await folder(hash, placed(path.slice(0, at), isCommit));
      if (entries === null) return true;
      hash = entries.get(path[at] as string);
    }
    return hash !== undefined;
  };
  const changed: string[] = [];
  for (const path of paths) if (await differs(path.split('/'), 0, commit, tree)) changed.push(path);
  return changed;
}
