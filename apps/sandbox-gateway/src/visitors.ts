import { setTimeout as wait } from 'node:timers/promises';

/** Parts of a drain: before the first socket is sent elsewhere, and from the first one to the last. */
const QUIET_PART = 0.5;
const NOTICE_PART = 0.25;

/** What is open in this process at this moment, so that it can be sent elsewhere before the process ends. */
export class Visitors {
  private readonly sockets = new Set<() => void>();
  private readonly requests = new Set<() => void>();
  #leaving = false;

  /** True: new sockets belong to another replica. Requests are answered as long as they come. */
  get leaving(): boolean {
    return this.#leaving;
  }

  /** @param leave asks the client to reconnect, and closes. @returns to be called when the socket is over. */
  socket(leave: () => void): () => void {
    this.sockets.add(leave);
    // Was being admitted while the others were disconnected.
    if (this.#leaving) leave();
    return () => void this.sockets.delete(leave);
  }

  /** @param breakOff ends the answer, or says why there is none. @returns to be called when the request is over. */
  request(breakOff: () => void): () => void {
    this.requests.add(breakOff);
    return () => void this.requests.delete(breakOff);
  }

  /**
   * Sends the sockets elsewhere: for the first half of the time nothing changes, since a load balancer may still send
   * reconnecting clients to this replica; then each is notified and closed, spread over a quarter of it, and no new one
   * is taken. Milliseconds; 0: all at once. @returns how many there were.
   */
  async drain(overMs: number): Promise<number> {
    await wait(overMs * QUIET_PART);
    this.#leaving = true;
    const leaving = [...this.sockets];
    const began = performance.now();
    for (const [index, leave] of leaving.entries()) {
      const due = began + (overMs * NOTICE_PART * index) / leaving.length;
      if (due > performance.now()) await wait(due - performance.now());
      if (this.sockets.has(leave)) leave();
    }
    return leaving.length;
  }

  /** Ends the requests that are under way. */
  breakOff(): void {
    for (const end of [...this.requests]) end();
  }
}
