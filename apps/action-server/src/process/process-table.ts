import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** One row of the kernel's table of processes. */
export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** 0 where the system does not say. */
  readonly session: number;
  /** Foreground group of its terminal; -1 without one. */
  readonly foreground: number;
}

const HAS_PROC = existsSync('/proc/self/stat');

/** The row of one process, or `undefined` when it has ended. A zombie has ended. */
export function processRow(pid: number): ProcessRow | undefined {
  if (!HAS_PROC) return allProcesses().find((row) => row.pid === pid);
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return undefined;
  }
}

/** Every process that this one may see and that has not ended. */
export function allProcesses(): ProcessRow[] {
  if (HAS_PROC)
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => processRow(Number(name)) ?? []);
  const lines = execFileSync('ps', ['-axo', 'pid=,ppid=,pgid=,tpgid='], { encoding: 'utf8', timeout: 2_000 })
    .trim()
    .split('\n');
  return lines.map((line) => {
    const [pid = 0, parent = 0, group = 0, foreground = -1] = line.trim().split(/\s+/).map(Number);
    return { pid, parent, group, session: 0, foreground: foreground > 0 ? foreground : -1 };
  });
}

/**
 * When a process began, so that its number given to another one is not taken for it: the machine's start and the moment
 * since then, or what `ps` says. `null` when it has ended.
 */
export function processStart(pid: number): string | null {
  try {
    if (!HAS_PROC)
      return (
        execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', timeout: 2_000 }).trim() || null
      );
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    if (parseStat(stat) === undefined) return null;
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()} ${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`;
  } catch {
    return null;
  }
}

/** `pid (name, which may hold spaces and brackets) state ppid pgrp session tty tpgid …` */
function parseStat(stat: string): ProcessRow | undefined {
  const open = stat.indexOf('(');
  const close = stat.lastIndexOf(')');
  const [state, parent, group, session, , foreground] = stat.slice(close + 2).split(' ');
  if (state === 'Z' || state === 'X') return undefined;
  return {
    pid: Number(stat.slice(0, open)),
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    foreground: Number(foreground),
  };
}

/** Sends to a whole process group; nothing happens when it has ended. */
export function signalGroup(group: number, signal: NodeJS.Signals): void {
  // 0 and 1 would mean this process' own group, or all processes.
  if (group > 1) signalPid(-group, signal);
}

/** Whether any process is in the group, as far as this user may know. */
export function groupExists(group: number): boolean {
  try {
    return process.kill(-group, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

export function signalPid(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH' && (error as NodeJS.ErrnoException).code !== 'EPERM')
      throw error;
  }
}

/** Most scans of the process table for what a session has started meanwhile. */
const MAX_LOOKS = 50;

/**
 * Kills a session's leader, everything in its session, and every descendant of those: what a shell started, also in the
 * background. All of it is held still before any is killed: what multiplies as fast as it can then keeps the places
 * that it has in the table of processes, and gets no more.
 */
export function killSession(leader: number): void {
  const doomed = new Set<number>();
  const hold = (pid: number): void => {
    doomed.add(pid);
    if (pid > 1 && pid !== process.pid) signalPid(pid, 'SIGSTOP');
  };
  hold(leader);
  for (let look = 0, held = 0; look < MAX_LOOKS && held !== doomed.size; look++) {
    held = doomed.size;
    const rows = allProcesses();
    for (let before = 0; before !== doomed.size; ) {
      before = doomed.size;
      for (const { pid, session, parent } of rows)
        if (!doomed.has(pid) && (session === leader || doomed.has(parent))) hold(pid);
    }
  }
  for (const pid of doomed) if (pid > 1 && pid !== process.pid) signalPid(pid, 'SIGKILL');
}

/**
 * Kills every process that was started with `NAME=value` in its environment, or a value that begins so, also one that
 * left its session. No-op where the system does not show it.
 */
export function killMarked(variable: string): void {
  if (!HAS_PROC) return;
  // What forks between two scans is found by the next one.
  for (let looks = 0, found = true; found && looks < 5; looks += 1) {
    found = false;
    for (const { pid } of allProcesses()) {
      if (pid <= 1 || pid === process.pid || !startedWith(pid, variable)) continue;
      found = true;
      signalPid(pid, 'SIGKILL');
    }
  }
}

function startedWith(pid: number, variable: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1')
      .split('\0')
      .some((entry) => entry.startsWith(variable));
  } catch {
    // It has ended, or is another user's.
    return false;
  }
}
