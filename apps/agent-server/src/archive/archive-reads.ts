import { ARCHIVE_PARTS, type ArchivePart } from '@slipway/contracts/agent';

/**
 * How long a read of every part still stands for what the sandbox holds. Milliseconds: whoever keeps a workspace ends
 * its sandbox right after that.
 */
const FRESH_MS = 10_000;

/** A save that failed after it has read everything is tried again within this. Milliseconds. */
const TAKEN_MS = 3_000;

/** When each part of the archive was last read to its end. */
export class ArchiveReads {
  private readonly at = new Map<ArchivePart, number>();

  note(part: ArchivePart, now = performance.now()): void {
    this.at.set(part, now);
  }

  /**
   * Whether every part was read to its end a moment ago: a sandbox that stops then was saved before, and needs not
   * wait.
   */
  isFresh(now = performance.now()): boolean {
    return ARCHIVE_PARTS.every((part) => now - (this.at.get(part) ?? Number.NEGATIVE_INFINITY) < FRESH_MS);
  }

  /** Whether every part was read to its end since `since`, and no read has followed for a while: it is saved then. */
  isTaken(since: number, now = performance.now()): boolean {
    const ends = ARCHIVE_PARTS.map((part) => this.at.get(part) ?? Number.NEGATIVE_INFINITY);
    return ends.every((end) => end >= since) && now - Math.max(...ends) >= TAKEN_MS;
  }
}
