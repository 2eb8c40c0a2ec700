import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { clusterCache } from '../build/build.js';
import { removeCgroup } from './cgroups.js';
import { processStart } from './process-table.js';

/**
 * Who keeps a cluster alive, in `owner.json` of its folder. The start time distinguishes a process from a later one
 * with the same pid, the boot id from earlier boots.
 */
export interface ClusterRecord {
  readonly id: string;
  readonly name: string;
  readonly boot: string;
  readonly lifetime: 'process' | 'detached';
  readonly opener: { readonly pid: number; readonly start: string | null };
  /** First process of its namespaces; `null` while it is being made. */
  readonly holder: { readonly pid: number; readonly start: string | null } | null;
  readonly kubeconfig: string;
}

const runFolder = (): string => path.join(clusterCache(), 'run');
export const clusterFolder = (id: string): string => path.join(runFolder(), id);
export const cgroupOf = (id: string): string => `slipway-${id}`;

export const thisBoot = async (): Promise<string> => (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();

/** Written aside and renamed, so that no reader sees half of it. */
export async function writeRecord(record: ClusterRecord): Promise<void> {
  const folder = clusterFolder(record.id);
  await mkdir(folder, { recursive: true, mode: 0o711 });
  await writeFile(path.join(folder, '.owner.json'), JSON.stringify(record));
  await rename(path.join(folder, '.owner.json'), path.join(folder, 'owner.json'));
}

/** Every cluster that has a folder. One that is just being made, and has no record yet, is not among them. */
export async function readRecords(): Promise<ClusterRecord[]> {
  const ids = await readdir(runFolder()).catch(() => []);
  const read = async (id: string): Promise<ClusterRecord[]> => {
    try {
      return [JSON.parse(await readFile(path.join(clusterFolder(id), 'owner.json'), 'utf8')) as ClusterRecord];
    } catch {
      return [];
    }
  };
  return (await Promise.all(ids.map(read))).flat();
}

/** Whether its processes run. One that its opener was still making when it died does not. */
export async function isAlive(record: ClusterRecord): Promise<boolean> {
  if (record.boot !== (await thisBoot())) return false;
  const { pid, start } = record.holder ?? record.opener;
  return start !== null && processStart(pid) === start;
}

/** Ends a cluster by its record, whoever made it, and removes what it left on this machine. */
export async function removeCluster(record: ClusterRecord): Promise<void> {
  if (record.holder !== null && (await isAlive(record))) {
    process.kill(record.holder.pid, 'SIGKILL');
  }
  await removeCgroup(cgroupOf(record.id));
  await rm(clusterFolder(record.id), { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}

/**
 * Removes what clusters left whose processes are gone: their opener was killed, or the machine was. @returns their
 * names.
 */
export async function removeLeftovers(): Promise<string[]> {
  const gone: string[] = [];
  for (const record of await readRecords()) {
    if (await isAlive(record)) continue;
    await removeCluster(record);
    gone.push(record.name);
  }
  return gone;
}
