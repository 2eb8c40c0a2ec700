import type { FolderAt, HostTree } from '@slipway/integrations';
import type { VerifiedBundle } from './bundle/verify-bundle.js';
import { changedInstructions, instructionsOf, Looks, type Nested } from './nested-instructions.js';
import { folders, type ReadFolder } from './read-folder.js';

/** What runs with the repository's own rights, or instructs users and agents: a push there is a decision of a user. */
const PROTECTED_PATHS = [
  '.github/workflows',
  '.github/actions',
  '.github/CODEOWNERS',
  '.github/copilot-instructions.md',
  '.github/instructions',
  '.github/prompts',
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

/**
 * Folders whose entries are compared with another commit, each by a request or a few. Above it the changes are
 * reviewed.
 */
const MAX_COMPARED = 100;

/**
 * Protected paths at which the branch holds what none of the commits holds there, by the hashes of what stands at them:
 * the listed ones, and agents' instructions at any depth. The commits are the git host's own: one that the sandbox
 * names alone may hold the change already. Folders are read from the bundle where it has them, else from the git host,
 * with few requests: folders that are equal on both sides are skipped.
 * @param commits each is asked for only when those before it leave something changed; `null`: there is none.
 */
export async function changedProtectedPaths(
  bundle: VerifiedBundle,
  commits: readonly (() => Promise<string | null>)[],
  treeOf: (folder: FolderAt) => Promise<HostTree>,
): Promise<readonly string[]> {
  const folder = folders(bundle, treeOf);
  const looks = new Looks();
  const compared: string[] = [];
  let listed: readonly string[] = PROTECTED_PATHS;
  let nested: Nested | null = null;
  for (const next of commits) {
    if (nested !== null && listed.length + nested.found.length + nested.elsewhere.length === 0) break;
    const commit = await next();
    if (commit === null) continue;
    const since = (paths: readonly string[]): Promise<readonly string[]> =>
      changedSince(commit, paths, bundle.tree, folder);
    listed = await since(listed);
    nested =
      nested === null
        ? await changedInstructions(bundle, { commit, folder, looks, judged: JUDGED })
        : { found: await few(nested.found, since), elsewhere: await few(nested.elsewhere, since) };
    compared.push(commit);
  }
  return [
    ...listed,
    ...(nested === null
      ? []
      : [...nested.found, ...(await moved(nested.elsewhere, { bundle, folder, looks, compared }))]),
  ];
}

const MAX_LISTED = 20;
const MAX_PATH = 200;

/** For a message: an agent has given folders their names. */
export function listOf(paths: readonly string[]): string {
  const shown = paths.slice(0, MAX_LISTED).map((path) =>
    path
      .replaceAll(/[\p{C}\s]+/gu, ' ')
      .slice(0, MAX_PATH)
      .toWellFormed(),
  );
  return `${shown.join(', ')}${paths.length > MAX_LISTED ? ` and ${paths.length - MAX_LISTED} more` : ''}`;
}

const JUDGED: ReadonlySet<string> = new Set(PROTECTED_PATHS);

/** A path that holds bytes which are no text is the same as another one when it is read. */
async function few(
  paths: readonly string[],
  since: (paths: readonly string[]) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  if (new Set(paths.map((path) => path.slice(0, Math.max(path.lastIndexOf('/'), 0)))).size > MAX_COMPARED) return paths;
  const isPlain = (path: string): boolean => !path.includes('\ufffd');
  return [...(await since(paths.filter(isPlain))), ...paths.filter((path) => !isPlain(path))];
}

interface ComparedFolder {
  readonly bundle: VerifiedBundle;
  readonly folder: ReadFolder;
  readonly looks: Looks;
  readonly compared: readonly string[];
}

/** Instructions in folders that no commit has where they stand. */
async function moved(
  paths: readonly string[],
  { bundle, folder, looks, compared }: ComparedFolder,
): Promise<readonly string[]> {
  const inside: string[] = [];
  for (const path of paths) {
    let hash = bundle.tree;
    for (const name of path.split('/')) hash = (await folder(hash, null))?.entries.get(name) ?? '';
    if (hash === '') inside.push(path);
    else for (const each of await instructionsOf(path, hash, { folder, looks, judged: JUDGED })) inside.push(each);
  }
  let found: readonly string[] = inside;
  for (const commit of compared) found = await few(found, (each) => changedSince(commit, each, bundle.tree, folder));
  return found;
}

async function changedSince(
  commit: string,
  paths: readonly string[],
  tree: string,
  folder: ReadFolder,
): Promise<readonly string[]> {
  /** The side of the commit has a place at the host; that of the bundle has none. */
  const placed = (walked: readonly string[], isCommit: boolean): FolderAt['at'] =>
    isCommit ? { commit, path: walked.join('/') } : null;
  const differs = async (
    path: readonly string[],
    depth: number,
    before: string | undefined,
    after: string | undefined,
  ): Promise<boolean> => {
    if (before === after) return false;
    const name = path[depth];
    if (name === undefined || before === undefined || after === undefined)
      return name === undefined || (await somewhere(path, depth, before ?? after, before !== undefined));
    const [old, now] = await Promise.all([folder(before, placed(path.slice(0, depth), true)), folder(after, null)]);
    return old === null || now === null || differs(path, depth + 1, old.entries.get(name), now.entries.get(name));
  };
  /** Whether there is anything at the path on the one side that has its beginning. */
  const somewhere = async (
    path: readonly string[],
    depth: number,
    root: string | undefined,
    isCommit: boolean,
  ): Promise<boolean> => {
    let hash = root;
    for (let at = depth; at < path.length; at += 1) {
      if (hash === undefined) return false;
      const read = await folder(hash, placed(path.slice(0, at), isCommit));
      if (read === null) return true;
      hash = read.entries.get(path[at] as string);
    }
    return hash !== undefined;
  };
  const changed: string[] = [];
  for (const path of paths) if (await differs(path.split('/'), 0, commit, tree)) changed.push(path);
  return changed;
}
