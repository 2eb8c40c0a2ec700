import type { HostTree } from '@slipway/integrations';
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

/**
 * Protected paths at which the branch holds something else than its base, by the hashes of what stands there.
 * Folders are read from the bundle where it has them, else from the git host, which is asked for few: what is the same on both sides is not looked into.
 */
export async function changedProtectedPaths(bundle: VerifiedBundle, base: string, treeOf: (sha: string) => Promise<HostTree>): Promise<readonly string[]> {
  const known = new Map<string, Promise<ReadonlyMap<string, string> | null>>();
  const folder = (hash: string): Promise<ReadonlyMap<string, string> | null> => {
    const own = bundle.folder(hash);
    if (own !== undefined) return Promise.resolve(new Map(own.map((entry) => [entry.name, entry.hash])));
    let asked = known.get(hash);
    if (asked === undefined) {
      asked = treeOf(hash).then(({ whole, entries }) => (whole ? entries : null));
      known.set(hash, asked);
    }
    return asked;
  };
  const differs = async (path: readonly string[], before: string | undefined, after: string | undefined): Promise<boolean> => {
    if (before === after) return false;
    const [name, ...rest] = path;
    if (name === undefined || before === undefined || after === undefined) return name === undefined || (await somewhere(path, before ?? after));
    const [old, now] = await Promise.all([folder(before), folder(after)]);
    // A folder that is too large to be read whole may hold anything.
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
  for (const path of PROTECTED_PATHS) if (await differs(path.split('/'), base, bundle.tree)) changed.push(path);
  return changed;
}
