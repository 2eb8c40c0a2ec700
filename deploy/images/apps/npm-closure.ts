import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../image-parts.ts';

interface LockEntry {
  readonly link?: boolean;
  readonly resolved?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/**
 * Folders of the npm packages that a workspace needs at run time, by the lockfile, those of its own libraries among
 * them. For an app that is bundled by a tool that does not say what it took: more than it took, never less.
 */
export function npmClosure(workspace: string): string[] {
  const { packages } = JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, LockEntry>>;
  };
  const found = new Set<string>();
  const open = [workspace];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const entry = packages[at];
    if (entry === undefined || found.has(at)) continue;
    found.add(at);
    if (entry.link && entry.resolved !== undefined) open.push(entry.resolved);
    for (const name of Object.keys(entry.dependencies ?? {})) {
      const place = foldersAbove(at).find(
        (folder) => packages[path.posix.join(folder, 'node_modules', name)] !== undefined,
      );
      if (place !== undefined) open.push(path.posix.join(place, 'node_modules', name));
    }
  }
  return [...found]
    .filter(
      (folder) => folder.includes('node_modules/') && !packages[folder]?.link && existsSync(path.join(ROOT, folder)),
    )
    .sort();
}

/** Where Node searches a package that one in `folder` imports, the nearest first. */
function foldersAbove(folder: string): string[] {
  const above = [folder];
  for (let at = folder; at !== ''; ) {
    at = path.posix.dirname(at) === '.' ? '' : path.posix.dirname(at);
    if (!at.endsWith('node_modules')) above.push(at);
  }
  return above;
}
