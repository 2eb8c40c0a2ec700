import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ImageLock } from './image-lock.ts';
import { optionFile } from './image-options.ts';
import { withFolders } from './image-parts.ts';
import { entriesOf, type LayerEntry } from './layer.ts';
import { fetchPackage } from './npm-package.ts';
import { runCommand } from './run-command.ts';

const SCRIPT = path.join(import.meta.dirname, 'sandbox/vscode.sh');
const MINUTES = 60_000;

/** A layer of it depends on this text too. */
export const VSCODE_RECIPE = readFileSync(SCRIPT, 'utf8');

/**
 * VS Code's server below opt/vscode, by sandbox/vscode.sh of a package that is what the lock names. @throws Error, with
 * the end of npm's words.
 */
export async function vscodeEntries(
  locked: { readonly name: string; readonly version: string; readonly integrity: string },
  { epoch }: Pick<ImageLock, 'epoch'>,
  cache: string,
  work: string,
  signal: AbortSignal,
): Promise<LayerEntry[]> {
  const archive = path.join(work, 'package.tgz');
  await writeFile(archive, await fetchPackage(locked, cache, signal));
  const folder = path.join(work, 'vscode');
  await runCommand('sh', [SCRIPT, optionFile('vscode', 'lock'), folder, archive], { timeout: 20 * MINUTES, signal });
  const entries = await entriesOf(folder, 'opt/vscode', { youngest: epoch, owner: 0 });
  // Whatever mask the build has.
  return withFolders(
    entries.map((entry) =>
      entry.kind === 'symlink'
        ? entry
        : { ...entry, mode: entry.kind === 'directory' || (entry.mode & 0o100) !== 0 ? 0o755 : 0o644 },
    ),
  );
}
