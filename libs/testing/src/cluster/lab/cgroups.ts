import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readdir, rmdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { until } from '../../until.js';

const MOUNT = '/sys/fs/cgroup';
/** What a kubelet wants to limit. */
const CONTROLLERS = ['cpu', 'cpuset', 'memory', 'pids', 'io'];

const isUnified = (): boolean => existsSync(path.join(MOUNT, 'cgroup.controllers'));

/** The folders that hold a cgroup of this name: one, or with version 1 one a controller. */
function roots(): string[] {
  if (isUnified()) return [MOUNT];
  return readdirSync(MOUNT)
    .filter((name) => existsSync(path.join(MOUNT, name, 'cgroup.procs')))
    .map((name) => path.join(MOUNT, name));
}

/** Makes the cgroup below which a cluster's containers run. @throws Error when this machine's user may not. */
export async function makeCgroup(name: string): Promise<void> {
  for (const root of roots()) await mkdir(path.join(root, name), { recursive: true });
  if (!isUnified()) return;
  // A controller missing on this machine is refused alone.
  for (const folder of [MOUNT, path.join(MOUNT, name)])
    for (const controller of CONTROLLERS)
      await writeFile(path.join(folder, 'cgroup.subtree_control'), `+${controller}`).catch(() => {});
}

/**
 * Removes it with all below. Waits for processes that are just ending. @throws Error when something is still in there
 * after ten seconds.
 */
export async function removeCgroup(name: string): Promise<void> {
  await until(`the cgroup ${name} can be removed`, async () => {
    for (const root of roots()) await removeTree(path.join(root, name));
    return true;
  });
}

async function removeTree(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => null);
  if (entries === null) return;
  for (const entry of entries) if (entry.isDirectory()) await removeTree(path.join(folder, entry.name));
  await rmdir(folder);
}
