import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

/** How long a process that was killed may wait to be asked after. Milliseconds. */
const REAP_MS = 2_000;
/** How long a backend may need to see that its server is gone, before it is killed. Milliseconds. */
const ORPHAN_MS = 3_000;

/**
 * Ends what an earlier start of the same data directory left behind when it could not stop by itself: services,
 * sandboxes, the database. Only processes whose own command line or environment names this directory or the recorded
 * service are touched.
 *
 * @throws Error when another start of this directory is alive: two would share one database.
 */
export async function endLeftovers(directory: string, log: (line: string) => void): Promise<void> {
  const file = path.join(directory, 'running.json');
  if (existsSync(file)) {
    const record = JSON.parse(readFileSync(file, 'utf8')) as {
      pid: number;
      url: string;
      services: Array<{ name: string; pid: number }>;
    };
    if (record.pid !== process.pid && isAlive(record.pid) && commandOf(record.pid).includes('deploy/local')) {
      throw new Error(
        `it is already running at ${record.url} (process ${record.pid}). Stop that one first, or choose other ports: SLIPWAY_PORT=4000 npm start.`,
      );
    }
    for (const { name, pid } of record.services) {
      if (pid > 0 && isAlive(pid) && commandOf(pid).includes(`apps/${name}/`)) {
        log(`ending ${name} (${pid}), left from an earlier start`);
        await end(pid, 'SIGTERM');
      }
    }
    rmSync(file, { force: true });
  }
  await endSandboxes(directory);
  const postmaster = path.join(directory, 'postgres/postmaster.pid');
  if (existsSync(postmaster)) {
    const pid = Number(readFileSync(postmaster, 'utf8').split('\n')[0]);
    if (isPostgres(pid)) {
      log(`ending the database (${pid}), left from an earlier start`);
      await end(pid, 'SIGINT');
    }
    await forgetDead(postmaster, pid);
  }
  await endOrphansOfPostgres(path.join(directory, 'postgres'));
}

/**
 * Ends what a Postgres whose first process was killed has left: its backends work on until they next check for it, and
 * while one is there no other server may open the data. Does nothing while that first process is alive, and where the
 * system has no /proc.
 */
export async function endOrphansOfPostgres(folder: string): Promise<void> {
  const postmaster = path.join(folder, 'postmaster.pid');
  if (!existsSync(postmaster) || !existsSync('/proc/self/cwd')) return;
  const pid = Number(readFileSync(postmaster, 'utf8').split('\n')[0]);
  if (isPostgres(pid)) return;
  for (let waited = 0; waited < ORPHAN_MS && workersIn(folder).length > 0; waited += 50) await wait(50);
  for (const orphan of workersIn(folder)) if (isPostgres(orphan)) kill(orphan, 'SIGKILL');
  await forgetDead(postmaster, pid);
}

/**
 * Postgres takes the number in its file for a running server as long as the system knows it: of a killed process until
 * its parent has asked after it, which not every container's first process does, and for ever where another program has
 * the number by now. Then the file goes, if nothing works in the folder any more.
 */
async function forgetDead(postmaster: string, pid: number): Promise<void> {
  for (let waited = 0; waited < REAP_MS && isKnown(pid) && !isAlive(pid); waited += 50) await wait(50);
  if (isKnown(pid) && !isPostgres(pid) && workersIn(path.dirname(postmaster)).length === 0)
    rmSync(postmaster, { force: true });
}

/** Processes whose working directory is the folder. */
function workersIn(folder: string): number[] {
  const real = realpathSync(folder);
  return readdirSync('/proc').flatMap((entry) => {
    try {
      return /^\d+$/.test(entry) && readlinkSync(`/proc/${entry}/cwd`) === real && isAlive(Number(entry))
        ? [Number(entry)]
        : [];
    } catch {
      return [];
    }
  });
}

/**
 * Ends every sandbox of this data directory. Its workspace and its log stay; the next start gives both to a new one.
 */
export async function endSandboxes(directory: string): Promise<void> {
  await Promise.all(sandboxProcesses(path.join(directory, 'sandboxes')).map((pid) => end(pid, 'SIGTERM')));
}

/**
 * Processes whose environment or command line names the sandboxes' folder. Linux only; elsewhere runtime-api finds its
 * own at the next start.
 */
function sandboxProcesses(folder: string): number[] {
  if (!existsSync('/proc/self/environ')) return [];
  const found: number[] = [];
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry) || Number(entry) === process.pid) continue;
    try {
      if (readFileSync(`/proc/${entry}/environ`, 'latin1').includes(`_DIR=${folder}/`)) found.push(Number(entry));
    } catch {
      // It ended in between, or belongs to another user.
    }
  }
  return found;
}

async function end(pid: number, signal: NodeJS.Signals): Promise<void> {
  kill(pid, signal);
  for (let waited = 0; waited < 5_000 && isAlive(pid); waited += 50) await wait(50);
  if (isAlive(pid)) kill(pid, 'SIGKILL');
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Already gone.
  }
}

/** Runs it? A process that has ended and was not waited for does not. */
function isAlive(pid: number): boolean {
  if (!isKnown(pid)) return false;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat[stat.lastIndexOf(')') + 2] !== 'Z';
  } catch {
    return !existsSync('/proc/self/stat');
  }
}

function isKnown(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/**
 * The server's first process or one of its backends, which call themselves `postgres: …`; never another program that
 * has the word among its arguments.
 */
function isPostgres(pid: number): boolean {
  const [program = ''] = argumentsOf(pid);
  return isAlive(pid) && (program.startsWith('postgres:') || path.basename(program) === 'postgres');
}

function commandOf(pid: number): string {
  return argumentsOf(pid).join(' ');
}

/** Empty: it is gone, or the system has no /proc. */
function argumentsOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}
