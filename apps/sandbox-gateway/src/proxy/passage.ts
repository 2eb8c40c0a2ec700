import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { errors } from 'undici';

/**
 * From this length on the remainder of an answer bypasses the parser. Bytes: what that saves is more than the
 * connection that it costs.
 */
export const PASSAGE_FROM = 1024 * 1024;
/**
 * One read. Bytes: large enough that what is done for each costs nothing beside the copy, small enough to stay in a
 * processor's cache until it is written.
 */
const PIECE = 512 * 1024;
/** What may wait for one client before the sandbox is no longer read, and until how much it is then not. Bytes. */
const HIGH_WATER = 2 * PIECE;
const LOW_WATER = PIECE;
/**
 * Pieces of memory that are kept for the next read: new memory costs the kernel as much as the copy itself. 8 MiB in
 * all.
 */
const MAX_SPARE = 16;

const spare: Buffer[] = [];

/**
 * The remainder of one answer of known length: bytes go from the sandbox's connection to the client as they come, read
 * into memory that is used again, no faster than the client takes them. The connection has no parser any more, so that
 * it ends with the answer.
 */
export class Passage {
  private waiting = 0;
  private stopped = false;
  private over = false;

  /**
   * @param left bytes of the body that are still to come.
   * @param silenceMs longest silence of a sandbox whose client waits.
   * @param done reports that the last byte is with the client's connection.
   */
  constructor(
    private readonly socket: Socket,
    private readonly response: ServerResponse,
    private left: number,
    silenceMs: number,
    private readonly done: () => void,
  ) {
    // A client that does not read is the other timer's affair, that of its own connection.
    socket.setTimeout(silenceMs, () => this.waiting === 0 && socket.destroy(new errors.BodyTimeoutError()));
    socket.once('close', () => {
      this.over = true;
    });
  }

  /** Memory for the next read. */
  static piece(): Buffer {
    return spare.pop() ?? Buffer.allocUnsafeSlow(PIECE);
  }

  /** What came with the head, and then every read as it comes. */
  begin(): void {
    for (
      let early = this.socket.read() as Buffer | null;
      early !== null && !this.over;
      early = this.socket.read() as Buffer | null
    )
      this.take(early, early.length);
    this.socket.resume();
  }

  /** @returns false: read no more until it is resumed. */
  take(memory: Buffer, length: number): boolean {
    if (this.over || this.response.destroyed) return false;
    // Content beyond the announced length is cut: the client has that length.
    const bytes = Math.min(length, this.left);
    this.left -= bytes;
    this.waiting += bytes;
    // Past the response's own bookkeeping, which costs a queue and a turn for each piece; its head is on the way
    // already.
    (this.response.socket ?? this.response).write(
      bytes === memory.length ? memory : memory.subarray(0, bytes),
      (error) => this.written(memory, bytes, error),
    );
    if (this.left === 0) this.end();
    this.stopped = this.waiting >= HIGH_WATER;
    return !this.stopped;
  }

  private written(memory: Buffer, bytes: number, error: Error | null | undefined): void {
    this.waiting -= bytes;
    // After an error it may still be in use.
    if (memory.length === PIECE && error == null && spare.length < MAX_SPARE) spare.push(memory);
    if (!this.stopped || this.over || this.waiting > LOW_WATER) return;
    this.stopped = false;
    this.socket.resume();
  }

  private end(): void {
    this.over = true;
    this.done();
    this.socket.destroy();
  }
}
