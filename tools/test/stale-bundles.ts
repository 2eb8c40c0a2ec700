import { globSync, statSync } from 'node:fs';
import path from 'node:path';

const changedAt = (file: string): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/**
 * Folders of the apps, relative to `root`, whose `bundle/main.js` is older than what `tsc -b` made of the app or of a
 * library: `npm run build` makes both, `tsc -b` alone does not (docs/decisions/0062).
 */
export function staleBundles(root: string): string[] {
  const newest = (...folders: readonly string[]): number =>
    globSync(
      folders.map((folder) => `${folder}/dist/**/*.js`),
      { cwd: root },
    ).reduce((latest, file) => Math.max(latest, changedAt(path.join(root, file))), 0);
  const libraries = newest('libs/*');
  return globSync('apps/*/bundle/main.js', { cwd: root })
    .map((file) => path.dirname(path.dirname(file)))
    .filter((app) => changedAt(path.join(root, app, 'bundle/main.js')) < Math.max(libraries, newest(app)))
    .sort();
}
