import type { VerifiedBundle } from './bundle/verify-bundle.js';

/** Of the two branches, where the git host has them. */
export interface Heads {
  readonly base: string;
  /** `null`: it is not there yet. */
  readonly branch: string | null;
}

type IsAncestor = (commit: string, of: string) => Promise<boolean>;
type Graph = Pick<VerifiedBundle, 'head' | 'parentsOf'>;

/**
 * The newest commits of a branch that the git host has: those of the base branch, and others that the bundle stands on.
 */
interface Footing {
  readonly common: readonly string[];
  readonly beyond: readonly string[];
}

/** Most commits of one branch that the host is asked about. */
const MAX_ASKED = 30;
/** Most merges of the base branch that are put in order. */
const MAX_COMMON = 4;

/**
 * Commits whose files a pull request of the bundle does not count as changed, as verified by the git host. The
 * sandbox's claimed base is not trusted: it may be a commit that was never merged, or older than one of the base branch
 * that the bundle takes back.
 * @returns the head of the base branch; where the branch leaves it; the branch itself. The host is asked when one is
 * called for; `null`: it cannot be decided.
 */
export function standingCommits(
  bundle: Graph,
  { base, branch }: Heads,
  isAncestor: IsAncestor,
): readonly (() => Promise<string | null>)[] {
  let asked: Promise<Footing | null> | undefined;
  const footing = (): Promise<Footing | null> => {
    asked ??= footingOf(bundle, (commit) => isAncestor(commit, base));
    return asked;
  };
  return [
    () => Promise.resolve(base),
    async () => mergeBase(await footing(), isAncestor),
    async () => (branch !== null && (await continues(await footing(), branch, isAncestor)) ? branch : null),
  ];
}

async function footingOf(
  { head, parentsOf }: Graph,
  isAtBase: (commit: string) => Promise<boolean>,
): Promise<Footing | null> {
  const common: string[] = [];
  const beyond: string[] = [];
  const seen = new Set<string>();
  for (const queue = [head]; queue.length > 0; ) {
    const commit = queue.shift() as string;
    if (seen.has(commit)) continue;
    if (seen.size === MAX_ASKED) return null;
    seen.add(commit);
    const parents = parentsOf(commit);
    if (await isAtBase(commit)) common.push(commit);
    else if (parents === undefined) beyond.push(commit);
    else queue.push(...parents);
  }
  return { common, beyond };
}

/**
 * The one newest commit that both branches have; `null` where there are several, or commits whose history the bundle
 * does not show.
 */
async function mergeBase(footing: Footing | null, isAncestor: IsAncestor): Promise<string | null> {
  if (footing === null || footing.beyond.length > 0 || footing.common.length > MAX_COMMON) return null;
  for (const newest of footing.common) {
    const older = footing.common.filter((each) => each !== newest);
    if ((await Promise.all(older.map((each) => isAncestor(each, newest)))).every(Boolean)) return newest;
  }
  return null;
}

/**
 * Whether the bundle brings nothing of the base branch missing in the branch at the host: then the same file is the
 * same change as before.
 */
async function continues(footing: Footing | null, branch: string, isAncestor: IsAncestor): Promise<boolean> {
  if (footing === null) return false;
  for (const commit of [...footing.common, ...footing.beyond]) if (!(await isAncestor(commit, branch))) return false;
  return true;
}
