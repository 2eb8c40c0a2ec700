import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import path from 'node:path';

export interface ContainerPlan {
  /** The unpacked image. Seen read-only. */
  readonly root: string;
  readonly uid: number;
  /** [10000, the sandbox's] */
  readonly gid?: number;
  /** Folders of this machine over folders of the image, as a pod's volumes. */
  readonly volumes: Readonly<Record<string, string>>;
  /** The whole environment, but for the image's own. */
  readonly env: Readonly<Record<string, string>>;
  readonly command: readonly string[];
}

export interface RunningContainer {
  /** Everything that it printed so far. */
  output(): string;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
  /** Ends it and all that it started. */
  stop(): Promise<void>;
}

/**
 * What the kubelet and runc do for a pod of ours: own mounts and processes, the root read-only, no capability, one
 * user, one group. Nothing of the image is needed for it.
 */
const ENTER = `set -e
root=$1 owner=$2 mounts=$3 path=$4; shift 4
mount --bind "$root" "$root"; mount -o remount,bind,ro,nosuid "$root"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=0755 dev "$root/dev"
for name in null zero full random urandom tty; do touch "$root/dev/$name"; mount --bind "/dev/$name" "$root/dev/$name"; done
mkdir "$root/dev/pts"; mount -t devpts -o newinstance,ptmxmode=0666,mode=0620 devpts "$root/dev/pts"; ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"; for n in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/\${n%%:*}" "$root/dev/\${n#*:}"; done
mkdir "$root/dev/shm"; mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
for pair in $mounts; do mount --bind "\${pair%%:*}" "$root/\${pair#*:}"; done
# Not by exec: a change of user takes from a process that it ends with its parent, and this one keeps it. The end of the first process is the end of all.
setpriv=$(command -v setpriv) chroot=$(command -v chroot)
PATH=$path "$setpriv" --no-new-privs --bounding-set=-all,+sys_chroot,+setuid,+setgid --inh-caps=-all "$chroot" --userspec="$owner" --groups= "$root" "$@" || exit $?
exit 0`;

export function startContainer({ root, uid, gid = 10_000, volumes, env, command }: ContainerPlan): RunningContainer {
  for (const folder of Object.keys(volumes)) mkdirSync(folder, { recursive: true });
  const mounts = Object.entries(volumes).map(([folder, over]) => `${path.resolve(folder)}:${over}`);
  const child: ChildProcess = spawn(
    'unshare',
    [
      '--mount',
      '--pid',
      '--fork',
      '--ipc',
      '--uts',
      '--kill-child',
      '--propagation',
      'private',
      'sh',
      '-c',
      ENTER,
      'sh',
      root,
      `${uid}:${gid}`,
      mounts.join(' '),
      env['PATH'] ?? '',
      ...command,
    ],
    // The image's own PATH leads to nothing of this machine.
    { env: { ...env, PATH: process.env['PATH'] ?? '' }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let output = '';
  for (const stream of [child.stdout!, child.stderr!])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-100_000);
    });
  const ended = once(child, 'close').then(([code, signal]) => (code as number | null) ?? String(signal));
  return {
    output: () => output,
    ended,
    stop: async () => {
      // unshare itself ignores SIGTERM; its end takes the first process of the container along, and the kernel the
      // others.
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Runs one command to its end. @throws Error with its output when it fails or takes longer than 60 s. */
export async function runInContainer(plan: ContainerPlan): Promise<string> {
  const container = startContainer(plan);
  const limit = setTimeout(() => void container.stop(), 60_000);
  const code = await container.ended;
  clearTimeout(limit);
  if (code !== 0) throw new Error(`${plan.command.join(' ')} ended with ${code}:\n${container.output()}`);
  return container.output().trim();
}
