import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';

/** Identity of a process, distinct from a later one with the same pid. */
export interface ProcessIdentity {
  readonly pid: number;
  /** The system's own mark of when it began; opaque. */
  readonly startTime: string;
}

/** Start time of a running process; `null` when there is none, or only an unreaped zombie. */
export async function startTimeOf(pid: number): Promise<string | null> {
  if (process.platform === 'linux') {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
    // The name in parentheses may hold spaces; the fields after it do not. The 3rd field is the state, the 22nd the
    // start.
    const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields === undefined || fields[0] === 'Z' || fields[0] === 'X' ? null : (fields[19] ?? null);
  }
  const ps = await promisify(execFile)('ps', ['-o', 'stat=,lstart=', '-p', String(pid)]).catch(() => null);
  const line = ps?.stdout.trim() ?? '';
  return line === '' || line.startsWith('Z') ? null : line.slice(line.indexOf(' ')).trim();
}

export async function isAlive(identity: ProcessIdentity): Promise<boolean> {
  return (await startTimeOf(identity.pid)) === identity.startTime;
}

/** How a process of one sandbox is known by the environment that it was started with. */
export interface SandboxMark {
  readonly slotId: string;
  /**
   * `NAME=value` pairs that only this sandbox has; find what was started without `SLOT_ID`. A program that clears its
   * environment and leaves its group is not found.
   */
  readonly variables: readonly string[];
}

/** Rounds of looking for processes that were started while others were killed. */
const KILL_ROUNDS = 200;

/**
 * Ends everything that was started in a sandbox: first politely, then for certain, and answers when none of it runs.
 *
 * @param mark by this, daemons that left their process group are found too (Linux).
 * @param graceMs how long `leaders` may take to end by themselves after SIGTERM; 0 kills at once.
 * @throws Error when something still runs after ten seconds of SIGKILL, which is a process stuck in the kernel.
 */
export async function killAll(leaders: readonly ProcessIdentity[], mark: SandboxMark, graceMs: number): Promise<void> {
  const alive = async (): Promise<ProcessIdentity[]> => {
    const flags = await Promise.all(leaders.map(isAlive));
    return leaders.filter((_, index) => flags[index]);
  };
  if (graceMs > 0) {
    for (const leader of await alive()) signal(leader.pid, 'SIGTERM');
    const end = performance.now() + graceMs;
    while (performance.now() < end && (await alive()).length > 0) await wait(20);
  }
  // A process is not seen in the moment between its fork, or its exec, and its new environment: nothing must be found
  // twice.
  let empty = 0;
  for (let round = 0; round < KILL_ROUNDS; round += 1) {
    const running = await alive();
    const marked = await processesOf(mark);
    empty = running.length === 0 && marked.length === 0 ? empty + 1 : 0;
    if (empty === 2) return;
    for (const { pid } of running) {
      signal(-pid, 'SIGKILL');
      signal(pid, 'SIGKILL');
    }
    for (const pid of marked) signal(pid, 'SIGKILL');
    await wait(round < 5 ? 5 : 50);
  }
  throw new Error('processes of the sandbox did not end');
}

/** Pids of a sandbox, other than this process. */
async function processesOf(mark: SandboxMark): Promise<number[]> {
  if (process.platform !== 'linux') return [];
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry)).map(Number);
  const found = await Promise.all(
    pids.map(async (pid) => {
      if (pid === process.pid) return null;
      // Empty for a zombie, refused for another user's.
      const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
      const variables = environment.split('\0');
      const slot = variables.find((variable) => variable.startsWith('SLOT_ID='));
      const mine =
        slot === undefined
          ? mark.variables.some((variable) => variables.includes(variable))
          : slot === `SLOT_ID=${mark.slotId}`;
      return mine ? pid : null;
    }),
  );
  return found.filter((pid): pid is number => pid !== null);
}

function signal(pid: number, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, name);
  } catch {
    // Ended meanwhile.
  }
}
