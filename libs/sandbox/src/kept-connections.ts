import { SandboxConnection } from './sandbox-connection.js';

/** Connections to one sandbox that stay open between requests. */
const OF_ONE_SANDBOX = 4;

/**
 * Keeps connections to sandboxes open between requests, at most so many in all: those that were used last. A pool may
 * have ten thousand sandboxes; a claim of one whose connection was given up makes a new one, which takes a fraction of
 * a millisecond.
 */
export class KeptConnections {
  /** Those that wait for a request, the one that has waited longest first. */
  private readonly waiting = new Set<SandboxConnection>();
  private readonly byOrigin = new Map<string, SandboxConnection[]>();

  constructor(private readonly most: number) {}

  /** One that waits, or a new one. */
  take(origin: string): SandboxConnection {
    const kept = this.byOrigin.get(origin)?.at(-1);
    if (kept === undefined) return this.open(origin);
    this.forget(kept);
    return kept;
  }

  /** A new one, whatever waits. */
  open(origin: string): SandboxConnection {
    return new SandboxConnection(origin, (gone) => this.forget(gone));
  }

  /** Its request is over, and it may have another one. */
  keep(connection: SandboxConnection): void {
    const ofOrigin = this.byOrigin.get(connection.origin) ?? [];
    if (ofOrigin.length >= OF_ONE_SANDBOX) {
      connection.close();
      return;
    }
    this.byOrigin.set(connection.origin, [...ofOrigin, connection]);
    this.waiting.add(connection);
    connection.rest();
    const [longest] = this.waiting;
    if (this.waiting.size <= this.most || longest === undefined) return;
    this.forget(longest);
    longest.close();
  }

  close(): void {
    for (const connection of [...this.waiting]) {
      this.forget(connection);
      connection.close();
    }
  }

  private forget(connection: SandboxConnection): void {
    if (!this.waiting.delete(connection)) return;
    const others = this.byOrigin.get(connection.origin)?.filter((each) => each !== connection) ?? [];
    if (others.length === 0) this.byOrigin.delete(connection.origin);
    else this.byOrigin.set(connection.origin, others);
  }
}
