import { readFileSync } from 'node:fs';

/**
 * When a process started, in ticks since the machine did: with it a pid is never mistaken for a later one. `null` when
 * it has ended (a zombie has).
 */
export function processStart(pid: number): string | null {
  const fields = statOf(pid);
  return fields === null || fields[0] === 'Z' || fields[0] === 'X' ? null : (fields[19] ?? null);
}

/** CPU seconds that a process has used and the bytes of memory it holds; `null` when it has ended. */
export function processUsage(pid: number): { readonly cpuSeconds: number; readonly rssBytes: number } | null {
  const fields = statOf(pid);
  if (fields === null || fields[0] === 'Z') return null;
  const ticks = Number(fields[11]) + Number(fields[12]);
  return { cpuSeconds: ticks / TICKS_A_SECOND, rssBytes: Number(fields[21]) * PAGE_BYTES };
}

/** Linux reports times of processes in hundredths of a second, whatever the kernel ticks at. */
const TICKS_A_SECOND = 100;
const PAGE_BYTES = 4096;

/** The only child of a process, as the host numbers it; `null` before there is one. */
export function childOf(pid: number): number | null {
  try {
    const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim().split(' ');
    return child === undefined || child === '' ? null : Number(child);
  } catch {
    return null;
  }
}

/** The fields after the program's name, which may hold spaces: [0] is the state. */
function statOf(pid: number): string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}
