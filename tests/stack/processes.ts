import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Those of the processes that run. */
export const stillAlive = (pids: readonly number[]): number[] =>
  living()
    .map(({ pid }) => pid)
    .filter((pid) => pids.includes(pid));

/** Ends all that `processesOf` finds, whoever would start the others again first. */
export function killAll(dataDirectory: string, supervisor?: ChildProcess): void {
  const all = processesOf(dataDirectory);
  // Whoever would start the others again goes first.
  supervisor?.kill('SIGKILL');
  for (const pid of all) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended with another.
    }
  }
}

/**
 * Services of the record, processes that name the data directory in their command line or environment, and the children
 * of all: sandboxes with what they started, Postgres.
 */
export function processesOf(dataDirectory: string): number[] {
  const record = readOrEmpty(path.join(dataDirectory, 'running.json'));
  const services =
    record === '' ? [] : (JSON.parse(record) as { services: { pid: number }[] }).services.map(({ pid }) => pid);
  const all = living();
  const own = all
    .filter(({ pid, text }) => pid !== process.pid && (services.includes(pid) || text().includes(dataDirectory)))
    .map(({ pid }) => pid);
  return all.filter(({ pid, parent }) => own.includes(pid) || own.includes(parent)).map(({ pid }) => pid);
}

function living(): { pid: number; parent: number; text: () => string }[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap((entry) => {
      try {
        const stat = readFileSync(`/proc/${entry}/stat`, 'latin1');
        const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        const text = (): string =>
          ['cmdline', 'environ'].map((file) => readOrEmpty(`/proc/${entry}/${file}`)).join('\n');
        return state === 'Z' ? [] : [{ pid: Number(entry), parent: Number(parent), text }];
      } catch {
        return [];
      }
    });
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
