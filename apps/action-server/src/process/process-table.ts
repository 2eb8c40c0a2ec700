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

/** As it was read, also of one that has ended and that nobody has taken note of. */
export interface ReadRow extends ProcessRow {
  /** The letter of /proc; empty where the system does not say. */
  readonly state: string;
}

export const HAS_PROC = existsSync('/proc/self/stat');

/** The row of one process, or `undefined` when it has ended. A zombie has ended. */
export function processRow(pid: number): ProcessRow | undefined {
  if (!HAS_PROC) return allProcesses().find((row) => row.pid === pid);
  const row = readRow(pid);
  return row === undefined || hasEnded(row) ? undefined : row;
}

/** Every process that this one may see and that has not ended. */
export function allProcesses(): ProcessRow[] {
  return [...readRows()].filter((row): row is ReadRow => row !== undefined && !hasEnded(row));
}

/**
 * Every process that this one may see, read one by one, the newest first; `undefined` for one that has gone since they
 * were listed.
 */
export function* readRows(): Generator<ReadRow | undefined> {
  if (HAS_PROC) {
    const pids = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
    for (const pid of pids.sort((left, right) => right - left)) yield readRow(pid);
    return;
  }
  const lines = execFileSync('ps', ['-axo', 'pid=,ppid=,pgid=,tpgid='], { encoding: 'utf8', timeout: 2_000 })
    .trim()
    .split('\n');
  for (const line of lines) {
    const [pid = 0, parent = 0, group = 0, foreground = -1] = line.trim().split(/\s+/).map(Number);
    yield { pid, parent, group, session: 0, foreground: foreground > 0 ? foreground : -1, state: '' };
  }
}

function readRow(pid: number): ReadRow | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return undefined;
  }
}

export function hasEnded({ state }: ReadRow): boolean {
  return state === 'Z' || state === 'X';
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
    if (hasEnded(parseStat(stat))) return null;
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()} ${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`;
  } catch {
    return null;
  }
}

/** `pid (name, which may hold spaces and brackets) state ppid pgrp session tty tpgid …` */
function parseStat(stat: string): ReadRow {
  const open = stat.indexOf('(');
  const close = stat.lastIndexOf(')');
  const [state = '', parent, group, session, , foreground] = stat.slice(close + 2).split(' ');
  return {
    pid: Number(stat.slice(0, open)),
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    foreground: Number(foreground),
    state,
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
