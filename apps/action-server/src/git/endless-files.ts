import type { Stats } from 'node:fs';
import { lstat, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { SlipwayError } from '@slipway/errors';

/**
 * Would git wait for ever, or read without an end? A pipe and a device do that to whoever takes them for files;
 * `/dev/null` is what people write for "none".
 */
async function isEndless(file: string, look: (file: string) => Promise<Stats> = stat): Promise<boolean> {
  const found = await look(file).catch(() => undefined);
  if (found === undefined || !(found.isFIFO() || found.isCharacterDevice())) return false;
  return (await realpath(file).catch(() => file)) !== '/dev/null';
}

/**
 * Checks the files that git reads for every command. Those in folders further down are found by the time that git
 * takes.
 * @throws SlipwayError `request.invalid` that names the one that never ends.
 */
export async function refuseEndlessFiles(root: string, gitDirectory: string): Promise<void> {
  // Git does not follow a link that has one of these names.
  const inTree = ['.gitignore', '.gitattributes'].map((name) => ({
    name,
    endless: isEndless(path.join(root, name), lstat),
  }));
  const ofGit = ['exclude', 'attributes'].map((name) => ({
    name: `.git/info/${name}`,
    endless: isEndless(path.join(gitDirectory, 'info', name)),
  }));
  for (const { name, endless } of [...inTree, ...ofGit])
    if (await endless)
      throw new SlipwayError(
        'request.invalid',
        `git cannot read the repository: ${name} is a pipe or a device, not a file. Remove it.`,
      );
}

/** Settings that name a file, and where that is when they are not set. */
const FILES: Readonly<Record<string, string>> = { 'core.attributesfile': 'attributes', 'core.excludesfile': 'ignore' };

/**
 * Those of the settings that name a pipe or a device, to be taken as if they named nothing.
 * @param settings each with its value, the last of a name counts.
 */
export async function endlessSettings(
  settings: ReadonlyArray<readonly [string, string]>,
  { root, env }: { readonly root: string; readonly env: Readonly<Record<string, string>> },
): Promise<string[]> {
  const home = env['HOME'] ?? '/';
  const found = await Promise.all(
    Object.entries(FILES).map(async ([setting, name]) => {
      const value = settings.findLast(([key]) => key === setting)?.[1];
      const file =
        value?.replace(/^~\//, `${home}/`) ??
        path.join(env['XDG_CONFIG_HOME'] || path.join(home, '.config'), 'git', name);
      return (await isEndless(path.resolve(root, file))) ? [setting] : [];
    }),
  );
  return found.flat();
}
