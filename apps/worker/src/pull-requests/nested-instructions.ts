import type { VerifiedBundle } from './bundle/verify-bundle.js';
import { nameOf, type ReadFolder } from './read-folder.js';

/**
 * Agents read those of the folder that they work in, so one counts wherever it stands. In lower case: some file systems
 * know no other.
 */
const INSTRUCTIONS: ReadonlySet<string> = new Set([
  'agents.md',
  'agents.override.md',
  'claude.md',
  'claude.local.md',
  'gemini.md',
  'skill.md',
  '.agents',
  '.claude',
  '.clinerules',
  '.codex',
  '.cursor',
  '.cursorrules',
  '.gemini',
  '.mcp.json',
  '.openhands',
  '.roo',
  '.slipway',
  '.windsurf',
  '.windsurfrules',
]);

/** Folders that are asked of the git host, on both sides together. */
const MAX_LOOKS = 200;
const AT_ONCE = 8;

export interface Nested {
  /** Paths at which instructions are new, gone or different. */
  readonly found: readonly string[];
  /**
   * Folders that differ from the commit's, and are none of the bundle's: another commit may have them, or they were
   * moved.
   */
  readonly elsewhere: readonly string[];
}

/** Of folders that were asked for by now. */
export class Looks {
  private count = 0;

  /** False: no more are asked for. */
  more(): boolean {
    this.count += 1;
    return this.count <= MAX_LOOKS;
  }
}

interface Step {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string;
}

const below = (path: string, name: string): string => (path === '' ? name : `${path}/${name}`);
const isInstruction = (name: string): boolean => INSTRUCTIONS.has(name.toLowerCase());

export interface ChangedFolder {
  readonly commit: string;
  readonly folder: ReadFolder;
  readonly looks: Looks;
  readonly judged: ReadonlySet<string>;
}

/**
 * Compares what the bundle has changed with a commit of the git host. A folder that goes as a whole takes its
 * instructions with it and does not count; where the host shows no folder, or was asked for too many, nothing counts as
 * having been there.
 * @param judged paths that are judged as a whole already.
 */
export async function changedInstructions(
  bundle: VerifiedBundle,
  { commit, folder, looks, judged }: ChangedFolder,
): Promise<Nested> {
  const found: string[] = [];
  const elsewhere: string[] = [];
  const look = async ({ path, before, after }: Step): Promise<Step[]> => {
    const now = bundle.folder(after);
    if (now === undefined) {
      elsewhere.push(path);
      return [];
    }
    const there = before === undefined || !looks.more() ? null : await folder(before, { commit, path });
    const old = new Map(there?.entries);
    const steps: Step[] = [];
    for (const { name: bytes, kind, hash } of now) {
      const name = nameOf(bytes);
      const at = below(path, name);
      const was = old.get(name);
      old.delete(name);
      if (was === hash || judged.has(at)) continue;
      if (isInstruction(name)) found.push(at);
      else if (kind === 'folder') steps.push({ path: at, before: was, after: hash });
    }
    for (const name of old.keys())
      if (isInstruction(name) && !judged.has(below(path, name))) found.push(below(path, name));
    return steps;
  };
  let steps: Step[] = [{ path: '', before: commit, after: bundle.tree }];
  while (steps.length > 0) {
    const next: Step[] = [];
    for (let from = 0; from < steps.length; from += AT_ONCE)
      next.push(...(await Promise.all(steps.slice(from, from + AT_ONCE).map(look))).flat());
    steps = next;
  }
  return { found, elsewhere };
}

export interface JudgedFolder {
  readonly folder: ReadFolder;
  readonly looks: Looks;
  readonly judged: ReadonlySet<string>;
}

/**
 * Instructions in a folder that the git host has elsewhere. One that it does not show may hold any: the folder itself
 * is named then.
 */
export async function instructionsOf(
  path: string,
  hash: string,
  { folder, looks, judged }: JudgedFolder,
): Promise<readonly string[]> {
  const there = looks.more() ? await folder(hash, null) : null;
  if (there === null) return [path];
  const found: string[] = [];
  for (const [name, entry] of there.entries) {
    const at = below(path, name);
    if (judged.has(at)) continue;
    if (isInstruction(name)) found.push(at);
    else if (there.folders.has(name)) found.push(...(await instructionsOf(at, entry, { folder, looks, judged })));
  }
  return found;
}
