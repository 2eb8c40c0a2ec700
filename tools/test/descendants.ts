import { readdirSync, readFileSync } from 'node:fs';

/** Poll interval of the process table. Milliseconds: what is started and orphaned between two polls is missed. */
const LOOK_EVERY_MS = 250;

interface Row {
  readonly pid: number;
  readonly parent: number;
  /** In ticks since the machine's start: with it a pid is never mistaken for a later one. */
  readonly started: string;
}

/** Remembers every process that comes from this one, also when its parent has died; on Linux, elsewhere nothing. */
export class Descendants {
  /** By pid. */
  #known = new Map<number, Row>();
  #timer = setInterval(() => this.#look(), LOOK_EVERY_MS).unref();

  /** Ends those that still run, and says how many they were. */
  end(): number {
    clearInterval(this.#timer);
    this.#look();
    const left = [...this.#known.values()];
    for (const { pid } of left) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
    }
    return left.length;
  }

  #look(): void {
    const now = new Map(processes().map((row) => [row.pid, row]));
    for (const [pid, row] of this.#known) if (now.get(pid)?.started !== row.started) this.#known.delete(pid);
    for (let before = -1; before !== this.#known.size; ) {
      before = this.#known.size;
      for (const row of now.values())
        if (row.parent === process.pid || this.#known.has(row.parent)) this.#known.set(row.pid, row);
    }
  }
}

function processes(): Row[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => row(Number(name)) ?? []);
  } catch {
    return [];
  }
}

/** A zombie has ended. */
function row(pid: number): Row | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state = '', parent = ''] = fields;
    return state === 'Z' ? undefined : { pid, parent: Number(parent), started: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}
