import { readFile } from 'node:fs/promises';

/** Kernel ticks a second; 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

/**
 * CPU that a process and its dead children have used. Milliseconds, to 10 ms. @throws Error when there is no such
 * process, or no /proc.
 */
export async function cpuMs(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The name in brackets may hold spaces; fields are counted from its end.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
}

/** Memory that a process holds now, shared pages included. MiB. */
export async function rssMiB(pid: number): Promise<number> {
  return statusKiB(pid, 'VmRSS');
}

/** The most that it ever held. MiB. */
export async function peakRssMiB(pid: number): Promise<number> {
  return statusKiB(pid, 'VmHWM');
}

async function statusKiB(pid: number, field: string): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const match = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status);
  if (match?.[1] === undefined) throw new Error(`no ${field} of process ${pid}`);
  return Number(match[1]) / 1024;
}
