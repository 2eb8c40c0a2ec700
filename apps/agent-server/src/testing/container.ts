import { type ChildProcess, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** The group that both servers of a pod have, and that its volumes belong to. */
const SHARED_GROUP = 10_000;

/** A directory as the kubelet makes a volume with `fsGroup`: its files belong to the shared group. */
export function makeVolume(directory: string): void {
  execFileSync('chown', [`0:${SHARED_GROUP}`, directory]);
  execFileSync('chmod', ['2777', directory]);
}

/**
 * Command that starts a program as a container does: a user of its own, a process table of its own in which it is the
 * first, no privileges, and a root that is read-only but for `writable`.
 */
export function inContainer(user: number, writable: readonly string[], program: readonly string[]): string[] {
  const mounts = [
    'mount --bind / /mnt',
    // Before those that may lie in it: a run of all tests has its folder in /dev/shm.
    'mount --rbind /dev /mnt/dev',
    ...writable.map((directory) => `mount --bind '${directory}' '/mnt${directory}'`),
    'mount -o remount,bind,ro /mnt',
  ];
  const rest = ['mount -t proc proc /mnt/proc', 'cd /mnt', 'pivot_root . mnt', 'umount -l /mnt', 'umask 0077'];
  const drop = `exec setpriv --reuid ${user} --regid ${SHARED_GROUP} --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all "$@"`;
  return [
    'unshare',
    '--mount',
    '--pid',
    '--fork',
    'sh',
    '-e',
    '-c',
    [...mounts, ...rest, drop].join('\n'),
    'container',
    ...program,
  ];
}

/** Why containers cannot be made here, in a sentence; `false` when they can. */
export function noContainers(): string | false {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'only root on Linux can make a container';
  try {
    const [command = '', ...argv] = inContainer(10_002, [], ['true']);
    execFileSync(command, argv, { stdio: 'pipe' });
    return false;
  } catch (error) {
    return `no container can be made here: ${String((error as Error).message)
      .split('\n')
      .at(-1)}`;
  }
}

/** The first process of the container, as it is called outside. */
export function firstProcessOf(container: ChildProcess): number {
  const [child] = readFileSync(`/proc/${container.pid}/task/${container.pid}/children`, 'utf8').split(' ');
  return Number(child);
}

/** Kills all that is in it, if it still runs. */
export function endContainer(container: ChildProcess): void {
  if (container.exitCode === null && container.signalCode === null) process.kill(firstProcessOf(container), 'SIGKILL');
}
