import { readFileSync } from 'node:fs';
import { HAS_PROC, hasEnded, processRow, type ReadRow, readRows, signalGroup, signalPid } from './process-table.js';

/** Most looks at the table of processes until all of them stand still. */
const MAX_LOOKS = 50;
/** Looks that find nothing new, while processes end that were listed and could not be read. */
const MAX_QUIET_LOOKS = 8;
/** Most times that what is left after a kill is held and killed, too. */
const MAX_ROUNDS = 5;

/** Processes that are ended together. */
interface Doomed {
  /** `known`: ids of those that were found already. */
  belongs(row: ReadRow, known: ReadonlySet<number>): boolean;
  signal(row: ReadRow, signal: 'SIGSTOP' | 'SIGKILL'): void;
}

/**
 * Kills a session's leader, everything in its session, and every descendant of those with its own session: what a shell
 * started, also in the background. All of it is held still before any is killed: what multiplies as fast as it can then
 * keeps the places that it has in the table of processes, and gets no more.
 *
 * Whole process groups are signalled: no fork of a member gets past that, while a process alone may have forked and
 * ended before it is reached.
 */
export function killSession(leader: number): void {
  const sessions = new Set([leader]);
  const own = processRow(process.pid)?.session ?? 0;
  if (leader > 1 && leader !== process.pid) signalPid(leader, 'SIGSTOP');
  killAll({
    belongs: ({ pid, session, parent }, known) => {
      if (pid !== leader && !sessions.has(session) && !known.has(parent)) return false;
      // A session is begun by one process, and all in it come from that one.
      if (session > 1 && session !== own) sessions.add(session);
      return true;
    },
    signal: ({ pid, group, session }, signal) =>
      sessions.has(session) ? signalGroup(group, signal) : signalPid(pid, signal),
  });
}

/**
 * Kills every process that was started with `NAME=value` in its environment, or a value that begins so, also one that
 * left its session. No-op where the system does not show it.
 */
export function killMarked(variable: string): void {
  if (!HAS_PROC) return;
  const others = new Set<number>();
  killAll({
    belongs: ({ pid }, known) => {
      if (known.has(pid)) return true;
      if (others.has(pid)) return false;
      const isMarked = startedWith(pid, variable);
      if (!isMarked) others.add(pid);
      return isMarked;
    },
    signal: ({ pid }, signal) => signalPid(pid, signal),
  });
}

function killAll(doomed: Doomed): void {
  const killed = new Set<number>();
  const found = new Map<number, ReadRow>();
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    holdStill(doomed, found, killed);
    if (round > 0 && killed.size === found.size) return;
    // Newest first: a group that loses its last parent outside is continued by the system.
    for (const row of [...found.values()].sort((left, right) => right.pid - left.pid)) {
      if (!killed.has(row.pid)) doomed.signal(row, 'SIGKILL');
      killed.add(row.pid);
    }
  }
}

/** Stops all of them and adds them to `found`, until a look finds nobody new and nobody who moves. */
function holdStill(doomed: Doomed, found: Map<number, ReadRow>, killed: ReadonlySet<number>): void {
  const known = new Set(found.keys());
  for (let look = 0, quiet = 0; look < MAX_LOOKS; look += 1) {
    let moves = false;
    let missed = false;
    const hold = (row: ReadRow): void => {
      // One that has ended may have left a child that was not listed.
      if (!found.has(row.pid) || !(isStill(row) || killed.has(row.pid))) {
        moves = true;
        doomed.signal(row, 'SIGSTOP');
      }
      found.set(row.pid, row);
      known.add(row.pid);
    };
    let others: ReadRow[] = [];
    for (const row of readRows()) {
      if (row === undefined) missed = true;
      else if (row.pid <= 1 || row.pid === process.pid) continue;
      else if (doomed.belongs(row, known)) hold(row);
      else others.push(row);
    }
    for (let before = -1; before !== others.length; ) {
      before = others.length;
      others = others.filter((row) => {
        const belongs = doomed.belongs(row, known);
        if (belongs) hold(row);
        return !belongs;
      });
    }
    quiet = moves ? 0 : quiet + 1;
    if (!moves && (!missed || quiet >= MAX_QUIET_LOOKS)) return;
  }
}

function isStill(row: ReadRow): boolean {
  return row.state === '' || row.state === 'T' || row.state === 't' || hasEnded(row);
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
